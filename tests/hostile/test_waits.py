"""Pauses that services ask for: read, kept short, and never an error."""

import time
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest
from github import Auth
from localslack.loopback import Loopback, Request, Response

from bot.errors import ModelBusy, PrdigestError, RateLimited, SlackUnavailable
from bot.platform import deadlines
from bot.platform.github.client import GitHubClient
from bot.platform.github.pulls import GitHubPullRequests
from bot.platform.http.headers import MAX_RETRY_AFTER, parse_retry_after
from bot.platform.models import ModelAccess, Prompt
from bot.platform.models.claude.connection import ClaudeConnection, make_claude_client
from bot.platform.models.openai_compatible import CONTEXT_TOKENS, OPENAI_COMPATIBLE
from bot.platform.slack.client import MAX_PAUSE, make_slack_client
from bot.platform.slack.messenger import SlackMessenger
from tests.helpers.builders import NOON, REPOSITORY
from tests.helpers.checks import is_one_sentence
from tests.hostile.tables.waits import ODD_DATES, WAITS, ahead

# seconds until a call must have ended that waits for nothing long, on a machine that is busy
SOON = 8.0
EACH = pytest.mark.parametrize(("written", "seconds"), WAITS.items(), ids=lambda each: repr(each)[:40])


@EACH
def test_a_pause_is_read_as_written_or_not_at_all(written: str, seconds: float | None) -> None:
    assert parse_retry_after(written) == seconds


@pytest.mark.parametrize("written", ODD_DATES)
def test_a_date_that_is_none_is_no_error(written: str) -> None:
    assert 0 <= (parse_retry_after(written) or 0) <= MAX_RETRY_AFTER


def test_a_date_ahead_is_the_time_until_then() -> None:
    assert parse_retry_after(ahead(6 * 3_600)) == pytest.approx(6 * 3_600, abs=3)
    assert parse_retry_after(None) is None


# --- as the services' clients meet them


class Limited(Loopback):
    def __init__(self, status: int, body: dict[str, Any], **headers: str) -> None:
        super().__init__()
        self.calls = 0
        self._answer = Response.of_json(
            body, status, {name.replace("_", "-"): held for name, held in headers.items()}
        )

    def handle(self, request: Request) -> Response:
        self.calls += 1
        return self._answer


SECONDARY = {
    "message": "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
}
PRIMARY = {"message": "API rate limit exceeded for user ID 1."}
# pauses that are not waited for; what can be sent in a header
LONG = [
    (written, seconds)
    for written, seconds in WAITS.items()
    if written.isascii() and len(written) < 1_000 and (seconds or 0) > MAX_PAUSE
]
SENT = [written for written, seconds in WAITS.items() if written.isascii() and (seconds or 0) < 2]


def ask_github(peer: Limited) -> PrdigestError:
    pulls = GitHubPullRequests(GitHubClient(peer.url, Auth.Token("ghp_test")), lambda: NOON)
    with pytest.raises(PrdigestError) as caught:
        pulls.fetch_pull_request(REPOSITORY, 1)
    return caught.value


def ask_slack(peer: Limited) -> PrdigestError:
    with pytest.raises(PrdigestError) as caught:
        SlackMessenger(make_slack_client("xoxb-test", f"{peer.url}/api/")).fetch_team()
    return caught.value


def ask_claude(peer: Limited) -> PrdigestError:
    with make_claude_client("sk-ant-test", peer.url) as client, pytest.raises(PrdigestError) as caught:
        ClaudeConnection(client).complete(
            Prompt("claude-haiku-5-5", "v1", "Be brief.", "Hello", {"type": "object"}, 10)
        )
    return caught.value


def ask_model_server(peer: Limited) -> PrdigestError:
    with (
        closing(OPENAI_COMPATIBLE.connect(ModelAccess("", peer.url, {CONTEXT_TOKENS: 8_192}))) as connection,
        pytest.raises(PrdigestError) as caught,
    ):
        connection.complete(Prompt("small", "v1", "Be brief.", "Hello", {"type": "object"}, 10))
    return caught.value


ASKS: dict[str, tuple[Callable[[Limited], PrdigestError], type[PrdigestError], dict[str, Any]]] = {
    "github": (ask_github, RateLimited, SECONDARY),
    "slack": (ask_slack, SlackUnavailable, {"ok": False, "error": "ratelimited"}),
    "claude": (ask_claude, ModelBusy, {"error": {"type": "rate_limit_error", "message": "Later"}}),
    "model server": (ask_model_server, ModelBusy, {"error": {"code": 429, "message": "Later"}}),
}


# Slack's limits are 429 alone
REFUSALS = [(name, status) for name in ASKS for status in (429, 503) if (name, status) != ("slack", 503)]


@pytest.mark.parametrize(("name", "status"), REFUSALS)
@pytest.mark.parametrize(("written", "seconds"), [*LONG, ("six hours", 21_600.0)], ids=str)
def test_a_long_pause_is_told_at_once_with_its_length(
    name: str, status: int, written: str, seconds: float
) -> None:
    ask, kind, body = ASKS[name]
    with Limited(status, body, Retry_After=ahead(seconds) if written == "six hours" else written) as peer:
        began = time.monotonic()
        error = ask(peer)
        assert time.monotonic() - began < SOON
    assert type(error) is kind
    assert getattr(error, "retry_after", None) == pytest.approx(seconds, abs=5)
    assert peer.calls == 1


@pytest.mark.parametrize("name", ASKS)
@pytest.mark.slow
def test_whatever_a_pause_is_it_is_an_error_of_the_domain(name: str) -> None:
    ask, _, body = ASKS[name]
    for written in SENT:
        with Limited(429, body, Retry_After=written) as peer, deadlines.bound_work(0.5):
            began = time.monotonic()
            assert is_one_sentence(str(ask(peer))) or name in ("claude", "model server")
            assert time.monotonic() - began < SOON


RESETS = ["99999999999999999999", "253402300800", "9" * 400, "-5", "0", "1.5", "soon", "NaN", ""]


@pytest.mark.parametrize("reset", RESETS, ids=lambda each: repr(each)[:20])
def test_a_limit_whose_end_is_nonsense_is_still_a_limit(reset: str) -> None:
    with Limited(403, PRIMARY, X_RateLimit_Remaining="0", X_RateLimit_Reset=reset) as peer:
        began = time.monotonic()
        error = ask_github(peer)
        assert time.monotonic() - began < SOON
    assert type(error) is RateLimited, error


def test_pauses_of_one_piece_of_work_add_up_to_its_share_and_no_more() -> None:
    with (
        Limited(429, {"ok": False, "error": "ratelimited"}, Retry_After="1") as peer,
        deadlines.bound_work(60, waits=1.5),
    ):
        began = time.monotonic()
        errors = [ask_slack(peer) for _ in range(3)]
        assert time.monotonic() - began < SOON
    assert peer.calls == 4, "one pause, and then each call is refused at once"
    assert {getattr(error, "retry_after", None) for error in errors} == {1.0}


def test_pauses_of_threads_that_wait_together_count_once() -> None:
    waits = deadlines.WaitAllowance(10)
    for _ in range(8):
        assert waits.has_room_for(8)
        waits.count_wait(8)
    assert not waits.has_room_for(12)
    assert waits.has_room_for(9)
