"""Slack's refusals and failures, each as one sentence."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from urllib.error import HTTPError

import pytest
from slack_sdk import WebClient

from bot.adapters.slack.errors import translate_slack_errors
from bot.adapters.slack.messenger import SlackMessenger, make_slack_client
from bot.adapters.slack.transport import send_to_hook
from bot.domain.errors import PrdigestError, SlackCallRefused, SlackUnavailable
from bot.ports import Attachment
from tests.adapters.worlds import Garbage, WebPage
from tests.emulators.slack.server import SCOPES, SlackEmulator
from tests.helpers.checks import closed_port, is_one_sentence
from tests.helpers.tables import check_rows

HOME = "C0DIGEST"
POST: dict[str, Any] = {"text": "Hello", "blocks": []}
FILE = Attachment("report.md", "Report", "text")

Act = Callable[[SlackMessenger], object]
ACTS: dict[str, Act] = {
    "auth.test": lambda bot: bot.fetch_team(),
    "chat.postMessage": lambda bot: bot.post_message(HOME, POST, "key"),
    "conversations.history": lambda bot: bot.find_posts(HOME, datetime.now(UTC)),
    "conversations.replies": lambda bot: bot.find_posts(HOME, datetime.now(UTC), "1.1"),
    "chat.getPermalink": lambda bot: bot.fetch_permalink(HOME, "1.1"),
    "files.getUploadURLExternal": lambda bot: bot.attach_file(HOME, "1.1", FILE),
    "upload": lambda bot: bot.attach_file(HOME, "1.1", FILE),
    "files.completeUploadExternal": lambda bot: bot.attach_file(HOME, "1.1", FILE),
}
SENTENCES = {
    "not_in_channel": "/invite",
    "channel_not_found": HOME,
    "is_archived": "archived",
    "invalid_auth": "SLACK_BOT_TOKEN",
    "not_authed": "SLACK_BOT_TOKEN",
    "not_allowed_token_type": "SLACK_BOT_TOKEN",
    "account_inactive": "install it again",
    "token_revoked": "SLACK_BOT_TOKEN",
    "restricted_action": "administrator",
    "msg_blocks_too_long": "msg_blocks_too_long",
}


def messenger(slack: SlackEmulator, token: str = "") -> SlackMessenger:
    return SlackMessenger(make_slack_client(token or slack.token, slack.url))


def failure(act: Act, bot: SlackMessenger) -> PrdigestError:
    with pytest.raises(PrdigestError) as caught:
        act(bot)
    assert "xoxb" not in str(caught.value).replace("(xoxb-…)", "")
    if isinstance(caught.value.__cause__, HTTPError):
        caught.value.__cause__.close()
    return caught.value


@pytest.mark.parametrize(("code", "hint"), SENTENCES.items())
def test_a_refusal_is_one_sentence_that_says_what_to_do(slack: SlackEmulator, code: str, hint: str) -> None:
    slack.fail_next("chat.postMessage", error=code)
    error = failure(ACTS["chat.postMessage"], messenger(slack))
    assert isinstance(error, SlackCallRefused)
    assert (error.code, hint in str(error), is_one_sentence(str(error))) == (code, True, True)
    assert slack.list_messages(HOME) == []


def test_the_channel_that_the_bot_is_not_in_is_named(slack: SlackEmulator) -> None:
    slack.add_channel("C0ELSE", "else", member=False)
    error = failure(lambda bot: bot.post_message("C0ELSE", POST, "key"), messenger(slack))
    assert "C0ELSE" in str(error)


def test_a_wrong_token_is_refused(slack: SlackEmulator) -> None:
    error = failure(ACTS["auth.test"], messenger(slack, "xoxb-wrong"))
    assert isinstance(error, SlackCallRefused)
    assert error.code == "invalid_auth"


@pytest.mark.parametrize(
    ("lacking", "method"),
    [
        ("chat:write", "chat.postMessage"),
        ("files:write", "files.getUploadURLExternal"),
        ("channels:history", "conversations.history"),
    ],
)
def test_a_scope_that_is_missing_is_named(lacking: str, method: str) -> None:
    with SlackEmulator(scopes=SCOPES - {lacking}) as slack:
        error = failure(ACTS[method], messenger(slack))
    assert isinstance(error, SlackCallRefused)
    assert (error.code, lacking in str(error)) == ("missing_scope", True)
    assert is_one_sentence(str(error))


FAILURES: list[dict[str, Any]] = [{"status": 500}, {"status": 503}, {"hang_up": True}, {"error": "fatal_error"}]
# the place for uploads speaks no JSON, so it has no codes
FAILING = [(method, how) for method in ACTS for how in FAILURES if (method, "error" in how) != ("upload", True)]


@pytest.mark.parametrize(("method", "how"), FAILING, ids=str)
def test_a_failure_of_slack_leaves_open_whether_it_had_an_effect(
    slack: SlackEmulator, method: str, how: dict[str, Any]
) -> None:
    slack.fail_next(method, **how)
    error = failure(ACTS[method], messenger(slack))
    assert isinstance(error, SlackUnavailable)
    assert "\n" not in str(error)


def test_a_failed_upload_leaves_no_connection_open(slack: SlackEmulator) -> None:
    slack.fail_next("upload", status=503)
    with pytest.raises(SlackUnavailable) as caught:
        ACTS["upload"](messenger(slack))
    cause = caught.value.__cause__
    was_open = isinstance(cause, HTTPError) and not cause.closed
    if isinstance(cause, HTTPError):
        cause.close()
    assert not was_open


def test_a_server_error_is_told_in_one_sentence(slack: SlackEmulator) -> None:
    slack.fail_next("auth.test", status=503)
    assert is_one_sentence(str(failure(ACTS["auth.test"], messenger(slack))))


def test_a_refused_connection_names_the_setting() -> None:
    bot = SlackMessenger(make_slack_client("xoxb-test", f"http://127.0.0.1:{closed_port()}"))
    error = failure(ACTS["auth.test"], bot)
    assert isinstance(error, SlackUnavailable)
    assert "SLACK_API_URL" in str(error)


def test_a_web_page_with_status_502_is_unavailable() -> None:
    with WebPage(502) as world:
        error = failure(ACTS["chat.postMessage"], SlackMessenger(make_slack_client("xoxb-test", world.url)))
    assert isinstance(error, SlackUnavailable)


def test_a_web_page_in_place_of_an_answer_is_unavailable_and_not_shown() -> None:
    with WebPage(200) as world:
        error = failure(ACTS["chat.postMessage"], SlackMessenger(make_slack_client("xoxb-test", world.url)))
    assert isinstance(error, SlackUnavailable)
    assert "html" not in str(error)


@pytest.mark.slow
@check_rows(ACTS, [b"\xff\xfe", b'{"ok": true, "ts', b"[]", b'"ok"', b"7", b"null", b""])
def test_an_answer_that_slack_never_gives_is_unavailable(act: Act, body: bytes) -> None:
    with Garbage(body) as world:
        error = failure(act, SlackMessenger(make_slack_client("xoxb-test", world.url)))
    assert isinstance(error, SlackUnavailable)


@pytest.mark.parametrize("body", [b"\xff\xfe", b"{", b"[]"], ids=repr)
def test_a_hook_that_answers_garbage_is_no_defect(body: bytes) -> None:
    with Garbage(body) as world, contextlib.suppress(SlackUnavailable), translate_slack_errors():
        assert send_to_hook(f"{world.url}/response/1", 5.0, text="Hello").status_code == 200


# --- another token than the bot's


APP_TOKEN = "SLACK_APP_TOKEN to an app-level token (xapp-…)"
WRONG = {"xapp-wrong": "invalid_auth", "xoxb-test": "not_allowed_token_type", "": "not_authed"}


@pytest.mark.parametrize(("token", "code"), WRONG.items())
def test_the_token_that_was_used_is_the_one_that_is_named(slack: SlackEmulator, token: str, code: str) -> None:
    client = WebClient(token=token or None, base_url=slack.url, retry_handlers=[])
    with pytest.raises(SlackCallRefused) as caught, translate_slack_errors(token=APP_TOKEN):
        client.apps_connections_open(app_token=token)
    message = str(caught.value)
    assert (caught.value.code, f"set {APP_TOKEN}." in message, "SLACK_BOT_TOKEN" in message) == (code, True, False)
    assert is_one_sentence(message)
    assert not token or token not in message


def test_the_apps_token_in_place_of_the_bots_is_told(slack: SlackEmulator) -> None:
    error = failure(ACTS["auth.test"], messenger(slack, slack.app_token))
    assert isinstance(error, SlackCallRefused)
    assert (error.code, "SLACK_BOT_TOKEN" in str(error), "xapp" in str(error)) == (
        "not_allowed_token_type",
        True,
        False,
    )
