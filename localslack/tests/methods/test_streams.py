import http.client
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError
from slack_sdk.models.blocks import ContextActionsBlock, FeedbackButtonsElement
from slack_sdk.models.blocks.basic_components import FeedbackButtonObject
from slack_sdk.models.messages.chunk import BlocksChunk, MarkdownTextChunk, PlanUpdateChunk, TaskUpdateChunk

from localslack.errors import InvalidAction
from localslack.methods.registry import ALL_SCOPES
from localslack.testing.emulator import SlackEmulator
from tests.client import HOME, META, Json, client_of, refusal, texts, ts_of
from tests.parts import markdown, section, table

READER: Json = {"recipient_user_id": "U0ASKER", "recipient_team_id": "T0TEAM"}
FEEDBACK = ContextActionsBlock(
    elements=[
        FeedbackButtonsElement(
            action_id="feedback",
            positive_button=FeedbackButtonObject(text="Good", value="good"),
            negative_button=FeedbackButtonObject(text="Bad", value="bad"),
        )
    ]
)


class Thread:
    """A question in a channel, and the stream that answers it."""

    def __init__(self, slack: SlackEmulator, web: WebClient, channel: str = HOME) -> None:
        self.slack, self.web, self.channel = slack, web, channel
        slack.get_channel(channel)
        self.lead = slack.add_message(channel, "why?", user="U0ASKER")
        self.ts = ""

    def start(self, text: str | None = None, **more: Any) -> str:
        arguments = {"channel": self.channel, "thread_ts": self.lead, "markdown_text": text, **READER, **more}
        self.ts = ts_of(self.web.chat_startStream(**arguments))
        return self.ts

    def append(self, text: str | None = None, **more: Any) -> Any:
        return self.web.chat_appendStream(channel=self.channel, ts=self.ts, markdown_text=text, **more)

    def stop(self, text: str | None = None, **more: Any) -> Any:
        return self.web.chat_stopStream(channel=self.channel, ts=self.ts, markdown_text=text, **more)

    @property
    def message(self) -> Json:
        return self.slack.get_message(self.channel, self.ts)

    @property
    def live(self) -> set[str]:
        return self.slack.collect_live_parts(self.channel, self.ts)


@pytest.fixture
def thread(slack: SlackEmulator, web: WebClient) -> Thread:
    return Thread(slack, web)


@pytest.fixture
def hands() -> list[float]:
    """A clock that a test moves."""
    return [1_000.0]


@pytest.fixture
def timed_thread(hands: list[float]) -> Iterator[Thread]:
    with SlackEmulator(clock=lambda: hands[0]) as slack:
        yield Thread(slack, client_of(slack))


def text_chunk(text: str) -> Json:
    return {"type": "markdown_text", "text": text}


def task(**more: Any) -> Json:
    return {"type": "task_update", "id": "read", "title": "Reading", "status": "in_progress", **more}


# The way of a stream


def test_a_stream_is_a_reply_that_grows_until_it_is_stopped(slack: SlackEmulator, thread: Thread) -> None:
    thread.start("**It ")
    assert (thread.message["text"], thread.message["streaming_state"]) == ("**It ", "in_progress")
    assert (thread.message["thread_ts"], thread.message["bot_id"]) == (thread.lead, "B0LOCAL")
    assert thread.append("broke")["ts"] == thread.ts
    assert slack.is_streaming(HOME, thread.ts)
    answer = thread.stop("**.", blocks=[FEEDBACK], metadata=META)
    (stored,) = slack.list_replies(HOME, thread.lead)
    assert stored == answer["message"] == thread.message
    assert (stored["text"], stored["metadata"]) == ("**It broke**.", META)
    assert stored["blocks"] == [markdown("**It broke**."), FEEDBACK.to_dict()]
    assert (stored["streaming_state"], slack.is_streaming(HOME, thread.ts)) == ("completed", False)
    assert texts(slack.list_messages(HOME)) == ["why?"]


def test_the_clients_own_helper(slack: SlackEmulator, web: WebClient, thread: Thread) -> None:
    stream = web.chat_stream(channel=HOME, thread_ts=thread.lead, buffer_size=4, **READER)
    assert stream.append(markdown_text="abc") is None
    assert slack.calls == []
    stream.append(markdown_text="de")
    stream.append(markdown_text="fghij")
    assert texts(slack.list_replies(HOME, thread.lead)) == ["abcdefghij"]
    stream.stop(markdown_text="k", blocks=[FEEDBACK], metadata=META)
    methods = [method for method, _ in slack.calls]
    assert methods == ["chat.startStream", "chat.appendStream", "chat.stopStream"]
    assert slack.get_message(HOME, str(stream.ts))["blocks"] == [markdown("abcdefghijk"), FEEDBACK.to_dict()]


def test_the_helper_starts_a_stream_only_to_stop_it(slack: SlackEmulator, web: WebClient, thread: Thread) -> None:
    stream = web.chat_stream(channel=HOME, thread_ts=thread.lead, **READER)
    stream.stop(markdown_text="short")
    assert [method for method, _ in slack.calls] == ["chat.startStream", "chat.stopStream"]
    assert texts(slack.list_replies(HOME, thread.lead)) == ["short"]


def test_direct_messages_need_no_recipient(slack: SlackEmulator, web: WebClient) -> None:
    direct = Thread(slack, web, "D0ASKER")
    direct.start("x", recipient_user_id=None, recipient_team_id=None)
    direct.stop()
    assert direct.message["text"] == "x"


def test_a_stopped_stream_can_be_changed_and_deleted(slack: SlackEmulator, web: WebClient, thread: Thread) -> None:
    ts = thread.start("x")
    change: list[Callable[[], Any]] = [
        lambda: web.chat_update(channel=HOME, ts=ts, markdown_text="y"),
        lambda: web.chat_delete(channel=HOME, ts=ts),
    ]
    assert [refusal(call)["error"] for call in change] == ["streaming_state_conflict", "cant_delete_message"]
    thread.stop()
    change[0]()
    assert (thread.message["text"], thread.message["blocks"]) == ("y", [markdown("y")])
    assert thread.message["streaming_state"] == "completed"
    change[1]()
    assert slack.list_replies(HOME, thread.lead) == []


# Chunks


def test_chunks_are_text_cards_and_blocks(thread: Thread) -> None:
    source = {"type": "url", "url": "https://github.com/o/r/pull/1", "text": "#1"}
    thread.start(chunks=[MarkdownTextChunk(text="a"), task(details="one", sources=[source])])
    read = TaskUpdateChunk(id="read", title="Read", status="complete", details=" two", output="done")
    write = TaskUpdateChunk(id="write", title="Writing", status="pending")
    thread.append(chunks=[read, MarkdownTextChunk(text="b"), write, BlocksChunk(blocks=[section()])])
    thread.stop(chunks=[], blocks=[section("below")])
    card = {"type": "task_card", "task_id": "read", "title": "Read", "status": "complete", "output": "done"}
    other = {"type": "task_card", "task_id": "write", "title": "Writing", "status": "pending"}
    cards = [card | {"details": "one two", "sources": [source]}, other]
    assert thread.message["blocks"] == [markdown("ab"), *cards, section(), section("below")]
    assert thread.live == {"https://github.com/o/r/pull/1"}


def test_a_plan_has_the_cards_in_it(thread: Thread) -> None:
    thread.start(chunks=[PlanUpdateChunk(title="Plan"), task()], task_display_mode="plan")
    thread.stop(chunks=[PlanUpdateChunk(title="Done"), text_chunk("x")])
    plan, _ = thread.message["blocks"]
    assert (plan["title"], [card["task_id"] for card in plan["tasks"]]) == ("Done", ["read"])


@pytest.mark.parametrize(
    "chunk",
    [
        {"type": "markdown_text"},
        {"type": "markdown_text", "text": None},
        {"type": "markdown", "text": "x"},
        {"text": "x"},
        "x",
        task(title="x" * 257),
        task(details="x" * 257),
        task(output="x" * 257),
        task(status="running"),
        task(task_id="x"),
        {"type": "task_update", "id": "x", "status": "pending"},
        task(sources=[{"type": "url", "url": "here", "text": "x"}]),
        {"type": "plan_update", "title": "x" * 257},
        {"type": "plan_update"},
        {"type": "blocks", "blocks": [section()] * 51},
    ],
    ids=lambda value: str(value)[:50],
)
def test_chunks_that_slack_does_not_know(slack: SlackEmulator, thread: Thread, chunk: object) -> None:
    started = refusal(lambda: thread.start(chunks=[text_chunk("x"), chunk]))
    assert (started["error"], slack.list_replies(HOME, thread.lead)) == ("invalid_chunks", [])


def test_blocks_in_chunks_are_checked_as_others_are(thread: Thread) -> None:
    thread.start(chunks=[BlocksChunk(blocks=[section()] * 50)])
    more = {"type": "blocks", "blocks": [section()]}
    assert refusal(lambda: thread.append(chunks=[more]))["error"] == "invalid_blocks"
    assert refusal(lambda: thread.append(chunks=[{"type": "blocks", "blocks": [{"type": "sparkle"}]}]))[
        "error"
    ] == ("invalid_blocks")
    thread.stop(blocks=[section()] * 50)
    assert len(thread.message["blocks"]) == 100


@pytest.mark.parametrize(
    ("first", "second"),
    [({"text": "a"}, {"chunks": [text_chunk("b")]}), ({"chunks": [task()]}, {"text": "b"})],
    ids=["text", "chunks"],
)
def test_a_stream_stays_in_the_mode_of_its_first_piece(thread: Thread, first: Json, second: Json) -> None:
    thread.start()
    thread.append(**first)
    for call in (thread.append, thread.stop):
        assert refusal(partial(call, **second))["error"] == "streaming_mode_mismatch"
    thread.stop(**first)


# Refusals


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"channel": "C0NOWHERE"}, "channel_not_found"),
        ({"channel": "C0OUTSIDE"}, "not_in_channel"),
        ({"channel": "C0OLD"}, "is_archived"),
        ({"thread_ts": "1700000000.000001"}, "thread_not_found"),
        ({"thread_ts": "soon"}, "thread_not_found"),
        ({"thread_ts": ""}, "invalid_arguments"),
        ({"recipient_user_id": None}, "missing_recipient_user_id"),
        ({"recipient_team_id": None}, "missing_recipient_team_id"),
        ({"recipient_user_id": "B0LOCAL"}, "user_not_found"),
        ({"task_display_mode": "list"}, "invalid_arguments"),
        ({"metadata": META}, "invalid_arguments"),
        ({"blocks": [section()]}, "invalid_arguments"),
        ({"text": "x", "chunks": [text_chunk("x")]}, "cannot_provide_both_markdown_text_and_chunks"),
        ({"text": "x" * 12_001}, "msg_too_long"),
        ({"chunks": [text_chunk("x" * 6_001)] * 2}, "msg_too_long"),
        ({"chunks": [text_chunk("x" * 12_000), task()]}, "msg_too_long"),
        ({"chunks": "{"}, "invalid_chunks"),
    ],
    ids=lambda value: str(value)[:50],
)
def test_a_start_is_refused(slack: SlackEmulator, thread: Thread, arguments: Json, error: str) -> None:
    slack.add_channel("C0OUTSIDE", "outside", member=False)
    slack.add_channel("C0OLD", "old", archived=True)
    assert refusal(lambda: thread.start(**arguments))["error"] == error
    assert slack.list_replies(HOME, thread.lead) == []


def test_a_reply_begins_no_thread(slack: SlackEmulator, thread: Thread) -> None:
    reply = slack.add_message(HOME, "because", thread_ts=thread.lead)
    assert refusal(lambda: thread.start("x", thread_ts=reply))["error"] == "cannot_reply_to_message"


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({}, "markdown_text_or_chunks_required"),
        ({"text": ""}, "markdown_text_or_chunks_required"),
        ({"chunks": []}, "markdown_text_or_chunks_required"),
        ({"text": "x", "chunks": [text_chunk("x")]}, "cannot_provide_both_markdown_text_and_chunks"),
        ({"text": "x" * 11_000}, "msg_too_long"),
        ({"text": "x", "blocks": [section()]}, "invalid_arguments"),
        ({"text": "x", "thread_ts": "1.1"}, "invalid_arguments"),
    ],
    ids=lambda value: str(value)[:50],
)
def test_an_append_is_refused_and_changes_nothing(thread: Thread, arguments: Json, error: str) -> None:
    thread.start("x" * 1_001)
    before = thread.message
    assert refusal(lambda: thread.append(**arguments))["error"] == error
    assert thread.message == before
    thread.append("x" * 10_999)
    assert len(thread.message["text"]) == 12_000


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"text": "x" * 2_001}, "msg_too_long"),
        ({"blocks": [{"type": "sparkle"}]}, "invalid_blocks"),
        ({"blocks": [section()] * 51}, "invalid_blocks"),
        ({"blocks": "{"}, "invalid_blocks_format"),
        ({"blocks": [table(), table()]}, "only_one_table_allowed"),
        ({"blocks": [section("x" * 1_601)] * 2}, "msg_blocks_too_long"),
        ({"text": "y", "blocks": [markdown("x" * 2_000)]}, "msg_blocks_too_long"),
        ({"metadata": {"event_type": "x"}}, "invalid_metadata_schema"),
        ({"metadata": {"event_type": "x", "event_payload": {"x": "y" * 8_000}}}, "metadata_too_large"),
        ({"session_status": "active"}, "invalid_arguments"),
    ],
    ids=lambda value: str(value)[:50],
)
def test_a_stop_is_refused_and_the_stream_goes_on(thread: Thread, arguments: Json, error: str) -> None:
    thread.start("x" * 10_000)
    assert refusal(lambda: thread.stop(**arguments))["error"] == error
    assert thread.message["streaming_state"] == "in_progress"
    thread.stop("x", blocks=[section("x" * 1_599)] * 2)


def test_nothing_at_all_is_no_message(thread: Thread) -> None:
    thread.start()
    assert refusal(thread.stop)["error"] == "no_text"
    thread.stop(blocks=[section()])


def test_only_own_streams_can_be_written(slack: SlackEmulator, web: WebClient, thread: Thread) -> None:
    posted = ts_of(web.chat_postMessage(channel=HOME, text="x"))
    expected = {
        "1700000000.000001": "message_not_found",
        thread.lead: "message_not_owned_by_app",
        posted: "message_not_in_streaming_state",
    }
    for thread.ts, error in expected.items():
        assert refusal(lambda: thread.append("x"))["error"] == error
        assert refusal(thread.stop)["error"] == error


@pytest.mark.parametrize("method", ["chat.startStream", "chat.appendStream", "chat.stopStream"])
def test_streams_need_the_right_to_write(method: str) -> None:
    with SlackEmulator(scopes=ALL_SCOPES - {"chat:write"}) as slack:
        response = refusal(lambda: client_of(slack).api_call(method, json={"channel": HOME}))
    assert (response["error"], response["needed"]) == ("missing_scope", "chat:write")


# Ends


def test_a_stopped_stream_takes_nothing_more(thread: Thread) -> None:
    thread.start("x")
    thread.stop()
    assert_ended(thread, "message_not_in_streaming_state")


def assert_ended(thread: Thread, error: str) -> None:
    """Neither method does anything any more, and the message can be changed."""
    before = thread.message
    for call in (lambda: thread.append("y"), lambda: thread.stop("y")):
        assert refusal(call)["error"] == error
    assert thread.message == before
    assert thread.message["streaming_state"] == "completed"
    thread.web.chat_update(channel=HOME, ts=thread.ts, text="short", blocks=[markdown("whole")], metadata=META)
    assert (thread.message["text"], thread.message["metadata"]) == ("short", META)


def test_slack_ends_a_stream_after_five_minutes(timed_thread: Thread, hands: list[float]) -> None:
    timed_thread.start("x")
    hands[0] += 305.9
    timed_thread.append("y")
    assert timed_thread.message["streaming_state"] == "in_progress"
    hands[0] += 0.1
    assert timed_thread.message["streaming_state"] == "completed"
    assert_ended(timed_thread, "message_not_in_streaming_state")


def test_how_long_a_stream_lives_can_be_chosen() -> None:
    hands = [0.0]
    with SlackEmulator(clock=lambda: hands[0], stream_seconds=10) as slack:
        thread = Thread(slack, client_of(slack))
        thread.start("x")
        hands[0] += 10
        assert_ended(thread, "message_not_in_streaming_state")


def test_a_stream_can_be_ended_as_slack_does(slack: SlackEmulator, thread: Thread) -> None:
    thread.start("x")
    slack.end_stream(HOME, thread.ts)
    assert_ended(thread, "message_not_in_streaming_state")


def test_a_person_can_stop_a_stream(slack: SlackEmulator, thread: Thread) -> None:
    thread.start("x")
    slack.stop_stream(HOME, thread.ts)
    assert_ended(thread, "stopped_by_user")


def test_what_does_not_stream_cannot_be_ended(slack: SlackEmulator, thread: Thread) -> None:
    with pytest.raises(InvalidAction, match="is no stream"):
        slack.stop_stream(HOME, thread.lead)
    thread.start("x")
    thread.stop()
    with pytest.raises(InvalidAction, match="not streaming any more"):
        slack.end_stream(HOME, thread.ts)


def test_text_that_was_streamed_is_too_long_for_the_text_of_an_update(
    slack: SlackEmulator, thread: Thread
) -> None:
    thread.start("x" * 4_001)
    slack.end_stream(HOME, thread.ts)
    change: Json = {"channel": HOME, "ts": thread.ts}
    assert refusal(lambda: thread.web.chat_update(**change, text="x" * 4_001))["error"] == "msg_too_long"
    thread.web.chat_update(**change, markdown_text="x" * 12_000)
    assert len(thread.message["blocks"][0]["text"]) == 12_000


# Failures


def test_a_rate_limit_in_the_middle_keeps_what_the_helper_had(
    slack: SlackEmulator, web: WebClient, thread: Thread
) -> None:
    stream = web.chat_stream(channel=HOME, thread_ts=thread.lead, buffer_size=1, **READER)
    stream.append(markdown_text="a")
    slack.fail_next("chat.appendStream", retry_after=7)
    response = refusal(lambda: stream.append(markdown_text="b"))
    assert (response.status_code, response.headers["Retry-After"]) == (429, "7")
    assert texts(slack.list_replies(HOME, thread.lead)) == ["a"]
    stream.append(markdown_text="c")
    stream.stop()
    assert texts(slack.list_replies(HOME, thread.lead)) == ["abc"]


@pytest.mark.parametrize(("after_effect", "expected_text"), [(True, "ab"), (False, "a")])
def test_an_append_may_be_lost_or_only_its_answer(thread: Thread, after_effect: bool, expected_text: str) -> None:
    thread.start("a")
    thread.slack.fail_next("chat.appendStream", status=503, after_effect=after_effect)
    with pytest.raises(SlackApiError):
        thread.append("b")
    assert thread.message["text"] == expected_text


@pytest.mark.parametrize(("after_effect", "state"), [(True, "completed"), (False, "in_progress")])
def test_a_stop_may_be_done_without_an_answer(thread: Thread, after_effect: bool, state: str) -> None:
    thread.start("a")
    thread.slack.fail_next("chat.stopStream", hang_up=True, after_effect=after_effect)
    with pytest.raises((http.client.HTTPException, OSError)):
        thread.stop()
    assert thread.message["streaming_state"] == state


def test_a_start_that_hangs_up_may_have_begun(slack: SlackEmulator, thread: Thread) -> None:
    slack.fail_next("chat.startStream", hang_up=True, after_effect=True)
    with pytest.raises((http.client.HTTPException, OSError)):
        thread.start("a")
    assert texts(slack.list_replies(HOME, thread.lead)) == ["a"]


@pytest.mark.parametrize("method", ["chat.startStream", "chat.appendStream", "chat.stopStream"])
def test_any_error_can_be_asked_for(slack: SlackEmulator, web: WebClient, method: str) -> None:
    slack.fail_next(method, error="internal_error")
    assert refusal(lambda: web.api_call(method, json={"channel": HOME}))["error"] == "internal_error"


# What is live


@pytest.mark.parametrize(
    ("pieces", "live_parts"),
    [
        (["plain <b>, @here and `x`"], []),
        (["<!he", "re>"], ["<!here>"]),
        (["<", "@U123> <#C1|x>"], ["<@U123>", "<#C1|x>"]),
        (["&lt;!here&gt;"], []),
        (["[a](https://a.exam", "ple/1)"], ["https://a.exam", "https://a.example/1"]),
        (
            ["![i](https://a.example/i.png) <https://b.example|b>"],
            ["https://a.example/i.png", "https://b.example"],
        ),
        (["[a](https://a.example)[b](HTTPS://b.example)"], ["https://a.example", "HTTPS://b.example"]),
        (["[a](slack://user?id=1)"], ["slack://user?id=1"]),
    ],
    ids=str,
)
def test_every_state_of_a_stream_counts(thread: Thread, pieces: list[str], live_parts: list[str]) -> None:
    thread.start(pieces[0])
    for text in pieces[1:]:
        thread.append(text)
    thread.stop()
    assert thread.live == set(live_parts)


def test_what_was_live_for_a_moment_stays_known(web: WebClient, thread: Thread) -> None:
    thread.start("<https://github.com")
    thread.append("/o/r/pull/1|one>")
    thread.stop(blocks=[section("<@U9>")])
    web.chat_update(channel=HOME, ts=thread.ts, text="<!here>")
    web.chat_update(channel=HOME, ts=thread.ts, markdown_text="nothing")
    whole = "https://github.com/o/r/pull/1"
    assert thread.live == {"https://github.com", whole, "<@U9>", "<!here>"}


def test_posts_have_one_state_only(slack: SlackEmulator, web: WebClient) -> None:
    ts = ts_of(web.chat_postMessage(channel=HOME, markdown_text="<@U1> [x](https://a.example)"))
    assert slack.collect_live_parts(HOME, ts) == {"<@U1>", "https://a.example"}
