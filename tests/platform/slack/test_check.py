from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from localslack.loopback import Loopback, Request, Response
from pydantic import SecretStr

from bot.platform.slack.check import NO_ANSWER, BotAccess, check_app_token, check_channels, check_slack
from bot.platform.slack.check import SCOPES as NEEDED
from bot.settings import Settings
from tests.doctor.findings import format_findings, outcome
from tests.emulators.slack.server import SCOPES, SlackEmulator
from tests.helpers.checks import closed_port

GOOD, APP_TOKEN = "xoxb-test", "xapp-test"


def probe_slack(url: str, token: str = GOOD) -> tuple[list[str], tuple[BotAccess | str, timedelta | None]]:
    settings = Settings(slack_api_url=url, slack_bot_token=SecretStr(token))
    return outcome(check_slack(settings, lambda: datetime.now(UTC), seconds=1))


def probe_app(url: str, slack: BotAccess | str, token: str = APP_TOKEN) -> list[str]:
    settings = Settings(slack_api_url=url, slack_app_token=SecretStr(token))
    return format_findings(check_app_token(settings, slack, seconds=2))


def test_the_token_its_workspace_and_its_scopes_are_told(slack: SlackEmulator) -> None:
    lines, (probe, ahead) = probe_slack(slack.url)
    assert lines == ["+ Slack token: accepted, the workspace is Emulated", "+ Slack scopes: complete"]
    assert not isinstance(probe, str)
    assert ahead is not None
    assert abs(ahead) < timedelta(seconds=3)


@pytest.mark.parametrize("scope", NEEDED)
def test_a_scope_that_is_missing_is_named_with_what_it_stops(scope: str) -> None:
    with SlackEmulator(scopes=SCOPES - {scope}) as slack:
        lines, _ = probe_slack(slack.url)
    advice = (
        f"Add {scope} to the app, or update its manifest from `prdigest manifest`, then install the app again."
    )
    assert lines[1:] == [f"! Slack scope {scope}: missing: {NEEDED[scope]} -> {advice}"]


REFUSED = {
    "xoxb-wrong": "Slack rejected the token: set SLACK_BOT_TOKEN to the bot's token (xoxb-…).",
    "xapp-test": "That is the wrong kind of token: set SLACK_BOT_TOKEN to the bot's token (xoxb-…).",
}


@pytest.mark.parametrize(("token", "advice"), REFUSED.items())
def test_a_token_that_is_refused_is_the_one_failure(slack: SlackEmulator, token: str, advice: str) -> None:
    lines, (probe, ahead) = probe_slack(slack.url, token)
    unchecked = "- Slack scopes: not checked: see Slack token above"
    assert lines == [f"! Slack token: refused -> {advice}", unchecked]
    assert (probe, ahead) == ("see Slack token above", None)


def test_a_slack_that_is_not_there_is_asked_once() -> None:
    url = f"http://127.0.0.1:{closed_port()}"
    lines, (probe, _) = probe_slack(url)
    advice = "Slack can't be reached: check SLACK_API_URL and the network."
    assert lines == [f"! Slack token: no answer -> {advice}", f"- Slack scopes: not checked: {NO_ANSWER}"]
    assert probe_app(url, probe) == [f"- Slack app token: not checked: {NO_ANSWER}"]


@pytest.mark.slow
def test_a_slack_that_hangs_is_left_soon(slack: SlackEmulator) -> None:
    slack.latency = 1.5
    lines, _ = probe_slack(slack.url)
    assert lines[0].startswith("! Slack token: no answer")


class _Terse(Loopback):
    """A Slack whose answers say nothing of scopes, as behind a proxy that drops headers."""

    def handle(self, request: Request) -> Response:
        return Response.of_json({"ok": True, "team": "Emulated"})


def test_a_slack_that_does_not_tell_the_scopes_is_believed() -> None:
    with _Terse() as world:
        lines, _ = probe_slack(world.url)
    assert lines[1:] == ["- Slack scopes: not checked: Slack does not send them"]


# --- the app's own token


def test_the_apps_token_opens_a_connection(slack: SlackEmulator) -> None:
    assert probe_app(slack.url, "see Slack token above") == ["+ Slack app token: accepted, for Socket Mode"]


def test_the_apps_token_is_tried_where_the_bots_is_refused(slack: SlackEmulator) -> None:
    lines = probe_app(slack.url, "see Slack token above", "xapp-wrong")
    advice = "Slack rejected the token: set SLACK_APP_TOKEN to the app's token (xapp-…)."
    assert lines == [f"! Slack app token: refused -> {advice}"]


# --- channels


def channels(slack: SlackEmulator, *names: str) -> list[str]:
    _, (access, _) = probe_slack(slack.url)
    return format_findings(check_channels(access, dict.fromkeys(names, "PRDIGEST_CHANNEL")))


def test_a_channel_with_the_bot_in_it_is_fine(slack: SlackEmulator) -> None:
    slack.add_channel("G0CLOSED", "closed", private=True)
    slack.add_message("D0HUMAN", "hello")
    assert channels(slack, "C0DIGEST", "G0CLOSED", "D0HUMAN") == [
        "+ Channel C0DIGEST (PRDIGEST_CHANNEL): #digest, the bot can post there",
        "+ Channel G0CLOSED (PRDIGEST_CHANNEL): #closed, the bot can post there",
        "+ Channel D0HUMAN (PRDIGEST_CHANNEL): direct messages, the bot can post there",
    ]


CLOSED = {
    "not a member": (
        {"member": False},
        "the bot is not in it -> The bot is not in channel C0ELSE: invite it there with /invite @prdigest.",
    ),
    "archived": ({"archived": True}, "archived -> Channel C0ELSE is archived: choose another one."),
    "private without the bot": (
        {"private": True, "member": False},
        "not found -> Slack has no channel C0ELSE, or it is private and the bot is not in it: check its id.",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("how", "explanation"), CLOSED.values(), ids=CLOSED)
def test_a_channel_that_is_closed_to_the_bot_does_not_hide_the_next(
    slack: SlackEmulator, how: dict[str, Any], explanation: str
) -> None:
    slack.add_channel("C0ELSE", "else", **how)
    lines = channels(slack, "C0ELSE", "C0DIGEST")
    assert lines[0] == f"! Channel C0ELSE (PRDIGEST_CHANNEL): {explanation}"
    assert lines[1].startswith("+ Channel C0DIGEST")


@pytest.mark.parametrize("name", ["C0NOWHERE", "D0NOBODY", "general"])
def test_a_channel_that_does_not_exist_is_not_found(slack: SlackEmulator, name: str) -> None:
    advice = f"Slack has no channel {name}, or it is private and the bot is not in it: check its id."
    assert channels(slack, name) == [f"! Channel {name} (PRDIGEST_CHANNEL): not found -> {advice}"]


def test_a_scope_that_is_missing_is_no_second_failure() -> None:
    with SlackEmulator(scopes=SCOPES - {"channels:read"}) as slack:
        lines = channels(slack, "C0DIGEST")
    assert lines == ["- Channel C0DIGEST (PRDIGEST_CHANNEL): not checked: the bot lacks a scope (see above)"]


def test_every_kind_of_channel_is_looked_at_with_the_scopes_that_the_bot_has() -> None:
    with SlackEmulator(scopes=frozenset(NEEDED)) as slack:
        slack.add_channel("C0CLOSED", "closed", private=True)
        slack.add_message("D0HUMAN", "hello")
        assert [line[0] for line in channels(slack, "C0DIGEST", "C0CLOSED", "D0HUMAN")] == ["+"] * 3


def test_a_pause_that_slack_asks_for_is_no_failure(slack: SlackEmulator) -> None:
    slack.add_channel("C0ELSE", "else")
    slack.fail_next("conversations.info", retry_after=30)
    assert channels(slack, "C0DIGEST", "C0ELSE") == [
        "- Channel C0DIGEST (PRDIGEST_CHANNEL): not checked: Slack limits the rate",
        "- Channel C0ELSE (PRDIGEST_CHANNEL): not checked: Slack limits the rate",
    ]


def test_a_slack_that_falls_silent_is_asked_no_more(slack: SlackEmulator) -> None:
    slack.fail_next("conversations.info", status=503)
    first, second = channels(slack, "C0DIGEST", "C0ELSE")
    assert first.startswith("! Channel C0DIGEST (PRDIGEST_CHANNEL): no answer")
    assert second == f"- Channel C0ELSE (PRDIGEST_CHANNEL): not checked: {NO_ANSWER}"


def test_without_slack_no_channel_is_a_failure() -> None:
    lines = format_findings(check_channels("see Slack token above", {"C0DIGEST": "PRDIGEST_CHANNEL"}))
    assert lines == ["- Channel C0DIGEST (PRDIGEST_CHANNEL): not checked: see Slack token above"]
