"""The Slack emulator, seen through the real client: messages, threads, channels and views."""

import json
import threading

import pytest
from slack_sdk import WebClient

from localslack.methods.registry import ALL_SCOPES
from localslack.testing.emulator import SlackEmulator
from tests.client import HOME, META, Json, client_of, refusal, texts, ts_of

# Posting


def test_says_who_the_bot_is_and_what_it_may_do(web: WebClient) -> None:
    answer = web.auth_test()
    assert (answer["team_id"], answer["user_id"], answer["bot_id"]) == ("T0TEAM", "U0BOT", "B0LOCAL")
    assert "chat:write" in answer.headers["x-oauth-scopes"].split(",")


def test_api_prefix_is_accepted(slack: SlackEmulator) -> None:
    web = WebClient(token="xoxb-test", base_url=f"{slack.url}/api/")
    assert web.chat_postMessage(channel=HOME, text="hello")["channel"] == HOME


def test_post_is_stored_as_it_was_sent(slack: SlackEmulator, web: WebClient) -> None:
    blocks = [{"type": "section", "text": {"type": "mrkdwn", "text": "a &amp; b"}}]
    metadata = {"event_type": "report", "event_payload": {"day": "2026-02-28"}}
    answer = web.chat_postMessage(channel=HOME, text="a &amp; b", blocks=blocks, metadata=metadata)
    (stored,) = slack.list_messages(HOME)
    assert stored == answer["message"]
    assert (stored["text"], stored["blocks"], stored["metadata"]) == ("a &amp; b", blocks, metadata)
    assert (stored["user"], stored["bot_id"], stored["app_id"]) == ("U0BOT", "B0LOCAL", "A0LOCAL")


def test_ts_are_unique_and_increasing(web: WebClient) -> None:
    timestamps = [ts_of(web.chat_postMessage(channel=HOME, text="x")) for _ in range(3)]
    assert timestamps == ["1772300000.000100", "1772300000.000200", "1772300000.000300"]


def test_ts_follow_a_given_clock() -> None:
    with SlackEmulator(now=lambda: 1_800_000_000.5) as slack:
        assert ts_of(client_of(slack).chat_postMessage(channel=HOME, text="x")) == "1800000000.500100"


def test_form_arguments_mean_the_same_as_json(slack: SlackEmulator, web: WebClient) -> None:
    blocks = [{"type": "divider"}]
    form = {"channel": HOME, "text": "x", "blocks": json.dumps(blocks), "metadata": json.dumps(META)}
    web.api_call("chat.postMessage", params=form)
    assert (slack.list_messages(HOME)[0]["blocks"], slack.list_messages(HOME)[0]["metadata"]) == (blocks, META)


def test_markdown_text_becomes_a_markdown_block(slack: SlackEmulator, web: WebClient) -> None:
    web.chat_postMessage(channel=HOME, markdown_text="**x**")
    assert slack.list_messages(HOME)[0]["blocks"] == [{"type": "markdown", "text": "**x**"}]


def test_direct_message_by_user_id_and_by_opening(slack: SlackEmulator, web: WebClient) -> None:
    opened = web.conversations_open(users=["U0HUMAN"])["channel"]["id"]
    assert web.chat_postMessage(channel="U0HUMAN", text="hi")["channel"] == opened
    assert texts(slack.list_messages(opened)) == ["hi"]


def test_calls_are_kept_in_order_without_the_token(slack: SlackEmulator, web: WebClient) -> None:
    web.auth_test()
    web.chat_postMessage(channel=HOME, text="x")
    assert slack.calls == [("auth.test", {}), ("chat.postMessage", {"channel": HOME, "text": "x"})]
    assert slack.list_calls_to("chat.postMessage") == [{"channel": HOME, "text": "x"}]


def test_concurrent_posts_are_all_kept(slack: SlackEmulator) -> None:
    threads = [
        threading.Thread(target=client_of(slack).chat_postMessage, kwargs={"channel": HOME, "text": str(n)})
        for n in range(20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(map(int, texts(slack.list_messages(HOME)))) == list(range(20))
    assert len({message["ts"] for message in slack.list_messages(HOME)}) == len(slack.calls) == 20


# Threads


def test_replies_are_in_the_thread_and_not_in_the_channel(slack: SlackEmulator, web: WebClient) -> None:
    lead = ts_of(web.chat_postMessage(channel=HOME, text="lead"))
    web.chat_postMessage(channel=HOME, text="details", thread_ts=lead)
    slack.add_message(HOME, "why?", thread_ts=lead)
    (parent,) = slack.list_messages(HOME)
    assert (parent["reply_count"], parent["reply_users"]) == (2, ["U0BOT", "U0HUMAN"])
    assert texts(slack.list_replies(HOME, lead)) == ["details", "why?"]
    assert texts(web.conversations_replies(channel=HOME, ts=lead)["messages"]) == ["lead", "details", "why?"]


def test_a_broadcast_reply_is_in_both(slack: SlackEmulator, web: WebClient) -> None:
    lead = slack.add_message(HOME, "lead")
    web.chat_postMessage(channel=HOME, text="loud", thread_ts=lead, reply_broadcast=True)
    assert texts(slack.list_messages(HOME)) == ["lead", "loud"]
    assert texts(slack.list_replies(HOME, lead)) == ["loud"]


def test_replies_come_in_pages_with_the_parent_first(slack: SlackEmulator, web: WebClient) -> None:
    lead = slack.add_message(HOME, "lead")
    for n in range(4):
        slack.add_message(HOME, str(n), thread_ts=lead)
    pages = [texts(page["messages"]) for page in web.conversations_replies(channel=HOME, ts=lead, limit=2)]
    assert pages == [["lead", "0"], ["1", "2"], ["3"]]


# History


def test_history_is_newest_first_and_pages_to_the_end(slack: SlackEmulator, web: WebClient) -> None:
    for n in range(5):
        slack.add_message(HOME, str(n))
    pages = [texts(page["messages"]) for page in web.conversations_history(channel=HOME, limit=2)]
    assert pages == [["4", "3"], ["2", "1"], ["0"]]
    assert web.conversations_history(channel=HOME, limit=2)["has_more"] is True
    assert web.conversations_history(channel=HOME, limit=5)["has_more"] is False


@pytest.mark.parametrize(
    ("window", "expected_texts"),
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
    slack: SlackEmulator, web: WebClient, window: Json, expected_texts: list[str]
) -> None:
    posted = [slack.add_message(HOME, str(n)) for n in range(4)]
    ends: Json = {key: posted[value] if key in {"oldest", "latest"} else value for key, value in window.items()}
    assert texts(web.conversations_history(channel=HOME, **ends)["messages"]) == expected_texts


def test_metadata_is_read_only_when_asked_for(web: WebClient) -> None:
    lead = ts_of(web.chat_postMessage(channel=HOME, text="x", metadata=META))
    for ask in (web.conversations_history, web.conversations_replies):
        thread: Json = {"ts": lead} if ask == web.conversations_replies else {}
        assert "metadata" not in ask(channel=HOME, **thread)["messages"][0]
        assert ask(channel=HOME, include_all_metadata=True, **thread)["messages"][0]["metadata"] == META


# Changing


def test_update_changes_what_it_names(slack: SlackEmulator, web: WebClient) -> None:
    blocks = [{"type": "divider"}]
    ts = ts_of(web.chat_postMessage(channel=HOME, text="old", blocks=blocks, metadata=META))
    web.chat_update(channel=HOME, ts=ts, text="new")
    (stored,) = slack.list_messages(HOME)
    assert (stored["ts"], stored["text"], stored["blocks"], stored["metadata"]) == (ts, "new", blocks, META)
    assert stored["edited"]["user"] == "U0BOT"
    web.chat_update(channel=HOME, ts=ts, text="bare", blocks=[], metadata={})
    assert not {"blocks", "metadata"} & slack.list_messages(HOME)[0].keys()


def test_update_takes_less_text_than_a_post(web: WebClient) -> None:
    ts = ts_of(web.chat_postMessage(channel=HOME, text="x" * 4_001))
    assert refusal(lambda: web.chat_update(channel=HOME, ts=ts, text="x" * 4_001))["error"] == "msg_too_long"
    assert web.chat_update(channel=HOME, ts=ts, text="x" * 4_000)["ts"] == ts


def test_delete_removes_a_message_and_leaves_a_tombstone_over_replies(
    slack: SlackEmulator, web: WebClient
) -> None:
    first, second = (ts_of(web.chat_postMessage(channel=HOME, text="x")) for _ in range(2))
    slack.add_message(HOME, "reply", thread_ts=second)
    for ts in (first, second):
        web.chat_delete(channel=HOME, ts=ts)
    assert [message["subtype"] for message in slack.list_messages(HOME)] == ["tombstone"]
    assert texts(slack.list_replies(HOME, second)) == ["reply"]


def test_other_peoples_messages_stay(slack: SlackEmulator, web: WebClient) -> None:
    ts = slack.add_message(HOME, "mine")
    assert refusal(lambda: web.chat_update(channel=HOME, ts=ts, text="x"))["error"] == "cant_update_message"
    assert refusal(lambda: web.chat_delete(channel=HOME, ts=ts))["error"] == "cant_delete_message"


# Other methods


def test_permalinks(slack: SlackEmulator, web: WebClient) -> None:
    lead = slack.add_message(HOME, "lead")
    reply = slack.add_message(HOME, "reply", thread_ts=lead)
    top = web.chat_getPermalink(channel=HOME, message_ts=lead)["permalink"]
    below = web.chat_getPermalink(channel=HOME, message_ts=reply)["permalink"]
    assert top.endswith("/archives/C0GENERAL/p1772300000000100")
    assert below.endswith(f"/archives/C0GENERAL/p1772300000000200?thread_ts={lead}&cid=C0GENERAL")


def test_ephemeral_messages_are_not_in_the_channel(slack: SlackEmulator, web: WebClient) -> None:
    web.chat_postEphemeral(channel=HOME, user="U0HUMAN", text="only you")
    assert slack.list_messages(HOME) == []
    assert [(e["user"], e["text"]) for e in slack.ephemerals] == [("U0HUMAN", "only you")]


def test_an_ephemeral_message_is_shown_only_in_a_thread_with_replies(slack: SlackEmulator, web: WebClient) -> None:
    lead = slack.add_message(HOME, "lead")
    response = web.chat_postEphemeral(channel=HOME, user="U0HUMAN", text="hidden", thread_ts=lead)
    assert (response["ok"], bool(response["message_ts"])) == (True, True)
    assert (slack.ephemerals, [shown["text"] for shown in slack.unshown]) == ([], ["hidden"])
    slack.add_message(HOME, "reply", thread_ts=lead)
    web.chat_postEphemeral(channel=HOME, user="U0HUMAN", text="seen", thread_ts=lead)
    assert [(shown["text"], shown["thread_ts"]) for shown in slack.ephemerals] == [("seen", lead)]


def test_channels_are_listed_and_described(slack: SlackEmulator, web: WebClient) -> None:
    slack.add_channel("C0OLD", "old", archived=True)
    slack.add_channel("G0TEAM", "team")
    slack.add_channel("G0OTHERS", "others", member=False)
    seen = web.conversations_list(types=["public_channel", "private_channel"], exclude_archived=True)
    assert [channel["id"] for channel in seen["channels"]] == [HOME, "G0TEAM"]
    assert web.conversations_info(channel="C0OLD")["channel"]["is_archived"] is True


def test_users_and_reactions(slack: SlackEmulator, web: WebClient) -> None:
    assert web.users_info(user="U0HUMAN")["user"]["is_bot"] is False
    slack.workspace.scopes = ALL_SCOPES
    ts = slack.add_message(HOME, "nice")
    web.reactions_add(channel=HOME, name="eyes", timestamp=ts)
    assert slack.list_messages(HOME)[0]["reactions"] == [{"name": "eyes", "users": ["U0BOT"], "count": 1}]
    again = refusal(lambda: web.reactions_add(channel=HOME, name="eyes", timestamp=ts))
    assert again["error"] == "already_reacted"


def test_views_are_stored_and_replaced(slack: SlackEmulator, web: WebClient) -> None:
    web.views_publish(user_id="U0HUMAN", view={"type": "home", "blocks": [{"type": "divider"}]})
    modal = {"type": "modal", "title": {"type": "plain_text", "text": "Risks"}, "blocks": []}
    opened = web.views_open(trigger_id=slack.make_trigger_id(), view=modal)["view"]["id"]
    web.views_update(view_id=opened, view=modal | {"private_metadata": "x"})
    assert [view["type"] for view in slack.views] == ["home", "modal"]
    assert slack.views[1]["private_metadata"] == "x"
