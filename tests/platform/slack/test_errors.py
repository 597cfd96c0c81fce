import contextlib
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from urllib.error import HTTPError

import pytest
from slack_sdk import WebClient

from bot.errors import PrdigestError, SlackCallRefused, SlackUnavailable
from bot.platform.slack.blocks import Attachment
from bot.platform.slack.client import make_slack_client, send_to_hook, translate_slack_errors
from bot.platform.slack.directory import SlackWorkspaceDirectory
from bot.platform.slack.messenger import SlackEphemeralMessenger, SlackMessenger, SlackViews
from tests.emulators.slack.server import SCOPES, SlackEmulator
from tests.features.digest.posting import post
from tests.helpers.checks import closed_port, is_one_sentence
from tests.helpers.doubles import slack_request
from tests.helpers.tables import check_rows
from tests.helpers.worlds import Garbage, WebPage

HOME = "C0DIGEST"
POST: dict[str, Any] = {"text": "Hello", "blocks": []}
FILE, HELLO = Attachment("report.md", "Report", "text"), post("Hello")

Act = Callable[[WebClient], object]
ACTS: dict[str, Act] = {
    "auth.test": lambda client: SlackMessenger(client).fetch_team(),
    "chat.postMessage": lambda client: SlackMessenger(client).post_message(HOME, POST, "key"),
    "chat.postEphemeral": lambda client: SlackEphemeralMessenger(client).send(slack_request(), HELLO),
    "conversations.history": lambda client: SlackMessenger(client).find_posts(HOME, datetime.now(UTC)),
    "conversations.replies": lambda client: SlackMessenger(client).list_messages(HOME, "1.1"),
    "chat.getPermalink": lambda client: SlackMessenger(client).fetch_permalink(HOME, "1.1"),
    "files.getUploadURLExternal": lambda client: SlackMessenger(client).attach_file(HOME, "1.1", FILE),
    "upload": lambda client: SlackMessenger(client).attach_file(HOME, "1.1", FILE),
    "files.completeUploadExternal": lambda client: SlackMessenger(client).attach_file(HOME, "1.1", FILE),
    "conversations.members": lambda client: SlackWorkspaceDirectory(client).is_channel_member(HOME, "U0ADA"),
    "users.conversations": lambda client: SlackWorkspaceDirectory(client).list_channels("U0ADA"),
    "conversations.info": lambda client: SlackWorkspaceDirectory(client).fetch_channel(HOME),
    "conversations.open": lambda client: SlackWorkspaceDirectory(client).open_direct_messages("U0ADA"),
    "users.info": lambda client: SlackWorkspaceDirectory(client).fetch_time_zone("U0ADA"),
    "views.publish": lambda client: SlackViews(client).publish_home("U0ADA", ()),
    "views.open": lambda client: SlackViews(client).open_view("1.1", "action:1", {"type": "modal"}),
    "views.update": lambda client: SlackViews(client).update_view("action:1", {"type": "modal"}),
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


def client_of(slack: SlackEmulator, token: str = "") -> WebClient:
    return make_slack_client(token or slack.token, slack.url)


def failure(act: Act, client: WebClient) -> PrdigestError:
    with pytest.raises(PrdigestError) as caught:
        act(client)
    assert "xoxb" not in str(caught.value).replace("(xoxb-…)", "")
    if isinstance(caught.value.__cause__, HTTPError):
        caught.value.__cause__.close()
    return caught.value


@pytest.mark.parametrize(("code", "hint"), SENTENCES.items())
def test_a_refusal_is_one_sentence_that_says_what_to_do(slack: SlackEmulator, code: str, hint: str) -> None:
    slack.fail_next("chat.postMessage", error=code)
    error = failure(ACTS["chat.postMessage"], client_of(slack))
    assert isinstance(error, SlackCallRefused)
    assert (error.code, hint in str(error), is_one_sentence(str(error))) == (code, True, True)
    assert slack.list_messages(HOME) == []


def test_the_channel_that_the_bot_is_not_in_is_named(slack: SlackEmulator) -> None:
    slack.add_channel("C0ELSE", "else", member=False)
    error = failure(lambda client: SlackMessenger(client).post_message("C0ELSE", POST, "key"), client_of(slack))
    assert "C0ELSE" in str(error)


def test_a_wrong_token_is_refused(slack: SlackEmulator) -> None:
    error = failure(ACTS["auth.test"], client_of(slack, "xoxb-wrong"))
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
        error = failure(ACTS[method], client_of(slack))
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
    error = failure(ACTS[method], client_of(slack))
    assert isinstance(error, SlackUnavailable)
    assert "\n" not in str(error)


def test_a_failed_upload_leaves_no_connection_open(slack: SlackEmulator) -> None:
    slack.fail_next("upload", status=503)
    with pytest.raises(SlackUnavailable) as caught:
        ACTS["upload"](client_of(slack))
    cause = caught.value.__cause__
    was_open = isinstance(cause, HTTPError) and not cause.closed
    if isinstance(cause, HTTPError):
        cause.close()
    assert not was_open


def test_a_server_error_is_told_in_one_sentence(slack: SlackEmulator) -> None:
    slack.fail_next("auth.test", status=503)
    assert is_one_sentence(str(failure(ACTS["auth.test"], client_of(slack))))


def test_a_refused_connection_names_the_setting() -> None:
    bot = make_slack_client("xoxb-test", f"http://127.0.0.1:{closed_port()}")
    error = failure(ACTS["auth.test"], bot)
    assert isinstance(error, SlackUnavailable)
    assert "SLACK_API_URL" in str(error)


def test_a_web_page_with_status_502_is_unavailable() -> None:
    with WebPage(502) as world:
        error = failure(ACTS["chat.postMessage"], make_slack_client("xoxb-test", world.url))
    assert isinstance(error, SlackUnavailable)


def test_a_web_page_in_place_of_an_answer_is_unavailable_and_not_shown() -> None:
    with WebPage(200) as world:
        error = failure(ACTS["chat.postMessage"], make_slack_client("xoxb-test", world.url))
    assert isinstance(error, SlackUnavailable)
    assert "html" not in str(error)


@pytest.mark.slow
@check_rows(ACTS, [b"\xff\xfe", b'{"ok": true, "ts', b"[]", b'"ok"', b"7", b"null", b""])
def test_an_answer_that_slack_never_gives_is_unavailable(act: Act, body: bytes) -> None:
    with Garbage(body) as world:
        error = failure(act, make_slack_client("xoxb-test", world.url))
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
    error = failure(ACTS["auth.test"], client_of(slack, slack.app_token))
    assert isinstance(error, SlackCallRefused)
    assert (error.code, "SLACK_BOT_TOKEN" in str(error), "xapp" in str(error)) == (
        "not_allowed_token_type",
        True,
        False,
    )
