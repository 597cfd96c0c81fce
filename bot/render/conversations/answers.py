"""The parts around an answer in a thread: labels of citations, small print, feedback buttons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from bot.domain.conversations.answer_end import AnswerEnd
from bot.domain.digest.models import Entry
from bot.domain.pull_requests.diff import Side
from bot.domain.pull_requests.models import PullRequest
from bot.domain.summaries.models import Evidence
from bot.domain.text.strings import one_line, plural, shorten
from bot.ports import Post, ToolCall
from bot.render.blocks.button_values import Verdict, write_verdict
from bot.render.blocks.mrkdwn import escape
from bot.render.blocks.rich_text import Block, context, plain
from bot.render.blocks.sanitize import literal
from bot.render.summaries.facts import address_of

VOTE = "answer_vote"
_LONGEST_NAME = 60
_NOTES = 1_500
_WRITTEN = "Written by a model: links to lines were checked against the diffs, the rest may be wrong"
_ENDS = {
    AnswerEnd.COMPLETE: "",
    AnswerEnd.TRUNCATED: "The model's answer was cut at its length limit: ask for a part of it.",
    AnswerEnd.TOO_LONG: "The answer was longer than a message may be: ask for a part of it.",
    AnswerEnd.LATE: "I stopped at four minutes; this is what I have.",
    AnswerEnd.STOPPED: "Stopped, as you asked.",
    AnswerEnd.BROKEN: "The model stopped in the middle ({failure}): this is what I have.",
}
_UNPROVEN = "No line proves what it says of code."


def cited(pull: PullRequest, evidence: Evidence) -> tuple[str, str]:
    """Return the label and the address of a citation."""
    name = shorten(one_line(PurePosixPath(evidence.path).name), _LONGEST_NAME)
    return f"{name}:{evidence.line}{_kind_of_line(evidence)}", address_of(pull, evidence)


def _kind_of_line(evidence: Evidence) -> str:
    """Return whether a line is unchanged or removed, in parentheses; empty for an added one."""
    if not evidence.is_change:
        return " (unchanged)"
    return " (removed)" if evidence.side is Side.OLD else ""


def describe_end(end: AnswerEnd, failure: str = "") -> str:
    """Return why an answer ends where it does, as a sentence; empty where the model had said all."""
    return _ENDS[end].format(failure=failure)


def describe_tools(calls: Sequence[ToolCall]) -> str:
    """Return what is done for the model, for the status line."""
    diffs = sum(call.name == "read_diff" for call in calls)
    if diffs:
        return f"is reading {plural(diffs, 'diff')}…"
    searched = [call.arguments.get("where") for call in calls if call.name == "search"]
    if searched:
        return "is searching the descriptions…" if set(searched) == {"text"} else "is searching the diffs…"
    if any(call.name == "taken_back" for call in calls):
        return "is looking for reverts…"
    return "is going through the pull requests…"


def below(
    note: str, read: str, not_seen: str, failed: int, *, is_unproven: bool = False, stands_in: str = ""
) -> list[Block]:
    """Render the small print and the feedback buttons under an answer.

    ``note`` says why the answer ends where it does, ``read`` and ``not_seen`` what it is based on. ``failed``
    counts the quotes that are not in the diff; ``is_unproven`` is set if it is about code without a valid quote.
    ``stands_in`` is a sentence on the author if that is no model.
    """
    parts = [
        note,
        f"Read: {read}." if read else "",
        f"Not seen: {not_seen}." if not_seen else "",
        f"{plural(failed, 'quote was', 'quotes were')} not in the diff and not linked." if failed else "",
        _UNPROVEN if is_unproven else "",
        stands_in or f"{_WRITTEN}.",
    ]
    return [context(shorten(" ".join(part for part in parts if part), _NOTES)), thumbs()]


def thumbs() -> Block:
    """Return the buttons for a good and a bad answer."""
    buttons = {
        "type": "feedback_buttons",
        "action_id": VOTE,
        "positive_button": {"text": plain("Good answer", 75), "value": write_verdict(Verdict.GOOD)},
        "negative_button": {"text": plain("Bad answer", 75), "value": write_verdict(Verdict.BAD)},
    }
    return {"type": "context_actions", "elements": [buttons]}


def private_answer(text: str, blocks: Sequence[Mapping[str, Any]]) -> Post:
    """Render an answer that only the user sees, as one message."""
    return Post(escape(shorten(one_line(text), 200)), ({"type": "markdown", "text": text}, *blocks))


def found_without_model(reason: str, title: str, entries: Sequence[Entry]) -> str:
    """Format the answer of a plain search, marked as such; ``reason`` is a sentence."""
    lead = f"**Without the model.** {literal(shorten(one_line(reason), 300))}"
    if not entries:
        return f"{lead} A plain search found none of your words in the pull requests of {title}."
    lines = [f"- [#{entry.number}]({entry.pull.url}) {_said(entry)}" for entry in entries]
    return "\n".join([f"{lead} A plain search for your words in the pull requests of {title}:", *lines])


def _said(entry: Entry) -> str:
    """Format the title and the headline of an entry."""
    title = shorten(one_line(entry.pull.title), 120)
    headline = "" if entry.summary.is_fallback else f": {shorten(one_line(entry.summary.headline), 160)}"
    return literal(title + headline)
