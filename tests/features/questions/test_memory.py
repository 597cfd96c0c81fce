from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from redis import Redis

from bot.app import App
from bot.errors import PrdigestError, SlackCallRefused, SlackUnavailable, StoreUnavailable
from bot.features.questions.rules import RememberedMessage, ThreadMemory
from bot.features.questions.service import (
    ATTENTION,
    MEMORIES,
    STOPS,
    Attention,
    is_listening,
    load_memory,
    note_post,
    stop_answers,
)
from bot.platform.slack.messenger import PostMetadata, SlackMessenger, write_metadata
from bot.platform.store.connection import pack_value
from tests.helpers.apps import make_app
from tests.helpers.doubles import slack_request

CHANNEL, THREAD = "C0DIGEST", "100.000000"
KEY = f"thread:{CHANNEL}:{THREAD}"
DIGEST = "digest:T0TEAM:C0DIGEST:octo/engine:2026-02-28@-0800"
DAY = "digest 2026-02-28 repo:octo/engine"
ABOUT = "summary octo/engine#7"
Message = Mapping[str, Any]


@dataclass
class Threads(SlackMessenger):
    """The part of Slack that is read: one thread; counts the reads."""

    messages: Sequence[Message] = ()
    error: PrdigestError | None = None
    reads: list[tuple[str, str]] = field(default_factory=list)

    def list_replies(self, channel: str, thread: str) -> list[Message]:
        self.reads.append((channel, thread))
        if self.error:
            raise self.error
        return list(self.messages)

    def is_own(self, message: Mapping[str, Any]) -> bool:
        return message.get("bot_id") == "B0OWN"


def own(ts: int, text: str, key: str = "", about: str = "") -> Message:
    metadata = write_metadata(PostMetadata(key, about))
    return {"ts": f"{ts}.000000", "text": text, "bot_id": "B0OWN", "metadata": metadata}


def person(ts: int, text: str) -> Message:
    return {"ts": f"{ts}.000000", "text": text, "user": "U0ADA"}


def app_in(store: Redis, *messages: Message, error: PrdigestError | None = None) -> tuple[App, Threads]:
    threads = Threads(messages, error)
    return make_app(store, messenger=threads), threads


def load(app: App, until: str = "900.000000") -> ThreadMemory:
    return load_memory(app, CHANNEL, THREAD, until)


# kept


def test_it_is_read_back_once_for_each_thread_and_kept_for_good(store: Redis) -> None:
    app, threads = app_in(store, own(100, "Engine", DIGEST, DAY), person(101, "Who?"))
    first = load(app)
    assert first == ThreadMemory(DAY, (RememberedMessage("person", "Who?"),))
    assert load(app) == first
    load_memory(app, CHANNEL, "200.0", "900.0")
    assert threads.reads == [(CHANNEL, THREAD), (CHANNEL, "200.0")]
    assert store.ttl(KEY) == -1


@pytest.mark.parametrize(
    "kept", ["", "{}", '{"about": ""}', '{"version": 1, "about": "", "messages": [{"by": "cat", "text": ""}]}']
)
def test_what_can_not_be_read_is_read_anew_from_slack(store: Redis, kept: str) -> None:
    store.set(KEY, pack_value(kept))
    app, threads = app_in(store, own(100, "Engine", about=ABOUT))
    assert load(app) == ThreadMemory(ABOUT)
    assert len(threads.reads) == 1


def test_a_memory_of_a_later_version_is_not_overwritten(store: Redis) -> None:
    later = pack_value('{"version": 2}')
    store.set(KEY, later)
    app, _ = app_in(store)
    with pytest.raises(StoreUnavailable):
        load(app)
    with pytest.raises(StoreUnavailable):
        note_post(app, slack_request(channel=CHANNEL, thread=THREAD), ABOUT, "Hello.")
    assert store.get(KEY) == later


def test_a_post_is_added_to_what_is_kept_and_begins_no_memory(store: Redis) -> None:
    (app, threads), asker = app_in(store), slack_request(channel=CHANNEL, thread=THREAD)
    note_post(app, asker, ABOUT, "Wait longer")
    assert (store.exists(KEY), threads.reads) == (0, [])
    app.tables.put(MEMORIES, ThreadMemory(DAY, (RememberedMessage("person", "Who?"),), "event:1"), CHANNEL, THREAD)
    note_post(app, asker, ABOUT, "")
    noted = RememberedMessage("bot", f"[The bot posted: {ABOUT}]")
    assert load(app) == ThreadMemory(DAY, (RememberedMessage("person", "Who?"), noted), "event:1")


# read back from Slack


@pytest.mark.parametrize(
    ("messages", "about"),
    [
        ((own(100, "Engine", DIGEST, DAY),), DAY),
        ((own(100, "Summary", "answer:1", ABOUT),), ABOUT),
        ((person(100, "Hello, who?"), own(101, "Summary", about=ABOUT)), ABOUT),
        ((own(100, "Engine", DIGEST, DAY), own(101, "Summary", "answer:1", ABOUT)), DAY),
        ((own(100, "Hello"), own(101, "Summary", about=ABOUT)), ABOUT),
        ((person(100, "Who?"), person(101, "Really?")), ""),
        ((), ""),
    ],
    ids=["digest", "answer", "later", "the first", "without a key", "people", "empty"],
)
def test_what_a_thread_is_about(store: Redis, messages: tuple[Message, ...], about: str) -> None:
    assert load(app_in(store, *messages)[0]).about == about


REBUILT: dict[str, tuple[tuple[Message, ...], tuple[tuple[str, str], ...]]] = {
    "in order, less the digest": (
        (
            own(100, "Engine: 18 merged", DIGEST, DAY),
            own(101, "Part 1", f"{DIGEST}:part:1"),
            own(101, "A notice", "answer:1"),
            person(102, "Who?"),
            own(103, "Ada.", "answer:2"),
            person(104, "And when?"),
        ),
        (("bot", "A notice"), ("person", "Who?"), ("bot", "Ada."), ("person", "And when?")),
    ),
    "from the first word of a person": (
        (person(100, "Who merged it?"), own(101, "Ada.")),
        (("person", "Who merged it?"), ("bot", "Ada.")),
    ),
    "before the question alone, by its time as a number": (
        (
            own(99, "Engine", DIGEST, DAY),
            person(100, "Before?"),
            person(900, "The question?"),
            own(901, "An answer to somebody else"),
            person(1000, "Later?"),
        ),
        (("person", "Before?"),),
    ),
    "the bot's own nods": (
        (person(100, "All done?"), own(101, "Done")),
        (("person", "All done?"), ("bot", "Done")),
    ),
    "as it was typed": (
        (
            person(100, "<@U0BOT> is <http://setup.py|setup.py> &lt; 3?"),
            own(101, "See <https://github.com/octo/engine/pull/7|#7> &amp; more"),
        ),
        (("person", "is setup.py < 3?"), ("bot", "See #7 & more")),
    ),
    "what an answer to a command is about": (
        (person(100, "Summary please?"), own(101, "Wait longer", about=ABOUT)),
        (("person", "Summary please?"), ("bot", f"[The bot posted: {ABOUT}] Wait longer")),
    ),
    # the full report stands as a file in the thread of each digest; the model's service takes no empty text
    "no file": ((own(100, "Engine", DIGEST, DAY), own(101, ""), person(102, "Who?")), (("person", "Who?"),)),
    "no words of other bots": (
        ({"ts": "100.0", "text": "Deployed?", "bot_id": "B0OTHER"}, person(101, "Who?")),
        (("person", "Who?"),),
    ),
}


@pytest.mark.parametrize(("messages", "expected"), REBUILT.values(), ids=REBUILT)
def test_what_was_written_is_remembered(
    store: Redis, messages: tuple[Message, ...], expected: tuple[tuple[str, str], ...]
) -> None:
    memory = load(app_in(store, *messages)[0])
    assert tuple((each.by, each.text) for each in memory.messages) == expected


@pytest.mark.parametrize(
    "text", ["Thanks!", "ok", ":tada:", "", "  ", "<@U0BOT>", "<@U0BOT> thank you", "lgtm :+1:", "+1"]
)
def test_remarks_are_left_out(store: Redis, text: str) -> None:
    app, _ = app_in(store, person(100, text), person(101, "Who?"))
    assert load(app).messages == (RememberedMessage("person", "Who?"),)


def test_a_long_message_is_shortened(store: Redis) -> None:
    (message,) = load(app_in(store, person(100, "why " * 3_000))[0]).messages
    assert len(message.text) <= 4_000
    assert message.text.endswith("…")


def test_a_thread_that_may_not_be_read_begins_anew(store: Redis) -> None:
    app, threads = app_in(store, error=SlackCallRefused("no scope", "missing_scope"))
    assert [load(app), load(app)] == [ThreadMemory("")] * 2
    assert len(threads.reads) == 1


def test_a_slack_that_is_away_is_asked_again(store: Redis) -> None:
    app, threads = app_in(store, own(100, "Engine", DIGEST, DAY), error=SlackUnavailable("away"))
    with pytest.raises(SlackUnavailable):
        load(app)
    threads.error = None
    assert load(app).about == DAY


# quiet and wake


@pytest.mark.parametrize(
    ("attention", "is_own", "expected"),
    [
        (None, True, True),
        (None, False, False),
        (Attention(is_on=True), False, True),
        (Attention(is_on=True), True, True),
        (Attention(is_on=False), True, False),
        (Attention(is_on=False), False, False),
    ],
)
def test_replies_are_for_the_bot_in_its_own_threads_or_where_that_was_decided(
    store: Redis, attention: Attention | None, *, is_own: bool, expected: bool
) -> None:
    tables = make_app(store).tables
    if attention:
        tables.put(ATTENTION, attention, CHANNEL, THREAD)
        assert store.ttl(f"attention:{CHANNEL}:{THREAD}") == -1
    assert is_listening(tables, CHANNEL, THREAD, is_own=is_own) is expected


def test_a_press_that_is_delivered_again_takes_back_no_later_one(store: Redis) -> None:
    tables = make_app(store).tables
    for ts in ("9.000000", "100.000000", "9.000000", "99.000000"):
        stop_answers(tables, CHANNEL, THREAD, ts)
    last = tables.get(STOPS, CHANNEL, THREAD)
    assert last
    assert last.ts == "100.000000"
