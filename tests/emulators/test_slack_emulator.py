"""The Slack emulator, seen through the real client; and the table of what Slack takes and what is live."""

from __future__ import annotations

import http.client
import json
import re
import threading
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

from tests.emulators import slack_limits
from tests.emulators.loopback import HangUp
from tests.emulators.slack import SCOPES, UPLOAD, SlackEmulator
from tests.emulators.slack_limits import check_message, links, mentions

Json = dict[str, Any]
HOME = "C0DIGEST"
TOKEN = "xoxb-test"


@pytest.fixture
def slack() -> Iterator[SlackEmulator]:
    with SlackEmulator() as emulator:
        yield emulator


@pytest.fixture
def client(slack: SlackEmulator) -> WebClient:
    return client_of(slack)


def client_of(slack: SlackEmulator, token: str = TOKEN) -> WebClient:
    """Without the client's own retry, so that a call is one call."""
    return WebClient(token=token, base_url=slack.url, timeout=5, retry_handlers=[])


def refusal(call: Callable[[], Any]) -> Any:
    with pytest.raises(SlackApiError) as caught:
        call()
    return caught.value.response


def ts_of(answer: Any) -> str:
    return str(answer["ts"])


def texts(messages: list[Json]) -> list[str]:
    return [message["text"] for message in messages]


# Posting


def test_says_who_the_bot_is_and_what_it_may_do(client: WebClient) -> None:
    answer = client.auth_test()
    assert (answer["team_id"], answer["user_id"], answer["bot_id"]) == ("T0TEAM", "U0BOT", "B0DIGEST")
    assert "chat:write" in answer.headers["x-oauth-scopes"].split(",")


def test_api_prefix_is_accepted(slack: SlackEmulator) -> None:
    client = WebClient(token="xoxb-test", base_url=f"{slack.url}/api/")
    assert client.chat_postMessage(channel=HOME, text="hello")["channel"] == HOME


def test_post_is_stored_as_it_was_sent(slack: SlackEmulator, client: WebClient) -> None:
    blocks = [{"type": "section", "text": {"type": "mrkdwn", "text": "a &amp; b"}}]
    metadata = {"event_type": "digest", "event_payload": {"day": "2026-02-28"}}
    answer = client.chat_postMessage(channel=HOME, text="a &amp; b", blocks=blocks, metadata=metadata)
    (stored,) = slack.messages(HOME)
    assert stored == answer["message"]
    assert (stored["text"], stored["blocks"], stored["metadata"]) == ("a &amp; b", blocks, metadata)
    assert (stored["user"], stored["bot_id"], stored["app_id"]) == ("U0BOT", "B0DIGEST", "A0DIGEST")


def test_ts_are_unique_and_increasing(client: WebClient) -> None:
    found = [ts_of(client.chat_postMessage(channel=HOME, text="x")) for _ in range(3)]
    assert found == ["1772300000.000100", "1772300000.000200", "1772300000.000300"]


def test_ts_follow_a_given_clock() -> None:
    with SlackEmulator(now=lambda: 1_800_000_000.5) as slack:
        assert ts_of(client_of(slack).chat_postMessage(channel=HOME, text="x")) == "1800000000.500100"


def test_form_arguments_mean_the_same_as_json(slack: SlackEmulator, client: WebClient) -> None:
    blocks = [{"type": "divider"}]
    form = {"channel": HOME, "text": "x", "blocks": json.dumps(blocks), "metadata": json.dumps(META)}
    client.api_call("chat.postMessage", params=form)
    assert (slack.messages(HOME)[0]["blocks"], slack.messages(HOME)[0]["metadata"]) == (blocks, META)


def test_markdown_text_becomes_a_markdown_block(slack: SlackEmulator, client: WebClient) -> None:
    client.chat_postMessage(channel=HOME, markdown_text="**x**")
    assert slack.messages(HOME)[0]["blocks"] == [{"type": "markdown", "text": "**x**"}]


def test_direct_message_by_user_id_and_by_opening(slack: SlackEmulator, client: WebClient) -> None:
    opened = client.conversations_open(users=["U0HUMAN"])["channel"]["id"]
    assert client.chat_postMessage(channel="U0HUMAN", text="hi")["channel"] == opened
    assert texts(slack.messages(opened)) == ["hi"]


def test_calls_are_kept_in_order_without_the_token(slack: SlackEmulator, client: WebClient) -> None:
    client.auth_test()
    client.chat_postMessage(channel=HOME, text="x")
    assert slack.calls == [("auth.test", {}), ("chat.postMessage", {"channel": HOME, "text": "x"})]
    assert slack.calls_to("chat.postMessage") == [{"channel": HOME, "text": "x"}]


def test_concurrent_posts_are_all_kept(slack: SlackEmulator) -> None:
    threads = [
        threading.Thread(target=client_of(slack).chat_postMessage, kwargs={"channel": HOME, "text": str(n)})
        for n in range(20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(map(int, texts(slack.messages(HOME)))) == list(range(20))
    assert len({message["ts"] for message in slack.messages(HOME)}) == len(slack.calls) == 20


# Threads


def test_replies_are_in_the_thread_and_not_in_the_channel(slack: SlackEmulator, client: WebClient) -> None:
    lead = ts_of(client.chat_postMessage(channel=HOME, text="lead"))
    client.chat_postMessage(channel=HOME, text="details", thread_ts=lead)
    slack.add_message(HOME, "why?", thread_ts=lead)
    (parent,) = slack.messages(HOME)
    assert (parent["reply_count"], parent["reply_users"]) == (2, ["U0BOT", "U0HUMAN"])
    assert texts(slack.replies(HOME, lead)) == ["details", "why?"]
    assert texts(client.conversations_replies(channel=HOME, ts=lead)["messages"]) == ["lead", "details", "why?"]


def test_a_broadcast_reply_is_in_both(slack: SlackEmulator, client: WebClient) -> None:
    lead = slack.add_message(HOME, "lead")
    client.chat_postMessage(channel=HOME, text="loud", thread_ts=lead, reply_broadcast=True)
    assert texts(slack.messages(HOME)) == ["lead", "loud"]
    assert texts(slack.replies(HOME, lead)) == ["loud"]


def test_replies_come_in_pages_with_the_parent_first(slack: SlackEmulator, client: WebClient) -> None:
    lead = slack.add_message(HOME, "lead")
    for n in range(4):
        slack.add_message(HOME, str(n), thread_ts=lead)
    pages = [texts(page["messages"]) for page in client.conversations_replies(channel=HOME, ts=lead, limit=2)]
    assert pages == [["lead", "0"], ["1", "2"], ["3"]]


# History


def test_history_is_newest_first_and_pages_to_the_end(slack: SlackEmulator, client: WebClient) -> None:
    for n in range(5):
        slack.add_message(HOME, str(n))
    pages = [texts(page["messages"]) for page in client.conversations_history(channel=HOME, limit=2)]
    assert pages == [["4", "3"], ["2", "1"], ["0"]]
    assert client.conversations_history(channel=HOME, limit=2)["has_more"] is True
    assert client.conversations_history(channel=HOME, limit=5)["has_more"] is False


@pytest.mark.parametrize(
    ("window", "found"),
    [
        ({"oldest": 1}, ["3", "2"]),
        ({"oldest": 1, "inclusive": True}, ["3", "2", "1"]),
        ({"latest": 2}, ["1", "0"]),
        ({"latest": 2, "inclusive": True}, ["2", "1", "0"]),
        ({"oldest": 0, "latest": 3}, ["2", "1"]),
    ],
    ids=str,
)
def test_history_between_two_moments(
    slack: SlackEmulator, client: WebClient, window: Json, found: list[str]
) -> None:
    posted = [slack.add_message(HOME, str(n)) for n in range(4)]
    ends: Json = {key: posted[value] if key in {"oldest", "latest"} else value for key, value in window.items()}
    assert texts(client.conversations_history(channel=HOME, **ends)["messages"]) == found


def test_metadata_is_read_only_when_asked_for(client: WebClient) -> None:
    lead = ts_of(client.chat_postMessage(channel=HOME, text="x", metadata=META))
    for ask in (client.conversations_history, client.conversations_replies):
        thread: Json = {"ts": lead} if ask == client.conversations_replies else {}
        assert "metadata" not in ask(channel=HOME, **thread)["messages"][0]
        assert ask(channel=HOME, include_all_metadata=True, **thread)["messages"][0]["metadata"] == META


# Changing


def test_update_changes_what_it_names(slack: SlackEmulator, client: WebClient) -> None:
    blocks = [{"type": "divider"}]
    ts = ts_of(client.chat_postMessage(channel=HOME, text="old", blocks=blocks, metadata=META))
    client.chat_update(channel=HOME, ts=ts, text="new")
    (stored,) = slack.messages(HOME)
    assert (stored["ts"], stored["text"], stored["blocks"], stored["metadata"]) == (ts, "new", blocks, META)
    assert stored["edited"]["user"] == "U0BOT"
    client.chat_update(channel=HOME, ts=ts, text="bare", blocks=[], metadata={})
    assert not {"blocks", "metadata"} & slack.messages(HOME)[0].keys()


def test_update_takes_less_text_than_a_post(client: WebClient) -> None:
    ts = ts_of(client.chat_postMessage(channel=HOME, text="x" * 4_001))
    assert refusal(lambda: client.chat_update(channel=HOME, ts=ts, text="x" * 4_001))["error"] == "msg_too_long"
    assert client.chat_update(channel=HOME, ts=ts, text="x" * 4_000)["ts"] == ts


def test_delete_removes_a_message_and_leaves_a_tombstone_over_replies(
    slack: SlackEmulator, client: WebClient
) -> None:
    first, second = (ts_of(client.chat_postMessage(channel=HOME, text="x")) for _ in range(2))
    slack.add_message(HOME, "reply", thread_ts=second)
    for ts in (first, second):
        client.chat_delete(channel=HOME, ts=ts)
    assert [message["subtype"] for message in slack.messages(HOME)] == ["tombstone"]
    assert texts(slack.replies(HOME, second)) == ["reply"]


def test_other_peoples_messages_stay(slack: SlackEmulator, client: WebClient) -> None:
    ts = slack.add_message(HOME, "mine")
    assert refusal(lambda: client.chat_update(channel=HOME, ts=ts, text="x"))["error"] == "cant_update_message"
    assert refusal(lambda: client.chat_delete(channel=HOME, ts=ts))["error"] == "cant_delete_message"


# Other methods


def test_permalinks(slack: SlackEmulator, client: WebClient) -> None:
    lead = slack.add_message(HOME, "lead")
    reply = slack.add_message(HOME, "reply", thread_ts=lead)
    top = client.chat_getPermalink(channel=HOME, message_ts=lead)["permalink"]
    below = client.chat_getPermalink(channel=HOME, message_ts=reply)["permalink"]
    assert top.endswith("/archives/C0DIGEST/p1772300000000100")
    assert below.endswith(f"/archives/C0DIGEST/p1772300000000200?thread_ts={lead}&cid=C0DIGEST")


def test_ephemeral_messages_are_not_in_the_channel(slack: SlackEmulator, client: WebClient) -> None:
    client.chat_postEphemeral(channel=HOME, user="U0HUMAN", text="only you")
    assert slack.messages(HOME) == []
    assert [(e["user"], e["text"]) for e in slack.ephemerals] == [("U0HUMAN", "only you")]


def test_channels_are_listed_and_described(slack: SlackEmulator, client: WebClient) -> None:
    slack.add_channel("C0OLD", "old", archived=True)
    slack.add_channel("G0TEAM", "team")
    slack.add_channel("G0OTHERS", "others", member=False)
    seen = client.conversations_list(types=["public_channel", "private_channel"], exclude_archived=True)
    assert [channel["id"] for channel in seen["channels"]] == [HOME, "G0TEAM"]
    assert client.conversations_info(channel="C0OLD")["channel"]["is_archived"] is True


def test_users_and_reactions(slack: SlackEmulator, client: WebClient) -> None:
    assert client.users_info(user="U0HUMAN")["user"]["is_bot"] is False
    ts = slack.add_message(HOME, "nice")
    client.reactions_add(channel=HOME, name="eyes", timestamp=ts)
    assert slack.messages(HOME)[0]["reactions"] == [{"name": "eyes", "users": ["U0BOT"], "count": 1}]
    again = refusal(lambda: client.reactions_add(channel=HOME, name="eyes", timestamp=ts))
    assert again["error"] == "already_reacted"


def test_views_are_stored_and_replaced(slack: SlackEmulator, client: WebClient) -> None:
    client.views_publish(user_id="U0HUMAN", view={"type": "home", "blocks": [{"type": "divider"}]})
    modal = {"type": "modal", "title": {"type": "plain_text", "text": "Risks"}, "blocks": []}
    opened = client.views_open(trigger_id="1.2.3", view=modal)["view"]["id"]
    client.views_update(view_id=opened, view=modal | {"private_metadata": "x"})
    assert [view["type"] for view in slack.views] == ["home", "modal"]
    assert slack.views[1]["private_metadata"] == "x"
    wide = modal | {"title": {"type": "plain_text", "text": "x" * 25}}
    assert refusal(lambda: client.views_open(trigger_id="1.2.3", view=wide))["error"] == "invalid_arguments"


# Files


def test_upload_lands_in_the_thread(slack: SlackEmulator, client: WebClient) -> None:
    lead = ts_of(client.chat_postMessage(channel=HOME, text="lead"))
    report: Json = {"filename": "report.md", "content": "# Größe\r\n", "title": "Report"}
    answer = client.files_upload_v2(channel=HOME, thread_ts=lead, initial_comment="all of it", **report)
    (reply,) = slack.replies(HOME, lead)
    assert (reply["text"], reply["files"]) == ("all of it", [answer["file"]])
    assert (reply["files"][0]["name"], reply["files"][0]["title"]) == ("report.md", "Report")
    (file,) = slack.files
    assert file["content"] == "# Größe\r\n".encode()
    assert (file["channels"], file["thread_ts"]) == ([HOME], lead)


def test_several_files_share_one_message(slack: SlackEmulator, client: WebClient) -> None:
    uploads = [{"filename": name, "content": name} for name in ("a.txt", "b.txt")]
    client.files_upload_v2(file_uploads=uploads, channel=HOME)
    assert [file["name"] for file in slack.messages(HOME)[0]["files"]] == ["a.txt", "b.txt"]


def test_multipart_upload_is_unpacked(slack: SlackEmulator, client: WebClient) -> None:
    announced = client.files_getUploadURLExternal(filename="a.bin", length=5)
    head = 'Content-Disposition: form-data; name="file"; filename="a.bin"'
    body = b"--edge\r\n" + head.encode() + b"\r\n\r\n\x00\r\n\xff!\r\n--edge--\r\n"
    headers = {"Content-Type": "multipart/form-data; boundary=edge"}
    with urllib.request.urlopen(urllib.request.Request(announced["upload_url"], body, headers)) as answer:
        assert answer.read() == b"OK - 5"
    client.files_completeUploadExternal(files=[{"id": announced["file_id"], "title": "a"}])
    assert slack.files[0]["content"] == b"\x00\r\n\xff!"
    assert slack.messages(HOME) == []


def test_a_file_that_was_not_sent_cannot_be_shared(client: WebClient) -> None:
    announced = client.files_getUploadURLExternal(filename="a.txt", length=1)
    files: list[dict[str, str | None]] = [{"id": announced["file_id"]}]
    refused = refusal(lambda: client.files_completeUploadExternal(files=files, channel_id=HOME))
    assert refused["error"] == "file_not_found"


def test_a_failed_upload_shares_nothing(slack: SlackEmulator, client: WebClient) -> None:
    slack.fail_next(UPLOAD, status=500)
    with pytest.raises(OSError, match="500"):
        client.files_upload_v2(channel=HOME, filename="a.txt", content="a")
    assert (slack.files, slack.messages(HOME)) == ([], [])


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
    ("conversations.open", {"users": "C0DIGEST"}, "user_not_found"),
    ("users.info", {"user": "nobody"}, "user_not_found"),
    ("reactions.add", {"channel": HOME, "name": "eyes", "timestamp": MISSING}, "message_not_found"),
    ("files.getUploadURLExternal", {"filename": "a.txt", "length": 0}, "invalid_arguments"),
    ("files.completeUploadExternal", {"files": "{"}, "invalid_arguments"),
    ("views.update", {"view_id": "V404", "view": {}}, "not_found"),
    ("views.open", {"view": {"type": "modal", "blocks": []}}, "invalid_arguments"),
    ("pins.add", {"channel": HOME}, "unknown_method"),
]


@pytest.mark.parametrize(("method", "arguments", "error"), REFUSALS, ids=lambda value: str(value)[:50])
def test_refusals(slack: SlackEmulator, client: WebClient, method: str, arguments: Json, error: str) -> None:
    slack.add_channel("C0OUTSIDE", "outside", member=False)
    slack.add_channel("C0OLD", "old", archived=True)
    slack.add_channel("G0SECRET", "secret", member=False)
    response = refusal(lambda: client.api_call(method, json=arguments))
    assert (response.status_code, response["error"]) == (200, error)


def test_a_reply_cannot_be_replied_to(slack: SlackEmulator, client: WebClient) -> None:
    reply = slack.add_message(HOME, "reply", thread_ts=slack.add_message(HOME, "lead"))
    response = refusal(lambda: client.chat_postMessage(channel=HOME, text="x", thread_ts=reply))
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
    with SlackEmulator(scopes=SCOPES - {needed}) as slack:
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


def test_rate_limit_is_a_429_with_retry_after(slack: SlackEmulator, client: WebClient) -> None:
    slack.fail_next("chat.postMessage", retry_after=7)
    response = refusal(lambda: client.chat_postMessage(channel=HOME, text="x"))
    assert (response.status_code, response["error"]) == (429, "ratelimited")
    assert response.headers["Retry-After"] == "7"
    assert slack.messages(HOME) == []
    assert client.chat_postMessage(channel=HOME, text="x")["ok"]


@pytest.mark.parametrize("failure", [{"status": 429}, {"error": "ratelimited"}], ids=str)
def test_a_rate_limit_always_names_a_wait(slack: SlackEmulator, client: WebClient, failure: Json) -> None:
    slack.fail_next("auth.test", **failure)
    response = refusal(client.auth_test)
    assert (response.status_code, response["error"], response.headers["Retry-After"]) == (429, "ratelimited", "1")


def test_an_error_can_come_several_times(slack: SlackEmulator, client: WebClient) -> None:
    slack.fail_next("auth.test", error="account_inactive", times=2)
    found = [refusal(client.auth_test)["error"] for _ in range(2)]
    assert found == ["account_inactive"] * 2
    assert client.auth_test()["ok"]


def test_a_post_that_fails_after_its_effect_is_in_the_channel(slack: SlackEmulator, client: WebClient) -> None:
    slack.fail_next("chat.postMessage", status=503, after_effect=True)
    response = refusal(lambda: client.chat_postMessage(channel=HOME, text="there all the same"))
    assert (response.status_code, response["error"]) == (503, "service_unavailable")
    assert texts(slack.messages(HOME)) == ["there all the same"]


@pytest.mark.parametrize(("after_effect", "posted"), [(True, ["x"]), (False, [])])
def test_a_hang_up_before_or_after_the_effect(
    slack: SlackEmulator, client: WebClient, after_effect: bool, posted: list[str]
) -> None:
    slack.fail_next("chat.postMessage", hang_up=True, after_effect=after_effect)
    with pytest.raises((http.client.HTTPException, OSError)):
        client.chat_postMessage(channel=HOME, text="x")
    assert texts(slack.messages(HOME)) == posted
    assert len(slack.calls) == 1


def test_a_failure_of_a_method_that_does_not_exist_is_a_mistake(slack: SlackEmulator) -> None:
    with pytest.raises(ValueError, match=re.escape("chat.post")):
        slack.fail_next("chat.post")


def test_hooks_run_before_and_after_the_effect(slack: SlackEmulator, client: WebClient) -> None:
    seen: list[tuple[str, int]] = []
    slack.before = lambda method, _: seen.append((method, len(slack.messages(HOME))))
    slack.after = lambda method, _: seen.append((method, len(slack.messages(HOME))))
    client.chat_postMessage(channel=HOME, text="x")
    assert seen == [("chat.postMessage", 0), ("chat.postMessage", 1)]


def test_a_hook_can_drop_the_connection(slack: SlackEmulator, client: WebClient) -> None:
    def drop(method: str, arguments: Json) -> None:
        raise HangUp

    slack.before = drop
    with pytest.raises((http.client.HTTPException, OSError)):
        client.chat_postMessage(channel=HOME, text="x")
    assert slack.messages(HOME) == []


def test_pace_allows_a_burst_and_then_one_a_second() -> None:
    now = [100.0]
    with SlackEmulator(posts_per_second=1, clock=lambda: now[0]) as slack:
        slack.add_channel("C0OTHER", "other")
        client = client_of(slack)
        for _ in range(5):
            client.chat_postMessage(channel=HOME, text="x")
        response = refusal(lambda: client.chat_postMessage(channel=HOME, text="x"))
        assert (response.status_code, response.headers["Retry-After"]) == (429, "1")
        assert client.chat_postMessage(channel="C0OTHER", text="x")["ok"]
        now[0] += 1
        assert client.chat_postMessage(channel=HOME, text="x")["ok"]
        assert refusal(lambda: client.chat_postMessage(channel=HOME, text="x"))["error"] == "ratelimited"


# What Slack takes

META: Json = {"event_type": "digest", "event_payload": {"prs": [1, 2]}}


def mrkdwn(text: str, **more: Any) -> Json:
    return {"type": "mrkdwn", "text": text, **more}


def plain(text: str) -> Json:
    return {"type": "plain_text", "text": text}


def section(text: Any = "x", **more: Any) -> Json:
    return {"type": "section", "text": mrkdwn(text) if isinstance(text, str) else text, **more}


def header(text: str = "x") -> Json:
    return {"type": "header", "text": plain(text)}


def button(**more: Any) -> Json:
    return {"type": "button", "text": plain("x"), **more}


def actions(*elements: Json) -> Json:
    return {"type": "actions", "elements": list(elements)}


def context(*elements: Json) -> Json:
    return {"type": "context", "elements": list(elements)}


def rich(*elements: Json) -> Json:
    return {"type": "rich_text", "elements": list(elements)}


def part(kind: str, *elements: Json, **more: Any) -> Json:
    return {"type": f"rich_text_{kind}", "elements": list(elements), **more}


def word(text: str = "x", **more: Any) -> Json:
    return {"type": "text", "text": text, **more}


def link(url: str = "https://example.com/1", **more: Any) -> Json:
    return {"type": "link", "url": url, **more}


def inline(*elements: Json) -> Json:
    return rich(part("section", *elements))


def bullets(**more: Any) -> Json:
    return rich(part("list", part("section", word()), **{"style": "bullet", **more}))


def table(rows: int = 1, columns: int = 1, text: str = "x", **more: Any) -> Json:
    cells = [[{"type": "raw_text", "text": text} for _ in range(columns)] for _ in range(rows)]
    return {"type": "table", "rows": cells, **more}


def data_table(rows: int = 2, **more: Any) -> Json:
    return {"caption": "x", **table(rows), "type": "data_table", **more}


def markdown(text: str = "x") -> Json:
    return {"type": "markdown", "text": text}


IMAGE: Json = {"type": "image", "image_url": "https://example.com/a.png", "alt_text": "x"}
FEEDBACK: Json = {
    "type": "feedback_buttons",
    "positive_button": {"text": plain("Good"), "value": "good"},
    "negative_button": {"text": plain("Bad"), "value": "bad"},
}

ACCEPTED: list[list[Json]] = [
    [section("x" * 3_000)],
    [section(plain("x"))],
    [{"type": "section", "fields": [mrkdwn("x" * 1_000)] * 10}],
    [section(accessory=button(action_id="a")), section(accessory=IMAGE)],
    [header("x" * 150), {"type": "divider"}, IMAGE | {"title": plain("x")}],
    [context(*[mrkdwn("x")] * 9, IMAGE)],
    [actions(*[button(action_id=str(n)) for n in range(25)])],
    [actions(button(text=plain("x" * 75), value="x" * 2_000, url=f"https://x/{'y' * 2_000}", style="primary"))],
    [{"type": "context_actions", "elements": [FEEDBACK]}],
    [{"type": "divider"}] * 50,
    [section(block_id="a" * 255), section(block_id="b")],
    [inline(word(style={"bold": True, "italic": True, "strike": True, "code": True}), link(text="x"))],
    [inline({"type": "emoji", "name": "eyes"}, {"type": "user", "user_id": "U1"})],
    [inline({"type": "usergroup", "usergroup_id": "S1"}, {"type": "channel", "channel_id": "C1"})],
    [inline({"type": "broadcast", "range": "here"}, {"type": "color", "value": "#00ff00"})],
    [inline({"type": "date", "timestamp": 1, "format": "{date}", "fallback": "x"})],
    [inline(link("mailto:a@example.com"))],
    [bullets(), bullets(style="ordered", indent=8, border=1, offset=2)],
    [rich(part("quote", word(), border=1), part("preformatted", word(), link(), language="python"))],
    [markdown("x" * 6_000)] * 2,
    [table(100, 20, column_settings=[None, {"align": "right", "is_wrapped": True}])],
    [table(1, 10, "x" * 1_000)],
    [{"type": "table", "rows": [[inline(word()), {"type": "raw_number", "value": 1.5, "text": "1.5"}]]}],
    [data_table(201, page_size=100), section("x" * 3_000)],
    [section("x" * 2_640)] * 5,
]


@pytest.mark.parametrize("blocks", ACCEPTED, ids=lambda blocks: str(blocks)[:60])
def test_accepted_blocks(blocks: list[Json]) -> None:
    assert check_message({"text": "x", "blocks": blocks}) is None
    assert check_message({"blocks": json.dumps(blocks)}) is None


INVALID: list[list[Any]] = [
    ["section"],
    [{"type": "sparkle"}],
    [{"type": ["section"]}],
    [{"text": plain("x")}],
    [{"type": "divider"}] * 51,
    [{"type": "divider", "text": plain("x")}],
    [{"type": "section"}],
    [section("")],
    [section("x" * 3_001)],
    [section(colour="red")],
    [section({"type": "markdown", "text": "x"})],
    [section({"type": "plain_text", "text": "x", "verbatim": True})],
    [section({"type": "mrkdwn", "text": None})],
    [{"type": "section", "fields": []}],
    [{"type": "section", "fields": [plain("x")] * 11}],
    [{"type": "section", "fields": [plain("x" * 2_001)]}],
    [header("")],
    [header("x" * 151)],
    [{"type": "header", "text": mrkdwn("x")}],
    [context()],
    [context(*[mrkdwn("x")] * 11)],
    [context(mrkdwn(""))],
    [context(button())],
    [actions()],
    [actions(*[button()] * 26)],
    [actions(button(action_id="a"), button(action_id="a"))],
    [actions(button(text=plain("x" * 76)))],
    [actions(button(text=mrkdwn("x")))],
    [actions(button(value="x" * 2_001))],
    [actions(button(url=f"https://x/{'y' * 3_000}"))],
    [actions(button(url="javascript:alert(1)"))],
    [actions(button(action_id="x" * 256))],
    [actions(button(style="loud"))],
    [actions({"type": "slider"})],
    [{"type": "context_actions", "elements": [FEEDBACK] * 6}],
    [{"type": "context_actions", "elements": [button()]}],
    [section(block_id="x" * 256)],
    [section(block_id="a"), header() | {"block_id": "a"}],
    [IMAGE | {"slack_file": {"id": "F1"}}],
    [{"type": "image", "image_url": "https://example.com/a.png"}],
    [rich()],
    [{"type": "rich_text"}],
    [rich(word())],
    [inline(word(""))],
    [inline(word(style={"loud": True}))],
    [inline(word(style={"bold": "yes"}))],
    [inline(word(url="https://example.com"))],
    [inline(link("example.com"))],
    [inline(link("javascript:alert(1)"))],
    [inline(link(text=""))],
    [inline({"type": "broadcast", "range": "all"})],
    [inline({"type": "user"})],
    [inline({"type": "color", "value": "red"})],
    [inline({"type": "date", "timestamp": "1", "format": "{date}"})],
    [inline({"type": "sticker"})],
    [inline(part("section", word()))],
    [bullets(style="dashed")],
    [bullets(indent=9)],
    [bullets(indent=True)],
    [bullets(border=2)],
    [rich(part("list", part("section", word())))],
    [rich(part("list", word(), style="bullet"))],
    [rich(part("preformatted", {"type": "user", "user_id": "U1"}))],
    [markdown("")],
    [markdown("x" * 12_001)],
    [table(101)],
    [table(1, 21)],
    [table(text="")],
    [table(73, 1, "x" * 137)],
    [table(column_settings=[{"align": "middle"}])],
    [data_table(1)],
    [data_table(202)],
    [data_table(page_size=101)],
    [data_table() | {"rows": table(11, 1, "x" * 1_819)["rows"]}],
    [data_table() | {"rows": [[{"type": "raw_text", "text": "a"}], [{"type": "raw_text", "text": "a"}] * 2]}],
    [{key: value for key, value in data_table().items() if key != "caption"}],
]


@pytest.mark.parametrize("blocks", INVALID, ids=lambda blocks: str(blocks)[:60])
def test_invalid_blocks(blocks: list[Any]) -> None:
    assert check_message({"text": "x", "blocks": blocks}) == "invalid_blocks"


def metadata(**more: Any) -> Json:
    return {"text": "x", "metadata": {**META, **more}}


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({}, "no_text"),
        ({"text": " \n"}, "no_text"),
        ({"text": "", "blocks": []}, "no_text"),
        ({"text": "x" * 40_000}, None),
        ({"text": "x" * 40_001}, "msg_too_long"),
        ({"markdown_text": "x" * 12_000}, None),
        ({"markdown_text": "x" * 12_001}, "msg_too_long"),
        ({"markdown_text": "x", "text": "x"}, "markdown_text_conflict"),
        ({"markdown_text": "x", "blocks": [section()]}, "markdown_text_conflict"),
        ({"blocks": "[{"}, "invalid_blocks_format"),
        ({"blocks": {"type": "divider"}}, "invalid_blocks_format"),
        ({"blocks": [table(), data_table()]}, "only_one_table_allowed"),
        ({"blocks": [markdown("x" * 6_001)] * 2}, "msg_blocks_too_long"),
        ({"blocks": [section("x" * 2_640)] * 5 + [section()]}, "msg_blocks_too_long"),
        ({"blocks": [inline(word("x" * 13_000), link(text="x" * 200))]}, "msg_blocks_too_long"),
        ({"text": "x", "attachments": [{"text": "x"}] * 101}, "too_many_attachments"),
        (metadata(), None),
        (metadata(event_type=""), "invalid_metadata_schema"),
        (metadata(event_payload=[]), "invalid_metadata_schema"),
        (metadata(entities=[]), "invalid_metadata_schema"),
        ({"text": "x", "metadata": "{"}, "invalid_metadata_format"),
        (metadata(event_payload={"x": "y" * slack_limits.METADATA_BYTES}), "metadata_too_large"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_whole_messages(arguments: Json, error: str | None) -> None:
    assert check_message(arguments) == error


# What is live


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ({"text": "<!channel> <!here|here> <!everyone>"}, ["<!channel>", "<!here|here>", "<!everyone>"]),
        ({"text": "<@U1> <!subteam^S1> <#C1|general>"}, ["<@U1>", "<!subteam^S1>", "<#C1|general>"]),
        ({"text": "@channel, @here and @everyone"}, ["@channel", "@here", "@everyone"]),
        ({"text": "&lt;!channel&gt; me@here.org @heretic a/@here <!date^1^{date}|x>"}, []),
        ({"markdown_text": "<!here> and @here"}, ["<!here>"]),
        ({"blocks": [markdown("<@U1>")]}, ["<@U1>"]),
        ({"blocks": [section("<!here> @here")]}, ["<!here>", "@here"]),
        ({"blocks": [section(mrkdwn("<!here> @here", verbatim=True))]}, ["<!here>"]),
        ({"blocks": [context(mrkdwn("<@U1>"))]}, ["<@U1>"]),
        ({"blocks": [{"type": "section", "fields": [mrkdwn("<@U1>")]}]}, ["<@U1>"]),
        ({"blocks": json.dumps([section("<@U1>")])}, ["<@U1>"]),
        ({"blocks": [header("<!here> @here"), section(plain("<!here>")), table(text="<!here>")]}, []),
        ({"blocks": [inline(word("<!here> @here"), link(text="<@U1>"))]}, []),
        ({"blocks": [inline({"type": "user", "user_id": "U1"})]}, ["<@U1>"]),
        ({"blocks": [inline({"type": "usergroup", "usergroup_id": "S1"})]}, ["<!subteam^S1>"]),
        ({"blocks": [bullets(), inline({"type": "broadcast", "range": "channel"})]}, ["<!channel>"]),
        ({"blocks": [inline({"type": "channel", "channel_id": "C1"})]}, ["<#C1>"]),
        ({"attachments": [{"fields": [{"value": "<!here>"}]}]}, ["<!here>"]),
    ],
    ids=lambda value: str(value)[:60],
)
def test_mentions(arguments: Json, found: list[str]) -> None:
    assert mentions(arguments) == found


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (
            {"text": "<https://a.example/1|one> <https://a.example/2>"},
            ["https://a.example/1", "https://a.example/2"],
        ),
        ({"text": "see https://a.example/x?a=1&amp;b=2."}, ["https://a.example/x?a=1&b=2"]),
        ({"text": "https://a.example", "parse": "none"}, []),
        ({"text": "&lt;https://a.example|x&gt;"}, ["https://a.example"]),
        (
            {"blocks": [section("https://a.example <mailto:a@example.com|mail>")]},
            ["mailto:a@example.com", "https://a.example"],
        ),
        (
            {"blocks": [section(mrkdwn("https://a.example <https://b.example|b>", verbatim=True))]},
            ["https://b.example"],
        ),
        ({"blocks": [header("https://a.example"), inline(word("https://a.example"))]}, []),
        ({"blocks": [inline(link("https://a.example"))]}, ["https://a.example"]),
        ({"blocks": [actions(button(url="https://a.example"))]}, ["https://a.example"]),
        ({"blocks": [section(accessory=button(url="https://a.example"))]}, ["https://a.example"]),
        (
            {"blocks": [markdown("[a](https://a.example/?x=1&y=2) **https://b.example**")]},
            ["https://a.example/?x=1&y=2", "https://b.example"],
        ),
        ({"markdown_text": "<https://a.example>"}, ["https://a.example"]),
        ({"blocks": [IMAGE]}, []),
    ],
    ids=lambda value: str(value)[:60],
)
def test_links(arguments: Json, found: list[str]) -> None:
    assert links(arguments) == found
