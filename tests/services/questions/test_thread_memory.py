"""What a thread remembers: kept, and read back from Slack once where nothing is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from bot.domain.conversations.thread import Question, RememberedMessage, ThreadMemory
from bot.domain.errors import PrdigestError, SlackCallRefused, SlackUnavailable, StoreUnavailable
from bot.ports import ThreadMessage
from bot.services.questions.thread_memory import ThreadMemories, describe_post
from tests.services.doubles import MemoryContexts, slack_request

CHANNEL, THREAD = "C0DIGEST", "100.000000"
DIGEST = "digest:T0TEAM:C0DIGEST:octo/engine:2026-02-28@-0800"
DAY = "digest 2026-02-28 repo:octo/engine"
ABOUT = "summary octo/engine#7"


@dataclass
class ScriptedThreads:
    """``ThreadReader`` over a list; counts the reads."""

    messages: Sequence[ThreadMessage] = ()
    error: PrdigestError | None = None
    reads: list[tuple[str, str]] = field(default_factory=list)

    def list_messages(self, channel: str, thread: str) -> Sequence[ThreadMessage]:
        self.reads.append((channel, thread))
        if self.error:
            raise self.error
        return self.messages


def own(ts: int, text: str, **fields: Any) -> ThreadMessage:
    return ThreadMessage(f"{ts}.000000", text, is_own=True, **fields)


def person(ts: int, text: str) -> ThreadMessage:
    return ThreadMessage(f"{ts}.000000", text, is_own=False)


def rebuilt(*messages: ThreadMessage, until: str = "900.000000") -> ThreadMemory:
    return ThreadMemories(MemoryContexts(), ScriptedThreads(messages)).load_memory(CHANNEL, THREAD, until)


# kept


def test_a_memory_of_a_later_version_is_not_overwritten() -> None:
    states = MemoryContexts({f"thread:{CHANNEL}:{THREAD}": '{"version": 2}'})
    memories = ThreadMemories(states, ScriptedThreads())
    with pytest.raises(StoreUnavailable):
        memories.load_memory(CHANNEL, THREAD, "900.0")
    with pytest.raises(StoreUnavailable):
        memories.note_post(CHANNEL, THREAD, "Hello.")
    assert states.values == {f"thread:{CHANNEL}:{THREAD}": '{"version": 2}'}


def test_what_is_kept_is_not_read_again() -> None:
    threads = ScriptedThreads()
    memories = ThreadMemories(MemoryContexts(), threads)
    kept = ThreadMemory(
        ABOUT, (RememberedMessage("person", "Who?"), RememberedMessage("bot", "Ada.", is_short=True)), "event:1"
    )
    memories.save_memory(CHANNEL, THREAD, kept)
    assert memories.load_memory(CHANNEL, THREAD, "900.0") == kept
    assert threads.reads == []


def test_threads_do_not_share_it() -> None:
    threads = ScriptedThreads()
    memories = ThreadMemories(MemoryContexts(), threads)
    memories.save_memory(CHANNEL, THREAD, ThreadMemory(ABOUT))
    assert memories.load_memory(CHANNEL, "200.0", "900.0") == ThreadMemory("")
    assert memories.load_memory("C0OTHER", THREAD, "900.0") == ThreadMemory("")
    assert threads.reads == [(CHANNEL, "200.0"), ("C0OTHER", THREAD)]


def test_it_is_read_back_once() -> None:
    threads = ScriptedThreads((own(100, "Engine", key=DIGEST, about=DAY), person(101, "Who?")))
    contexts = MemoryContexts()
    first = ThreadMemories(contexts, threads).load_memory(CHANNEL, THREAD, "900.0")
    assert ThreadMemories(contexts, threads).load_memory(CHANNEL, THREAD, "900.0") == first
    assert threads.reads == [(CHANNEL, THREAD)]


@pytest.mark.parametrize(
    "kept", ["", "{}", '{"about": ""}', '{"version": 1, "about": "", "messages": [{"by": "cat", "text": ""}]}']
)
def test_what_can_not_be_read_is_read_anew_from_slack(kept: str) -> None:
    contexts = MemoryContexts()
    threads = ScriptedThreads((own(100, "Engine", about=ABOUT),))
    memories = ThreadMemories(contexts, threads)
    memories.save_memory(CHANNEL, THREAD, ThreadMemory("old"))
    contexts.values = dict.fromkeys(contexts.values, kept)
    assert memories.load_memory(CHANNEL, THREAD, "900.0") == ThreadMemory(ABOUT)
    assert len(threads.reads) == 1


def test_a_question_is_remembered_with_its_answer() -> None:
    memories = ThreadMemories(MemoryContexts(), ScriptedThreads())
    question = Question(slack_request("event:1"), "Who?", "101.0")
    memory = memories.load_memory(CHANNEL, THREAD, question.ts).add_answer(question, "Ada.")
    memories.save_memory(CHANNEL, THREAD, memory)
    again = memories.load_memory(CHANNEL, THREAD, "103.0")
    assert again.messages == (RememberedMessage("person", "Who?"), RememberedMessage("bot", "Ada."))
    assert again.add_answer(question, "Ada.") == again, "an answer that is finished twice"


# read back from Slack


@pytest.mark.parametrize(
    ("messages", "about"),
    [
        ((own(100, "Engine", key=DIGEST, about=DAY),), DAY),
        ((own(100, "Summary", key="answer:1", about=ABOUT),), ABOUT),
        ((person(100, "Hello, who?"), own(101, "Summary", about=ABOUT)), ABOUT),
        ((own(100, "Engine", key=DIGEST, about=DAY), own(101, "Summary", key="answer:1", about=ABOUT)), DAY),
        ((own(100, "Hello"), own(101, "Summary", about=ABOUT)), ABOUT),
        ((person(100, "Who?"), person(101, "Really?")), ""),
        ((), ""),
    ],
    ids=["digest", "answer", "later", "the first", "without a key", "people", "empty"],
)
def test_what_a_thread_is_about(messages: tuple[ThreadMessage, ...], about: str) -> None:
    assert rebuilt(*messages).about == about


def test_what_was_said_is_in_order_less_the_digest() -> None:
    memory = rebuilt(
        own(100, "Engine: 18 merged", key=DIGEST, about=DAY),
        own(101, "Part 1", key=f"{DIGEST}:part:1"),
        own(101, "A notice", key="answer:1"),
        person(102, "Who?"),
        own(103, "Ada.", key="answer:2"),
        person(104, "And when?"),
    )
    assert memory.messages == (
        RememberedMessage("bot", "A notice"),
        RememberedMessage("person", "Who?"),
        RememberedMessage("bot", "Ada."),
        RememberedMessage("person", "And when?"),
    )


def test_a_thread_that_a_person_began_is_remembered_from_its_first_word() -> None:
    assert rebuilt(person(100, "Who merged it?"), own(101, "Ada.")).messages == (
        RememberedMessage("person", "Who merged it?"),
        RememberedMessage("bot", "Ada."),
    )


def test_the_question_and_what_came_later_are_no_part_of_it() -> None:
    memory = rebuilt(
        own(99, "Engine", key=DIGEST, about=DAY),
        person(100, "Before?"),
        person(101, "The question?"),
        own(102, "An answer to somebody else"),
        person(1000, "Later?"),
        until="101.000000",
    )
    assert memory.messages == (RememberedMessage("person", "Before?"),)


def test_times_are_compared_as_numbers() -> None:
    assert rebuilt(person(99, "Before?"), person(100, "Now?"), until="100.000000").messages == (
        RememberedMessage("person", "Before?"),
    )


@pytest.mark.parametrize(
    "text", ["Thanks!", "ok", ":tada:", "", "  ", "<@U0BOT>", "<@U0BOT> thank you", "lgtm :+1:", "+1"]
)
def test_remarks_are_left_out(text: str) -> None:
    assert rebuilt(person(100, text), person(101, "Who?")).messages == (RememberedMessage("person", "Who?"),)


def test_the_bots_own_nods_are_kept() -> None:
    assert rebuilt(person(100, "All done?"), own(101, "Done")).messages[1] == RememberedMessage("bot", "Done")


def test_words_are_those_that_were_typed() -> None:
    memory = rebuilt(
        person(100, "<@U0BOT> is <http://setup.py|setup.py> &lt; 3?"),
        own(101, "See <https://github.com/octo/engine/pull/7|#7> &amp; more"),
    )
    assert memory.messages == (
        RememberedMessage("person", "is setup.py < 3?"),
        RememberedMessage("bot", "See #7 & more"),
    )


def test_an_answer_to_a_command_says_what_it_is_about() -> None:
    memory = rebuilt(person(100, "Summary please?"), own(101, "Wait longer", about=ABOUT))
    assert memory.messages[1] == RememberedMessage("bot", f"[The bot posted: {ABOUT}] Wait longer")
    assert describe_post(ABOUT, "") == f"[The bot posted: {ABOUT}]"


def test_a_long_message_is_shortened() -> None:
    (message,) = rebuilt(person(100, "why " * 3_000)).messages
    assert len(message.text) <= 4_000
    assert message.text.endswith("…")


def test_a_file_of_the_bots_is_nothing_said() -> None:
    """The full report stands as a file in the thread of each digest; the model's service takes no empty text."""
    memory = rebuilt(own(100, "Engine", key=DIGEST, about=DAY), own(101, ""), person(102, "Who?"))
    assert all(message.text.strip() for message in memory.messages)


def test_a_thread_that_may_not_be_read_begins_anew() -> None:
    threads = ScriptedThreads(error=SlackCallRefused("no scope", "missing_scope"))
    memories = ThreadMemories(MemoryContexts(), threads)
    assert memories.load_memory(CHANNEL, THREAD, "900.0") == ThreadMemory("")
    assert memories.load_memory(CHANNEL, THREAD, "900.0") == ThreadMemory("")
    assert len(threads.reads) == 1


def test_a_slack_that_is_away_is_asked_again() -> None:
    threads = ScriptedThreads((own(100, "Engine", key=DIGEST, about=DAY),), SlackUnavailable("away"))
    memories = ThreadMemories(MemoryContexts(), threads)
    with pytest.raises(SlackUnavailable):
        memories.load_memory(CHANNEL, THREAD, "900.0")
    threads.error = None
    assert memories.load_memory(CHANNEL, THREAD, "900.0").about == DAY


# what else the bot posts


def test_a_note_is_added_to_what_is_kept() -> None:
    memories = ThreadMemories(MemoryContexts(), ScriptedThreads())
    memories.save_memory(CHANNEL, THREAD, ThreadMemory(DIGEST, (RememberedMessage("person", "Who?"),), "event:1"))
    memories.note_post(CHANNEL, THREAD, "[The bot posted: risks]")
    kept = memories.load_memory(CHANNEL, THREAD, "900.0")
    assert kept == ThreadMemory(
        DIGEST,
        (RememberedMessage("person", "Who?"), RememberedMessage("bot", "[The bot posted: risks]")),
        "event:1",
    )


def test_a_note_in_a_thread_that_nobody_asked_in_keeps_nothing() -> None:
    contexts, threads = MemoryContexts(), ScriptedThreads()
    ThreadMemories(contexts, threads).note_post(CHANNEL, THREAD, "[The bot posted: risks]")
    assert (contexts.values, threads.reads) == ({}, [])


def test_a_store_that_is_away_is_said() -> None:
    class Away(MemoryContexts):
        def get(self, key: str) -> str | None:
            raise StoreUnavailable("away")

    memories = ThreadMemories(Away(), ScriptedThreads())
    with pytest.raises(StoreUnavailable):
        memories.load_memory(CHANNEL, THREAD, "900.0")
    with pytest.raises(StoreUnavailable):
        memories.note_post(CHANNEL, THREAD, "x")
