"""What every talk about the same thread begins with: the record of its days or pull requests, word for word.

It is the same for each question, so that the model's prompt cache holds it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from bot.domain.conversations.thread import Memory, Said
from bot.domain.conversations.thread_subject import Subject
from bot.domain.digest.models import Entry
from bot.domain.text.strings import format_count
from bot.domain.time.day import LocalDay
from bot.ports import Text, Turn
from bot.services.questions.tools import context_text
from bot.services.questions.tools.toolbox import Toolbox
from bot.services.summaries.prompts import fenced

# characters: some 14,000 tokens. A busy day's list takes half; what is left holds diffs that are whole, which
# saves rounds of reading, and makes what a further question reads small beside what the prompt cache holds already
_MOST = 56_000
# for all pull requests of a thread about single ones
_MOST_DIFF = 48_000


@dataclass(frozen=True, slots=True)
class Opening:
    """The record, and the pull requests in it."""

    text: str
    entries: tuple[Entry, ...]


def opening(toolbox: Toolbox, subject: Subject) -> Opening:
    """The record of what a thread is about.

    Raises:
        PrdigestError: it can't be had, such as when GitHub is away.
    """
    return _pulls(toolbox, subject) if subject.numbers else _days(toolbox)


def _days(toolbox: Toolbox) -> Opening:
    days = toolbox.subject_days()
    listed = context_text.day_record(days, _MOST)
    diffs = context_text.small_diffs(days.entries, _MOST - len(listed.text), toolbox.classes_of(days.repository))
    if listed.hidden:
        toolbox.ledger.unseen(f"{format_count(listed.hidden, 'pull request')} of the list (too long)")
    toolbox.ledger.days(days.span.title + (f" with {format_count(len(diffs), 'diff')}" if diffs else ""))
    for pull, _ in diffs:
        toolbox.ledger.unread_files(pull)
    return Opening(fenced("record", "\n".join([listed.text, *(text for _, text in diffs)])), days.entries)


def _pulls(toolbox: Toolbox, subject: Subject) -> Opening:
    entries = tuple(toolbox.entry(subject.repository, number) for number in subject.numbers)
    texts = []
    for entry in entries:
        packed = context_text.diff_of(
            entry.pull, _MOST_DIFF // len(entries), toolbox.classes_of(subject.repository)
        )
        toolbox.ledger.record(entry.number)
        toolbox.ledger.diff(entry.pull, entry.pull.files or (), packed.left_out)
        diff = f"Diff ({packed.coverage}):\n{packed.text or '[no text diff]'}"
        texts.append(context_text.whole(entry) + ("" if entry.pull.files is None else f"\n{diff}"))
    return Opening(fenced("record", "\n\n".join(texts)), entries)


def turns(begun: Opening, memory: Memory, question: str, today: LocalDay) -> tuple[Turn, ...]:
    """The talk up to a question: the record, what was said in the thread, the question, and what day it is."""
    # the day comes last: what stands before it is the same when the next question is asked
    asked = (Text(fenced("question", question)), Text(f"Today is {today.date:%A} {today.date} ({today.zone})."))
    said = (*(_turn(each) for each in memory.said if _says_something(each)), Turn("person", asked))
    first = Turn("person", (Text(begun.text, stable=True),))
    return _merged((first, *said))


def _says_something(said: Said) -> bool:
    """Whether the model may get it: of its own words, no blank ones. A person's stand between marks."""
    return said.by == "person" or bool(said.text.strip())


def _turn(said: Said) -> Turn:
    if said.by == "bot":
        return Turn("model", (Text(said.text),))
    return Turn("person", (Text(fenced("question", said.text)),))


def _merged(said: tuple[Turn, ...]) -> tuple[Turn, ...]:
    """One turn for all that one side said without the other."""
    found: list[Turn] = []
    for turn in said:
        if found and found[-1].by == turn.by:
            found[-1] = replace(found[-1], parts=(*found[-1].parts, *turn.parts))
        else:
            found.append(turn)
    return tuple(found)
