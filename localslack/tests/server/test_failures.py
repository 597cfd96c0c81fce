"""The Slack emulator, seen through the real client: what it refuses, and the ways in which it fails."""

import http.client
import json
import re
import urllib.request

import pytest
from slack_sdk import WebClient

from localslack.loopback import HangUp
from localslack.methods.registry import ALL_SCOPES
from localslack.testing.emulator import SlackEmulator
from tests.client import HOME, Json, client_of, refusal, texts

# Refusals

MISSING = "1700000000.000001"
REFUSALS: list[tuple[str, Json, str]] = [
    ("chat.postMessage", {"channel": "C0NOWHERE", "text": "x"}, "channel_not_found"),
    ("chat.postMessage", {"text": "x"}, "channel_not_found"),
    ("chat.postMessage", {"channel": "G0SECRET", "text": "x"}, "channel_not_found"),
    ("chat.postMessage", {"channel": "C0OUTSIDE", "text": "x"}, "not_in_channel"),
    ("chat.postMessage", {"channel": "C0OLD", "text": "x"}, "is_archived"),
    ("chat.postMessage", {"channel": HOME}, "no_text"),
    ("chat.postMessage", {"channel": HOME, "text": "x", "thread_ts": MISSING}, "thread_not_found"),
    ("chat.postMessage", {"channel": HOME, "text": "x", "thread_ts": "soon"}, "thread_not_found"),
    ("chat.postMessage", {"channel": HOME, "text": "x", "blocks": [{"type": "sparkle"}]}, "invalid_blocks"),
    ("chat.update", {"channel": HOME, "ts": MISSING, "text": "x"}, "message_not_found"),
    ("chat.delete", {"channel": HOME, "ts": "nan"}, "message_not_found"),
    ("chat.getPermalink", {"channel": HOME, "message_ts": MISSING}, "message_not_found"),
    ("chat.postEphemeral", {"channel": HOME, "text": "x"}, "invalid_arguments"),
    ("conversations.history", {"channel": "C0OUTSIDE"}, "not_in_channel"),
    ("conversations.history", {"channel": HOME, "limit": "many"}, "invalid_limit"),
    ("conversations.history", {"channel": HOME, "limit": 1_001}, "invalid_limit"),
    ("conversations.history", {"channel": HOME, "cursor": "?"}, "invalid_cursor"),
    ("conversations.history", {"channel": HOME, "oldest": "yesterday"}, "invalid_ts_oldest"),
    ("conversations.replies", {"channel": HOME, "ts": MISSING}, "thread_not_found"),
    ("conversations.list", {"types": "secret_channel"}, "invalid_types"),
    ("conversations.open", {"users": "C0GENERAL"}, "user_not_found"),
    ("users.info", {"user": "nobody"}, "user_not_found"),
    ("reactions.add", {"channel": HOME, "name": "eyes", "timestamp": MISSING}, "message_not_found"),
    ("files.getUploadURLExternal", {"filename": "a.txt", "length": 0}, "invalid_arguments"),
    ("files.completeUploadExternal", {"files": "{"}, "invalid_arguments"),
    ("views.update", {"view_id": "V404", "view": {}}, "not_found"),
    ("views.open", {"view": {"type": "modal", "blocks": []}}, "invalid_arguments"),
    ("pins.add", {"channel": HOME}, "unknown_method"),
]


@pytest.mark.parametrize(("method", "arguments", "error"), REFUSALS, ids=lambda value: str(value)[:50])
def test_refusals(slack: SlackEmulator, web: WebClient, method: str, arguments: Json, error: str) -> None:
    slack.workspace.scopes = ALL_SCOPES
    slack.add_channel("C0OUTSIDE", "outside", member=False)
    slack.add_channel("C0OLD", "old", archived=True)
    slack.add_channel("G0SECRET", "secret", member=False)
    response = refusal(lambda: web.api_call(method, json=arguments))
    assert (response.status_code, response["error"]) == (200, error)


def test_a_reply_cannot_be_replied_to(slack: SlackEmulator, web: WebClient) -> None:
    reply = slack.add_message(HOME, "reply", thread_ts=slack.add_message(HOME, "lead"))
    response = refusal(lambda: web.chat_postMessage(channel=HOME, text="x", thread_ts=reply))
    assert response["error"] == "cannot_reply_to_message"


@pytest.mark.parametrize(("token", "error"), [("xoxb-stolen", "invalid_auth"), ("", "not_authed")])
def test_the_token_is_checked(slack: SlackEmulator, token: str, error: str) -> None:
    assert refusal(lambda: client_of(slack, token).auth_test())["error"] == error


@pytest.mark.parametrize(
    ("method", "arguments", "needed"),
    [
        ("chat.postMessage", {"channel": HOME, "text": "x"}, "chat:write"),
        ("files.getUploadURLExternal", {"filename": "a", "length": 1}, "files:write"),
        ("files.completeUploadExternal", {"files": "[]"}, "files:write"),
        ("conversations.history", {"channel": "G0TEAM"}, "groups:history"),
        ("conversations.replies", {"channel": "G0TEAM", "ts": "1.1"}, "groups:history"),
        ("conversations.list", {}, "channels:read"),
        ("reactions.add", {}, "reactions:write"),
    ],
)
def test_scopes_are_checked(method: str, arguments: Json, needed: str) -> None:
    with SlackEmulator(scopes=ALL_SCOPES - {needed}) as slack:
        slack.add_channel("G0TEAM", "team")
        response = refusal(lambda: client_of(slack).api_call(method, json=arguments or {"x": 1}))
    assert (response["error"], response["needed"]) == ("missing_scope", needed)
    assert needed not in response["provided"].split(",")


def test_a_body_that_is_not_json(slack: SlackEmulator) -> None:
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"{slack.url}/chat.postMessage", b"{", headers)
    with urllib.request.urlopen(request) as answer:
        assert json.load(answer) == {"ok": False, "error": "invalid_json"}


# Failures


def test_rate_limit_is_a_429_with_retry_after(slack: SlackEmulator, web: WebClient) -> None:
    slack.fail_next("chat.postMessage", retry_after=7)
    response = refusal(lambda: web.chat_postMessage(channel=HOME, text="x"))
    assert (response.status_code, response["error"]) == (429, "ratelimited")
    assert response.headers["Retry-After"] == "7"
    assert slack.list_messages(HOME) == []
    assert web.chat_postMessage(channel=HOME, text="x")["ok"]


@pytest.mark.parametrize("failure", [{"status": 429}, {"error": "ratelimited"}], ids=str)
def test_a_rate_limit_always_names_a_wait(slack: SlackEmulator, web: WebClient, failure: Json) -> None:
    slack.fail_next("auth.test", **failure)
    response = refusal(web.auth_test)
    assert (response.status_code, response["error"], response.headers["Retry-After"]) == (429, "ratelimited", "1")


def test_an_error_can_come_several_times(slack: SlackEmulator, web: WebClient) -> None:
    slack.fail_next("auth.test", error="account_inactive", times=2)
    errors = [refusal(web.auth_test)["error"] for _ in range(2)]
    assert errors == ["account_inactive"] * 2
    assert web.auth_test()["ok"]


def test_a_post_that_fails_after_its_effect_is_in_the_channel(slack: SlackEmulator, web: WebClient) -> None:
    slack.fail_next("chat.postMessage", status=503, after_effect=True)
    response = refusal(lambda: web.chat_postMessage(channel=HOME, text="there all the same"))
    assert (response.status_code, response["error"]) == (503, "service_unavailable")
    assert texts(slack.list_messages(HOME)) == ["there all the same"]


@pytest.mark.parametrize(("after_effect", "posted"), [(True, ["x"]), (False, [])])
def test_a_hang_up_before_or_after_the_effect(
    slack: SlackEmulator, web: WebClient, after_effect: bool, posted: list[str]
) -> None:
    slack.fail_next("chat.postMessage", hang_up=True, after_effect=after_effect)
    with pytest.raises((http.client.HTTPException, OSError)):
        web.chat_postMessage(channel=HOME, text="x")
    assert texts(slack.list_messages(HOME)) == posted
    assert len(slack.calls) == 1


def test_a_failure_of_a_method_that_does_not_exist_is_a_mistake(slack: SlackEmulator) -> None:
    with pytest.raises(ValueError, match=re.escape("chat.post")):
        slack.fail_next("chat.post")


def test_hooks_run_before_and_after_the_effect(slack: SlackEmulator, web: WebClient) -> None:
    seen: list[tuple[str, int]] = []
    slack.before = lambda method, _: seen.append((method, len(slack.list_messages(HOME))))
    slack.after = lambda method, _: seen.append((method, len(slack.list_messages(HOME))))
    web.chat_postMessage(channel=HOME, text="x")
    assert seen == [("chat.postMessage", 0), ("chat.postMessage", 1)]


def test_a_hook_can_drop_the_connection(slack: SlackEmulator, web: WebClient) -> None:
    def drop(method: str, arguments: Json) -> None:
        raise HangUp

    slack.before = drop
    with pytest.raises((http.client.HTTPException, OSError)):
        web.chat_postMessage(channel=HOME, text="x")
    assert slack.list_messages(HOME) == []


def test_pace_allows_a_burst_and_then_one_a_second() -> None:
    now = [100.0]
    with SlackEmulator(posts_per_second=1, clock=lambda: now[0]) as slack:
        slack.add_channel("C0OTHER", "other")
        web = client_of(slack)
        for _ in range(5):
            web.chat_postMessage(channel=HOME, text="x")
        response = refusal(lambda: web.chat_postMessage(channel=HOME, text="x"))
        assert (response.status_code, response.headers["Retry-After"]) == (429, "1")
        assert web.chat_postMessage(channel="C0OTHER", text="x")["ok"]
        now[0] += 1
        assert web.chat_postMessage(channel=HOME, text="x")["ok"]
        assert refusal(lambda: web.chat_postMessage(channel=HOME, text="x"))["error"] == "ratelimited"
