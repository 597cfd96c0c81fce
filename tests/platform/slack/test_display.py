from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from localslack.rules.messages import check_message, find_mentions
from slack_sdk import WebClient

from bot.errors import AnswerCancelled, SlackCallRefused, SlackUnavailable, StoreUnavailable
from bot.features.questions.markdown import MAX_ANSWER_LENGTH
from bot.features.questions.view import render_footer
from bot.platform import deadlines
from bot.platform.deadlines import ShutdownSignal
from bot.platform.slack.blocks import AnswerDisplay, Attachment, TaskCard, TaskStatus
from bot.platform.slack.client import make_slack_client
from bot.platform.slack.display import SlackAnswerDisplay
from bot.platform.slack.messenger import PostMetadata, SlackMessenger, write_metadata
from bot.platform.slack.requests import SlackRequest
from tests.emulators.slack.blocks import markdown
from tests.emulators.slack.client import HOME, Json, client_of
from tests.emulators.slack.server import SlackEmulator

KEY = "answer:Ev1:question"
BELOW = render_footer("", "2 diffs", "", 0)
# a piece that is shown at once
PIECE = "Requests are counted once, for the counter moved. " * 5
WORDS = [f"{n}. {PIECE}" for n in range(6)]
WHOLE = "".join(WORDS)
START, APPEND, STOP = "chat.startStream", "chat.appendStream", "chat.stopStream"
POST, UPDATE, STATUS = "chat.postMessage", "chat.update", "assistant.threads.setStatus"


def text_chunk(text: str) -> Json:
    return {"type": "markdown_text", "text": text}


class Hands:
    def __init__(self) -> None:
        self.now = 1_000.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@dataclass
class Scene:
    slack: SlackEmulator
    hands: Hands
    channel: str = HOME
    client: WebClient | None = None
    told: list[str] = field(default_factory=list)
    calls: list[tuple[float, str]] = field(default_factory=list)
    thread: str = ""
    asked: str = ""

    def __post_init__(self) -> None:
        self.slack.get_channel(self.channel)
        self.thread = self.slack.add_message(self.channel, "Digest")
        self.asked = self.slack.add_message(self.channel, "Why?", "U0ASKER", self.thread)
        self.slack.before = lambda method, _: self.calls.append((self.hands.now, method))

    @property
    def slack_request(self) -> SlackRequest:
        return SlackRequest("Ev1", "T0TEAM", self.channel, "U0ASKER", thread=self.thread)

    def open(
        self, message: str = "", key: str = KEY, on_begin: Callable[[str], None] | None = None, session: str = ""
    ) -> AnswerDisplay:
        """Open a display over a client that repeats nothing, so that a call is one call."""
        client, told, hands = self.client or client_of(self.slack), on_begin or self.told.append, self.hands
        return SlackAnswerDisplay(client, self.slack_request, key, told, message, hands, hands.sleep, session)

    def begun_before(self) -> str:
        messenger = SlackMessenger(self.client or client_of(self.slack))
        return messenger.find_begun_answer(self.channel, self.thread, KEY, self.asked)

    def show(self, display: AnswerDisplay, *pieces: str, every: float = 5.0) -> None:
        for piece in pieces:
            display.append_text(piece)
            self.hands.now += every

    @property
    def answers(self) -> list[Json]:
        return [each for each in self.slack.list_replies(self.channel, self.thread) if each.get("bot_id")]

    @property
    def text(self) -> str:
        (answer,) = self.answers
        return str(answer["blocks"][0]["text"])

    def methods(self) -> list[str]:
        return [method for _, method in self.calls]

    def assert_whole(self, text: str = WHOLE, blocks: Sequence[Any] = BELOW) -> None:
        """There is one answer, it is complete, found by its key, and nothing in it was ever live."""
        (answer,) = self.answers
        assert answer["blocks"] == [markdown(text or "…"), *blocks]
        assert answer["metadata"] == write_metadata(PostMetadata(KEY))
        assert not self.slack.is_streaming(self.channel, answer["ts"])
        assert self.slack.collect_live_parts(self.channel, answer["ts"]) == set()
        assert set(self.told) <= {answer["ts"]}


@pytest.fixture
def hands() -> Hands:
    return Hands()


@pytest.fixture
def scene(hands: Hands) -> Iterator[Scene]:
    with SlackEmulator(clock=hands) as slack:
        yield Scene(slack, hands)


# --- streamed


def test_the_first_piece_begins_a_stream_for_the_asker(scene: Scene) -> None:
    scene.open().append_text(PIECE)
    (call,) = scene.slack.list_calls_to(START)
    readers = {"recipient_team_id": "T0TEAM", "recipient_user_id": "U0ASKER"}
    assert call == {"channel": HOME, "thread_ts": scene.thread, "chunks": [text_chunk(PIECE)], **readers}
    (answer,) = scene.answers
    assert (answer["text"], answer["thread_ts"], scene.told) == (PIECE, scene.thread, [answer["ts"]])


def test_in_direct_messages_nobody_is_named(scene: Scene) -> None:
    direct = Scene(scene.slack, scene.hands, "D0ASKER")
    direct.open().append_text(PIECE)
    (call,) = scene.slack.list_calls_to(START)
    assert call == {"channel": "D0ASKER", "thread_ts": direct.thread, "chunks": [text_chunk(PIECE)]}


def test_few_words_wait_for_more(scene: Scene) -> None:
    display = scene.open()
    scene.show(display, "Requests are ", "counted once, ", every=60)
    assert scene.methods() == []
    scene.show(display, PIECE)
    assert (scene.methods(), scene.text) == ([START], "Requests are counted once, " + PIECE)


def test_words_are_appended_in_order_and_the_end_brings_what_stands_below(scene: Scene) -> None:
    display = scene.open()
    for shown, piece in enumerate(WORDS, 1):
        scene.show(display, piece)
        assert scene.text == "".join(WORDS[:shown])
    assert display.finish(WHOLE, BELOW) == scene.answers[0]["ts"]
    scene.assert_whole()
    assert scene.methods() == [START, *[APPEND] * 5, STOP]
    assert [call["chunks"] for call in scene.slack.list_calls_to(APPEND)] == [
        [text_chunk(each)] for each in WORDS[1:]
    ]


def test_words_that_come_fast_are_put_together(scene: Scene) -> None:
    display = scene.open()
    scene.show(display, *WORDS, every=0.3)
    assert scene.methods() == [START, APPEND]
    display.finish(WHOLE, BELOW)
    scene.assert_whole()


def test_the_end_may_bring_more_words(scene: Scene) -> None:
    display = scene.open()
    scene.show(display, *WORDS)
    display.finish(WHOLE + " And that is all.", BELOW)
    scene.assert_whole(WHOLE + " And that is all.")
    assert scene.methods()[-1] == STOP


def test_an_end_with_other_words_is_an_edit(scene: Scene) -> None:
    display = scene.open()
    scene.show(display, *WORDS)
    display.finish("Something else.", BELOW)
    scene.assert_whole("Something else.")


def test_what_was_never_shown_is_one_post(scene: Scene) -> None:
    assert scene.open().finish(WHOLE, BELOW) == scene.answers[0]["ts"]
    scene.assert_whole()
    assert scene.methods() == [POST]
    (call,) = scene.slack.list_calls_to(POST)
    assert (call["thread_ts"], call["unfurl_links"], call["unfurl_media"]) == (scene.thread, False, False)


def test_few_words_that_were_shown_are_one_post(scene: Scene) -> None:
    display = scene.open()
    display.append_text("Yes.")
    display.finish("Yes.", BELOW)
    scene.assert_whole("Yes.")
    assert scene.methods() == [POST]


@given(
    st.lists(
        st.tuples(
            st.text("ab \n*", max_size=3).map(lambda part: part * 90), st.sampled_from([0, 0.2, 0.9, 1.0, 7])
        ),
        max_size=20,
    ),
    st.sampled_from(["", "the end", "x" * 300]),
)
def test_however_the_words_come_all_of_them_are_there_once_and_calls_are_few(
    pieces: list[tuple[str, float]], rest: str
) -> None:
    hands = Hands()
    with SlackEmulator(clock=hands) as slack:
        scene = Scene(slack, hands)
        display, whole = scene.open(), ""
        for piece, passed in pieces:
            whole += piece
            display.append_text(piece)
            assert all(whole.startswith(answer["text"]) for answer in scene.answers)
            hands.now += passed
        shown = [at for at, _ in scene.calls]
        display.finish(whole + rest, BELOW)
        scene.assert_whole(whole + rest)
    assert all(after - before >= 1 for before, after in pairwise(shown))
    assert (len(scene.calls) <= len(shown) + 1, hands.slept, len(scene.told)) == (True, [], 1)


# --- rate limits


@pytest.mark.parametrize(("method", "shown"), [(START, 0), (APPEND, 1)])
def test_a_pause_that_slack_asks_for_is_kept_and_nothing_is_lost(scene: Scene, method: str, shown: int) -> None:
    display = scene.open()
    scene.show(display, *WORDS[:shown])
    scene.slack.fail_next(method, retry_after=30)
    again = scene.hands.now + 30
    scene.show(display, *WORDS[shown:5])
    assert scene.methods().count(method) == 1
    scene.hands.now = again
    scene.show(display, WORDS[5])
    assert (scene.methods().count(method), scene.text) == (2, WHOLE)
    display.finish(WHOLE, BELOW)
    scene.assert_whole()


@pytest.mark.parametrize(("method", "shown"), [(START, 0), (APPEND, 1)])
def test_the_end_waits_for_the_rest_of_the_pause(scene: Scene, method: str, shown: int) -> None:
    display = scene.open()
    scene.show(display, *WORDS[:shown])
    scene.slack.fail_next(method, retry_after=30)
    scene.show(display, *WORDS[shown:4])
    left = 30.0 - 5 * (4 - shown)
    display.finish(WHOLE, BELOW)
    assert scene.hands.slept == [left]
    scene.assert_whole()


def test_a_pause_without_a_length_is_some_seconds(scene: Scene) -> None:
    display = scene.open()
    scene.slack.fail_next(START, error="ratelimited", times=2)
    scene.show(display, *WORDS, every=0.5)
    assert scene.methods().count(START) <= 3
    display.finish(WHOLE, BELOW)
    scene.assert_whole()


@pytest.mark.parametrize("seconds", [2, 30])
def test_a_pause_between_edits_is_kept(scene: Scene, seconds: int) -> None:
    scene.slack.fail_next(START, error="unknown_method")
    display = scene.open()
    scene.show(display, WORDS[0])
    scene.slack.fail_next(UPDATE, retry_after=seconds)
    limited = scene.hands.now
    scene.show(display, *WORDS[1:])
    _, *later = [at for at, method in scene.calls if method == UPDATE]
    assert all(at - limited >= seconds for at in later)


@pytest.mark.parametrize("seconds", [2, 30])
def test_a_pause_before_the_last_edit_is_kept(scene: Scene, seconds: int) -> None:
    scene.slack.fail_next(START, error="unknown_method")
    display = scene.open()
    scene.show(display, WORDS[0])
    scene.slack.fail_next(UPDATE, retry_after=seconds)
    scene.show(display, *WORDS[1:], every=0)
    display.finish(WHOLE, BELOW)
    first, last = [at for at, method in scene.calls if method == UPDATE]
    assert last - first >= seconds
    scene.assert_whole()


@pytest.mark.slow
def test_a_rate_limit_at_the_end_is_waited_out_by_the_client(scene: Scene) -> None:
    scene.client = make_slack_client(scene.slack.token, scene.slack.url)
    display = scene.open()
    scene.show(display, *WORDS)
    scene.slack.fail_next(STOP, retry_after=1)
    display.finish(WHOLE, BELOW)
    scene.assert_whole()
    assert scene.methods().count(STOP) == 2


def test_a_rate_limit_in_between_is_never_waited_out(scene: Scene) -> None:
    scene.client = make_slack_client(scene.slack.token, scene.slack.url)
    display = scene.open()
    scene.show(display, "Something else. " * 30)
    scene.slack.fail_next(STOP, retry_after=1)
    display.replace_text(WORDS[0])
    assert scene.methods().count(STOP) == 1
    scene.hands.now += 5
    scene.show(display, *WORDS[1:])
    display.finish(WHOLE, BELOW)
    scene.assert_whole()


# --- a stream that is over


def test_a_stream_that_slack_ended_goes_on_by_editing(scene: Scene) -> None:
    display = scene.open()
    scene.show(display, *WORDS[:2])
    scene.slack.end_stream(HOME, scene.told[0])
    scene.show(display, *WORDS[2:])
    assert scene.text == WHOLE
    display.finish(WHOLE, BELOW)
    scene.assert_whole()
    assert STOP not in scene.methods()


def test_a_stream_that_slack_ended_before_its_end_is_edited(scene: Scene) -> None:
    display = scene.open()
    scene.show(display, *WORDS)
    scene.slack.end_stream(HOME, scene.told[0])
    display.finish(WHOLE, BELOW)
    scene.assert_whole()
    assert scene.methods()[-2:] == [STOP, UPDATE]


def test_an_answer_that_takes_longer_than_a_stream_may_is_whole(scene: Scene) -> None:
    display = scene.open()
    scene.show(display, *WORDS, every=70)
    display.finish(WHOLE, BELOW)
    scene.assert_whole()
    assert UPDATE in scene.methods()


def test_who_stops_an_answer_is_told_on_and_it_ends_as_it_is(scene: Scene) -> None:
    display = scene.open()
    scene.show(display, *WORDS[:2])
    scene.slack.stop_stream(HOME, scene.told[0])
    with pytest.raises(AnswerCancelled):
        display.append_text(WORDS[2])
    display.finish("".join(WORDS[:2]), BELOW)
    scene.assert_whole("".join(WORDS[:2]))
    assert scene.methods()[-1] == UPDATE
    assert STOP not in scene.methods()


def test_who_stops_an_answer_at_its_end_gets_it_all(scene: Scene) -> None:
    display = scene.open()
    scene.show(display, *WORDS)
    scene.slack.stop_stream(HOME, scene.told[0])
    display.finish(WHOLE, BELOW)
    scene.assert_whole()


# --- cards for what is read

DIFF = TaskCard("1.0", "Diff of #7")
FILE = TaskCard("1.1", "File a.py")


def done(task: TaskCard) -> TaskCard:
    return replace(task, status=TaskStatus.DONE)


def cards(scene: Scene) -> list[tuple[str, str]]:
    (answer,) = scene.answers
    return [(each["title"], each["status"]) for each in answer["blocks"] if each["type"] == "task_card"]


def test_cards_begin_the_stream_and_change_until_the_answer_stands_below(scene: Scene) -> None:
    display = scene.open()
    display.show_tasks(DIFF, FILE)
    assert cards(scene) == [("Diff of #7", "in_progress"), ("File a.py", "in_progress")]
    scene.hands.now += 5
    display.show_tasks(done(DIFF))
    scene.hands.now += 5
    display.show_tasks(replace(FILE, status=TaskStatus.FAILED))
    scene.hands.now += 5
    scene.show(display, *WORDS)
    display.finish(WHOLE, BELOW)
    assert cards(scene) == [("Diff of #7", "complete"), ("File a.py", "error")]
    (answer,) = scene.answers
    assert answer["blocks"][2:] == [markdown(WHOLE), *BELOW]
    assert scene.methods() == [START, APPEND, APPEND, *[APPEND] * 6, STOP]
    assert scene.slack.refusals == []


def test_cards_that_change_fast_are_sent_together_and_the_last_state_is_never_lost(scene: Scene) -> None:
    display = scene.open()
    display.show_tasks(DIFF)
    display.show_tasks(FILE)
    display.show_tasks(done(DIFF))
    display.show_tasks(done(FILE))
    assert scene.methods() == [START]
    display.finish("Yes.", BELOW)
    assert cards(scene) == [("Diff of #7", "complete"), ("File a.py", "complete")]
    assert scene.methods() == [START, STOP]


def test_what_was_being_read_when_the_answer_ends_was_not_read(scene: Scene) -> None:
    display = scene.open()
    display.show_tasks(done(DIFF), FILE)
    display.finish("That is all.", BELOW)
    assert cards(scene) == [("Diff of #7", "complete"), ("File a.py", "error")]


@pytest.mark.parametrize("code", ["unknown_method", "invalid_arguments"])
def test_where_slack_does_not_stream_the_message_has_the_cards_as_blocks(scene: Scene, code: str) -> None:
    scene.slack.fail_next(START, error=code)
    display = scene.open()
    display.show_tasks(DIFF)
    assert cards(scene) == [("Diff of #7", "in_progress")]
    scene.hands.now += 5
    display.show_tasks(done(DIFF))
    assert cards(scene) == [("Diff of #7", "complete")]
    display.finish(WHOLE, BELOW)
    (answer,) = scene.answers
    assert answer["blocks"][1:] == [markdown(WHOLE), *BELOW]


@pytest.mark.parametrize("end", ["stop_stream", "end_stream"])
def test_an_edited_stream_keeps_its_cards(scene: Scene, end: str) -> None:
    display = scene.open()
    display.show_tasks(DIFF)
    scene.hands.now += 5
    scene.show(display, WORDS[0])
    getattr(scene.slack, end)(HOME, scene.told[0])
    with suppress(AnswerCancelled):
        display.show_tasks(done(DIFF))
    display.finish(WORDS[0], BELOW)
    assert cards(scene) == [("Diff of #7", "complete")]
    assert scene.answers[0]["blocks"][1:] == [markdown(WORDS[0]), *BELOW]


def test_the_longest_answer_has_room_for_all_cards_that_are_shown(scene: Scene) -> None:
    display = scene.open()
    for place in range(60):
        display.show_tasks(TaskCard(f"1.{place}", "w" * 300, TaskStatus.DONE))
        scene.hands.now += 1
    scene.show(display, "x" * MAX_ANSWER_LENGTH)
    display.finish("x" * MAX_ANSWER_LENGTH, BELOW)
    assert len(cards(scene)) == 24
    assert scene.slack.refusals == []


def test_who_stops_an_answer_does_not_end_the_call_that_shows_it(scene: Scene) -> None:
    display, stop = scene.open(), ShutdownSignal(ShutdownSignal())
    scene.show(display, WORDS[0])
    scene.slack.before = lambda *_: stop.trigger()
    with deadlines.bound_work(60, stop):
        display.append_text(WORDS[1])
    assert scene.text == "".join(WORDS[:2])
    display.finish("".join(WORDS[:2]), BELOW)


# --- where Slack does not stream

REFUSALS = ["unknown_method", "missing_scope", "invalid_arguments", "channel_type_not_supported", "not_in_channel"]


@pytest.mark.parametrize("code", REFUSALS)
def test_where_slack_does_not_stream_an_answer_is_posted_and_edited(scene: Scene, code: str) -> None:
    scene.slack.fail_next(START, error=code)
    display = scene.open()
    scene.show(display, WORDS[0])
    (begun,) = scene.answers
    assert (begun["metadata"], scene.text) == (write_metadata(PostMetadata(KEY)), WORDS[0] + "…")
    scene.show(display, *WORDS[1:])
    assert scene.text == WHOLE
    display.finish(WHOLE, BELOW)
    scene.assert_whole()
    assert scene.methods() == [START, POST, *[UPDATE] * 6]


def test_edits_are_seconds_apart(scene: Scene) -> None:
    scene.slack.fail_next(START, error="unknown_method")
    display = scene.open()
    scene.show(display, *["Some words. "] * 200, every=0.1)
    assert 5 <= scene.methods().count(UPDATE) <= 7
    assert all(after - before >= 2.99 for before, after in pairwise(at for at, _ in scene.calls[1:]))


def test_a_channel_without_the_bot_is_refused_and_nothing_is_left(scene: Scene) -> None:
    scene.slack.workspace.channels[HOME].member = False
    for way in (stream_answer, silent):
        with pytest.raises(SlackCallRefused) as caught:
            way(scene, scene.open())
        assert caught.value.code == "not_in_channel"
    assert scene.told == []


# --- failures: each call, before and after its effect, and how the next try goes on

FAULTS: dict[str, Json] = {"server error": {"status": 500}, "lost": {"hang_up": True}}
Way = Callable[[Scene, AnswerDisplay], object]


def stream_answer(scene: Scene, display: AnswerDisplay) -> None:
    with suppress(AnswerCancelled):
        scene.show(display, *WORDS)
    display.finish(WHOLE, BELOW)


def replace_answer(scene: Scene, display: AnswerDisplay) -> None:
    scene.show(display, "Something else. " * 20)
    display.replace_text(WORDS[0])
    scene.hands.now += 5
    scene.show(display, *WORDS[1:])
    display.finish(WHOLE, BELOW)


def silent(_: Scene, display: AnswerDisplay) -> None:
    display.finish(WHOLE, BELOW)


# which call fails, in which way of writing, and whether Slack streams there
CALLS: dict[str, tuple[str, Way, bool]] = {
    "start": (START, stream_answer, True),
    "append": (APPEND, stream_answer, True),
    "stop": (STOP, stream_answer, True),
    "post": (POST, silent, True),
    "post in place of a stream": (POST, stream_answer, False),
    "edit in place of a stream": (UPDATE, stream_answer, False),
    "stop for an edit": (STOP, replace_answer, True),
    "edit of a stream": (UPDATE, replace_answer, True),
}


def try_writing(scene: Scene, way: Way, *, remembers: bool, times: int = 4) -> int:
    """Write as the job does, which is tried again where Slack is away; how many tries it took.

    Without ``remembers`` each try ended before it could keep what it was told.
    """
    for number in range(1, times + 1):
        told = scene.told[-1] if scene.told and remembers else ""
        message = told or (scene.begun_before() if number > 1 else "")
        with suppress(SlackUnavailable):
            way(scene, scene.open(message))
            return number
    raise AssertionError("it never came to an end")


@pytest.mark.slow
@pytest.mark.parametrize("remembers", [True, False], ids=["remembers", "forgets"])
@pytest.mark.parametrize("after_effect", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
@pytest.mark.parametrize(("method", "way", "streams"), CALLS.values(), ids=CALLS)
def test_wherever_slack_fails_there_is_one_whole_answer_in_the_end(
    scene: Scene, method: str, way: Way, streams: bool, fault: Json, after_effect: bool, remembers: bool
) -> None:
    if not streams:
        scene.slack.fail_next(START, error="unknown_method")
    scene.slack.fail_next(method, after_effect=after_effect, **fault)
    try_writing(scene, way, remembers=remembers)
    scene.assert_whole()


@pytest.mark.parametrize(("method", "way", "streams"), CALLS.values(), ids=CALLS)
def test_slack_may_fail_more_than_once(scene: Scene, method: str, way: Way, streams: bool) -> None:
    if not streams:
        scene.slack.fail_next(START, error="unknown_method")
    scene.slack.fail_next(method, hang_up=True, times=3)
    try_writing(scene, way, remembers=True)
    scene.assert_whole()


FAULTY = st.tuples(
    st.sampled_from([START, APPEND, STOP, POST, UPDATE]),
    st.sampled_from(
        [
            *FAULTS.values(),
            {"status": 503},
            {"error": "internal_error"},
            *({"error": code} for code in ("message_not_in_streaming_state", "unknown_method")),
            {"retry_after": 4},
        ]
    ),
    st.booleans(),
)


@given(st.lists(FAULTY, max_size=4), st.sampled_from([stream_answer, replace_answer, silent]), st.booleans())
@pytest.mark.slow
def test_whatever_fails_together_there_is_never_a_second_answer(
    faults: list[tuple[str, Json, bool]], way: Way, remembers: bool
) -> None:
    hands = Hands()
    with SlackEmulator(clock=hands) as slack:
        scene = Scene(slack, hands)
        for method, fault, after_effect in faults:
            slack.fail_next(method, after_effect=after_effect and {*fault} <= {"status", "hang_up"}, **fault)
        try:
            try_writing(scene, way, remembers=remembers, times=6)
        except SlackCallRefused:
            assert len(scene.answers) <= 1
        else:
            scene.assert_whole()


def test_a_store_that_does_not_take_the_message_loses_no_answer(scene: Scene) -> None:
    def raise_unavailable(_: str) -> None:
        raise StoreUnavailable("The store is away.")

    display = scene.open(on_begin=raise_unavailable)
    with pytest.raises(StoreUnavailable):
        display.append_text(PIECE)
    scene.told.append(scene.begun_before())
    stream_answer(scene, scene.open(scene.told[0]))
    scene.assert_whole()


def test_a_message_of_an_earlier_try_that_is_no_stream_is_not_ended_as_one(scene: Scene) -> None:
    """Slack takes twenty such calls a minute, for the streams of all threads."""
    scene.slack.fail_next(START, error="unknown_method")
    scene.show(scene.open(), WORDS[0])
    scene.open(scene.told[0]).finish(WHOLE, BELOW)
    scene.assert_whole()
    assert scene.methods() == [START, POST, UPDATE]


def test_a_message_of_an_earlier_try_that_streams_is_ended_when_slack_says_so(scene: Scene) -> None:
    scene.show(scene.open(), WORDS[0])
    scene.open(scene.told[0]).finish(WHOLE, BELOW)
    scene.assert_whole()
    assert scene.methods() == [START, UPDATE, STOP, UPDATE]


@pytest.mark.parametrize(("method", "way", "streams"), CALLS.values(), ids=CALLS)
def test_a_message_is_told_of_once(scene: Scene, method: str, way: Way, streams: bool) -> None:
    if not streams:
        scene.slack.fail_next(START, error="unknown_method")
    way(scene, scene.open())
    assert (len(scene.told), method in scene.methods()) == (1, True)


# --- another try


def test_another_try_ends_the_stream_of_the_one_before_and_edits(scene: Scene) -> None:
    scene.show(scene.open(), *WORDS[:3])
    display = scene.open(scene.told[0])
    scene.show(display, "Something else. " * 30)
    assert scene.text == "Something else. " * 30
    display.finish(WHOLE, BELOW)
    scene.assert_whole()
    assert len(scene.told) == 1


def test_another_try_of_an_answer_that_was_posted_edits_it(scene: Scene) -> None:
    scene.slack.fail_next(START, error="unknown_method")
    scene.show(scene.open(), *WORDS[:3])
    scene.open(scene.told[0]).finish(WHOLE, BELOW)
    scene.assert_whole()


def test_another_try_of_an_answer_that_was_finished_changes_nothing(scene: Scene) -> None:
    stream_answer(scene, scene.open())
    before = [replace_edited(answer) for answer in scene.answers]
    scene.open(scene.told[0]).finish(WHOLE, BELOW)
    scene.assert_whole()
    assert [{**replace_edited(answer), "text": ""} for answer in scene.answers] == [
        {**answer, "text": ""} for answer in before
    ]


def replace_edited(answer: Json) -> Json:
    return {key: value for key, value in answer.items() if key != "edited"}


def test_an_answer_whose_message_was_deleted_is_refused(scene: Scene) -> None:
    scene.show(scene.open(), *WORDS)
    scene.slack.workspace.channels[HOME].messages.pop()
    with pytest.raises(SlackCallRefused) as caught:
        scene.open(scene.told[0]).finish(WHOLE, BELOW)
    assert (caught.value.code, scene.answers) == ("message_not_found", [])


# --- in place of what was shown


@pytest.mark.parametrize("passed", [0, 0.5, 5])
@pytest.mark.parametrize("streams", [True, False], ids=["streamed", "posted"])
def test_what_replaces_the_answer_is_all_that_remains(scene: Scene, passed: float, streams: bool) -> None:
    if not streams:
        scene.slack.fail_next(START, error="unknown_method")
    display = scene.open()
    scene.show(display, "Something else. " * 30, "And more of it. " * 30, every=passed)
    display.replace_text(WORDS[0])
    scene.hands.now += passed
    scene.show(display, *WORDS[1:])
    assert scene.text == WHOLE
    display.finish(WHOLE, BELOW)
    scene.assert_whole()


def test_what_replaces_the_answer_may_be_all_of_it(scene: Scene) -> None:
    display = scene.open()
    display.append_text("Something else. " * 30)
    display.replace_text("Yes.")
    display.finish("Yes.", BELOW)
    scene.assert_whole("Yes.")


def test_what_replaces_words_that_wait_is_shown_in_their_place(scene: Scene) -> None:
    display = scene.open()
    display.append_text("Something else.")
    display.replace_text(WORDS[0])
    scene.hands.now += 5
    scene.show(display, *WORDS[1:])
    display.finish(WHOLE, BELOW)
    scene.assert_whole()
    assert UPDATE not in scene.methods()


def test_nothing_may_replace_the_answer(scene: Scene) -> None:
    display = scene.open()
    scene.show(display, "Something else. " * 30)
    display.replace_text("")
    assert scene.text == "…"
    display.finish("", BELOW)
    scene.assert_whole("")


# --- what the bot does


def shown_status(scene: Scene) -> str:
    return scene.slack.get_status(scene.channel, scene.thread)


def test_a_status_is_shown_until_the_first_words(scene: Scene) -> None:
    display = scene.open()
    display.show_status("is reading 3 diffs…")
    assert shown_status(scene) == "is reading 3 diffs…"
    display.show_status("is searching diffs…")
    display.append_text(PIECE)
    assert shown_status(scene) == ""
    assert [each["status"] for each in scene.slack.statuses] == ["is reading 3 diffs…", "is searching diffs…"]


def test_a_status_is_gone_with_an_answer_that_was_never_streamed(scene: Scene) -> None:
    display = scene.open()
    display.show_status("is reading 3 diffs…")
    display.finish("Yes.", BELOW)
    assert shown_status(scene) == ""


@pytest.mark.parametrize(
    "fault",
    [*FAULTS.values(), {"error": "missing_scope"}, {"error": "unknown_method"}, {"retry_after": 60}],
    ids=str,
)
def test_a_status_that_fails_is_not_tried_again_and_harms_nothing(scene: Scene, fault: Json) -> None:
    scene.slack.fail_next(STATUS, **fault)
    display = scene.open()
    for _ in range(3):
        display.show_status("is reading 3 diffs…")
    assert scene.methods() == [STATUS]
    stream_answer(scene, display)
    scene.assert_whole()


def test_a_status_after_the_first_words_makes_no_call(scene: Scene) -> None:
    display = scene.open()
    display.append_text(PIECE)
    display.show_status("is reading 3 diffs…")
    again = scene.open(scene.told[0])
    again.show_status("is reading 3 diffs…")
    assert scene.methods() == [START]


def test_a_status_that_is_too_long_harms_nothing(scene: Scene) -> None:
    display = scene.open()
    display.show_status("is reading " + "many " * 20 + "diffs…")
    display.finish(WHOLE, BELOW)
    scene.assert_whole()


# --- what Slack takes

LONG = "Requests are counted once, for the counter moved. " * 180
HOSTILE = "<!channel> <@U0HUMAN> @here @everyone & <https://evil.example|x> "


def assert_accepted(scene: Scene) -> None:
    """Every call was one that Slack takes, and what notifications show is short and pings nobody."""
    for method, call in scene.slack.calls:
        if method in (POST, UPDATE):
            assert len(call["text"]) <= 4_000
            assert check_message(call, text_limit=4_000) is None
            assert find_mentions({"text": call["text"]}) == []


@pytest.mark.parametrize("text", ["", "x", LONG], ids=["empty", "short", "long"])
@pytest.mark.parametrize("way", ["post", "stream", "edit"])
def test_an_answer_of_any_length_is_taken(scene: Scene, text: str, way: str) -> None:
    assert len(LONG) == 9_000
    if way == "edit":
        scene.slack.fail_next(START, error="unknown_method")
    display = scene.open()
    pieces = [text[at : at + 700] for at in range(0, len(text), 700)]
    scene.show(display, *(() if way == "post" else pieces))
    display.finish(text, BELOW)
    scene.assert_whole(text)
    assert_accepted(scene)


@pytest.mark.parametrize(
    "text",
    [HOSTILE * 5, HOSTILE * 100, "<" * 9_000, "@here" * 1_500, "&" * 9_000],
    ids=["short", "long", "brackets", "names", "ampersands"],
)
@pytest.mark.parametrize("first", [True, False], ids=["posted", "edited"])
def test_what_notifications_show_is_short_and_pings_nobody(scene: Scene, text: str, first: bool) -> None:
    display = scene.open()
    if not first:
        scene.show(display, PIECE)
    display.finish(text, BELOW)
    assert_accepted(scene)
    assert len(scene.answers) == 1


# --- the message of a try that could not tell of it


def test_a_stream_that_was_begun_after_the_question_is_found(scene: Scene) -> None:
    scene.open().append_text(PIECE)
    assert scene.begun_before() == scene.told[0]


def test_an_answer_that_was_posted_is_found_by_its_key(scene: Scene) -> None:
    other = scene.open(key="answer:Ev0:question", on_begin=lambda _: None).finish("Another.", BELOW)
    mine = scene.open().finish("Mine.", BELOW)
    assert (scene.begun_before(), other != mine) == (mine, True)


Stranger = Callable[[Scene], object]


def by_the_bot(scene: Scene, thread: str, **more: Any) -> None:
    scene.slack.workspace.add_bot_message(scene.slack.workspace.channels[HOME], "x", thread, **more)


ELSEWHERE: dict[str, Stranger] = {
    "nothing": lambda _: None,
    "people's": lambda scene: scene.slack.add_message(HOME, "x", "U0HUMAN", scene.thread),
    "people's with the key": lambda scene: scene.slack.add_message(
        HOME, "x", "U0HUMAN", scene.thread, metadata=write_metadata(PostMetadata(KEY))
    ),
    "another bot's": lambda scene: scene.slack.add_message(HOME, "x", "U0OTHER", scene.thread, bot_id="B0OTHER"),
    "of another answer": lambda scene: by_the_bot(
        scene, scene.thread, metadata=write_metadata(PostMetadata("answer:Ev0:question"))
    ),
    "of another thread": lambda scene: by_the_bot(scene, scene.slack.add_message(HOME, "y")),
    "of the channel": lambda scene: by_the_bot(scene, ""),
    "a file": lambda scene: SlackMessenger(client_of(scene.slack)).attach_file(
        HOME, scene.thread, Attachment("report.md", "Report", "All of it.")
    ),
}


@pytest.mark.parametrize("stranger", [pytest.param(make, id=name) for name, make in ELSEWHERE.items()])
def test_what_is_no_answer_of_ours_is_not_found(scene: Scene, stranger: Stranger) -> None:
    stranger(scene)
    assert scene.begun_before() == ""


def test_what_was_there_before_the_question_is_not_found(scene: Scene) -> None:
    by_the_bot(scene, scene.thread)
    scene.asked = scene.slack.add_message(HOME, "And why?", "U0ASKER", scene.thread)
    assert scene.begun_before() == ""
    by_the_bot(scene, scene.thread)
    assert scene.begun_before() == scene.answers[-1]["ts"]


def test_who_may_not_look_is_refused(scene: Scene) -> None:
    scene.slack.fail_next("conversations.replies", error="missing_scope")
    with pytest.raises(SlackCallRefused):
        scene.begun_before()


@pytest.mark.parametrize("ends", [True, False], ids=["with an answer", "with none"])
def test_a_session_that_an_earlier_attempt_left_at_work_comes_to_rest(scene: Scene, ends: bool) -> None:
    scene.slack.declare_agent()
    scene.open(session="Why?").show_status("is reading…")
    assert scene.slack.can_stop_session(scene.channel, scene.thread)
    # the process dies, and another one has the answer that the first had made
    later = scene.open(session="Why?")
    if ends:
        later.finish(WHOLE, BELOW)
    else:
        later.show_status("")
    assert not scene.slack.can_stop_session(scene.channel, scene.thread)
