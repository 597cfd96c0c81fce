"""The context at the beginning of every conversation in a thread: the record of its days or pull requests.

It is the same text for each question, so that the model's prompt cache holds it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from bot.domain.conversations.thread import RememberedMessage, ThreadMemory
from bot.domain.conversations.thread_subject import ThreadSubject
from bot.domain.digest.models import Entry
from bot.domain.text.strings import format_count
from bot.domain.time.day import LocalDay
from bot.platform.models.prompts import fence_text
from bot.ports import TextPart, Turn
from bot.services.questions.tools import context_text
from bot.services.questions.tools.toolbox import Toolbox

# characters: some 14,000 tokens. A busy day's list takes half; the rest holds complete diffs, which save rounds
# of reading, and make what further questions read small compared with what the prompt cache already holds
_MAX_LENGTH = 56_000
# for all pull requests together in a thread about single ones
_MAX_DIFF_LENGTH = 48_000


@dataclass(frozen=True, slots=True)
class InitialContext:
    """The text of the record, and the pull requests in it."""

    text: str
    entries: tuple[Entry, ...]


def build_initial_context(toolbox: Toolbox, subject: ThreadSubject) -> InitialContext:
    """Return the record of a thread's subject.

    Raises:
        PrdigestError: it cannot be read, such as when GitHub is unavailable.
    """
    return _render_pull_requests(toolbox, subject) if subject.numbers else _render_days(toolbox)


def _render_days(toolbox: Toolbox) -> InitialContext:
    days = toolbox.read_subject_days()
    listed = context_text.format_day_record(days, _MAX_LENGTH)
    diffs = context_text.collect_small_diffs(
        days.entries, _MAX_LENGTH - len(listed.text), toolbox.get_path_classes(days.repository)
    )
    if listed.hidden_count:
        toolbox.provenance.add_gap(f"{format_count(listed.hidden_count, 'pull request')} of the list (too long)")
    toolbox.provenance.add_days(days.span.title + (f" with {format_count(len(diffs), 'diff')}" if diffs else ""))
    for pull, _ in diffs:
        toolbox.provenance.add_unread_files(pull)
    touches = toolbox.describe_touches()
    parts = [listed.text, *([touches] if touches else []), *(text for _, text in diffs)]
    return InitialContext(fence_text("record", "\n".join(parts)), days.entries)


def _render_pull_requests(toolbox: Toolbox, subject: ThreadSubject) -> InitialContext:
    entries = tuple(toolbox.get_entry(subject.repository, number) for number in subject.numbers)
    texts = []
    for entry in entries:
        packed = context_text.fit_diff(
            entry.pull, _MAX_DIFF_LENGTH // len(entries), toolbox.get_path_classes(subject.repository)
        )
        toolbox.provenance.add_summary(entry.number)
        toolbox.provenance.add_diff(entry.pull, entry.pull.files or (), packed.left_out)
        diff = f"Diff ({packed.coverage}):\n{packed.text or '[no text diff]'}"
        texts.append(context_text.format_pull_request(entry) + ("" if entry.pull.files is None else f"\n{diff}"))
    return InitialContext(fence_text("record", "\n\n".join(texts)), entries)


def build_turns(context: InitialContext, memory: ThreadMemory, question: str, today: LocalDay) -> tuple[Turn, ...]:
    """Return the turns up to a question: the record, the thread's messages, the question, and today's date."""
    # the date comes last: the text before it stays the same for the next question
    question_parts = (
        TextPart(fence_text("question", question)),
        TextPart(f"Today is {today.date:%A} {today.date} ({today.zone})."),
    )
    dialogue = (
        *(_build_turn(each) for each in memory.messages if _has_text(each)),
        Turn("person", question_parts),
    )
    first = Turn("person", (TextPart(context.text, stable=True),))
    return _merge_turns((first, *dialogue))


def _has_text(message: RememberedMessage) -> bool:
    """Return whether a message can be sent to the model: its own must not be blank; those of people are fenced."""
    return message.by == "person" or bool(message.text.strip())


def _build_turn(message: RememberedMessage) -> Turn:
    if message.by == "bot":
        return Turn("model", (TextPart(message.text),))
    return Turn("person", (TextPart(fence_text("question", message.text)),))


def _merge_turns(turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
    """Merge consecutive turns of the same side."""
    merged: list[Turn] = []
    for turn in turns:
        if merged and merged[-1].by == turn.by:
            merged[-1] = replace(merged[-1], parts=(*merged[-1].parts, *turn.parts))
        else:
            merged.append(turn)
    return tuple(merged)
