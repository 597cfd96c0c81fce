"""What people read around an answer in a thread: labels of citations, the status, small print, buttons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from bot.features.merges.entry import Entry
from bot.features.merges.summary import MAX_CLAIM_LENGTH, Evidence, build_evidence_url
from bot.features.questions.rules import AnswerEnd
from bot.features.questions.texts import Where
from bot.platform.markdown import sanitize_text
from bot.platform.models import ToolCall
from bot.platform.models.tools import WHERE_ARGUMENT, ToolName
from bot.platform.pulls.discussion import Discussion, Remark, RemarkKind
from bot.platform.pulls.models import PullRequest
from bot.platform.slack.blocks import Block, escape_mrkdwn, make_context, make_plain_text
from bot.platform.slack.buttons import FeedbackVerdict, write_verdict
from bot.platform.slack.messages import Post
from bot.platform.source.tools import SOURCE_TOOLS
from bot.text import format_count
from impact.source.models import DiffSide
from impact.text.strings import collapse_lines, truncate_text

VOTE = "answer_vote"
MODEL_NOTE = "Written by a model. Linked lines are checked against the code; the rest may be wrong."
GLOSSARY_NOTE = "From my glossary, without a model. For a name in the code, ask again and name its file."
_MAX_NAME_LENGTH = 60
_MAX_NOTES_LENGTH = 1_500
# why an answer ends where it does; nothing where the model had finished
ENDS = {
    AnswerEnd.COMPLETE: "",
    AnswerEnd.TRUNCATED: "The answer was truncated at the model's length limit: ask for a part of it.",
    AnswerEnd.TOO_LONG: "The answer was too long for a message: ask for a part of it.",
    AnswerEnd.LATE: "I stopped after four minutes. This is what I have so far.",
    AnswerEnd.STOPPED: "Stopped, as you asked.",
    AnswerEnd.BROKEN: "The answer is incomplete ({failure}). This is what I have so far.",
}


def label_citation(pull: PullRequest, evidence: Evidence) -> tuple[str, str]:
    name = truncate_text(collapse_lines(PurePosixPath(evidence.path).name), _MAX_NAME_LENGTH)
    removed = " (removed)" if evidence.side is DiffSide.OLD else ""
    kind = removed if evidence.is_change else " (unchanged)"
    return f"{name}:{evidence.line}{kind}", build_evidence_url(pull, evidence)


def label_remark(discussion: Discussion, remark: Remark) -> tuple[str, str]:
    if remark.kind is RemarkKind.ISSUE:
        place = f"issue {remark.anchor.removeprefix('issue-')}"
    elif remark.kind is RemarkKind.COMMENT:
        place = "a comment"
    else:
        place = "a thread" if remark.kind in (RemarkKind.RESOLVED, RemarkKind.OPEN) else "a review"
    return f"{remark.author.login} in {place}", discussion.build_remark_url(remark)


def describe_tools(calls: Sequence[ToolCall]) -> str:
    """Return what the tools do for the model, for the status line; Slack writes the name of the bot before it."""
    names = [call.name for call in calls]
    if not SOURCE_TOOLS.keys().isdisjoint(names):
        return "is reading files…"
    if ToolName.READ_DISCUSSION in names:
        return "is reading discussions…"
    if diffs := names.count(ToolName.READ_DIFF):
        return f"is reading {format_count(diffs, 'diff')}…"
    if places := [call.arguments.get(WHERE_ARGUMENT) for call in calls if call.name == ToolName.SEARCH]:
        return f"is searching {'descriptions' if all(place == Where.TEXT for place in places) else 'diffs'}…"
    if ToolName.WHERE_IS in names:
        return "is looking through tags…"
    if ToolName.TAKEN_BACK in names:
        return "is looking for reverts…"
    return "is reading the list of pull requests…"


def render_footer(
    note: str, read: str, not_seen: str, failed: int, *, is_unproven: bool = False, author: str = ""
) -> list[Block]:
    """Render the small print, if there is any, and the feedback buttons under an answer.

    ``note`` says why the answer ends where it does, ``read`` and ``not_seen`` what it is based on. ``failed``
    counts the quotes that are not in the code; ``is_unproven`` is set if it is about code without a valid quote.
    ``author`` is a sentence on who wrote it.
    """
    quotes = format_count(failed, "quote was", "quotes were")
    parts = [
        note,
        read and f"Sources: {read}.",
        not_seen and f"Not read: {not_seen}.",
        f"{quotes} not found in the code and not linked." if failed else "",
        "Not verified against the code." if is_unproven else "",
        author,
    ]
    notes = make_context(truncate_text(" ".join(filter(None, parts)), _MAX_NOTES_LENGTH))
    # a note of signs that nobody sees is none
    return [*([notes] if notes["elements"][0]["text"] else []), make_feedback_buttons()]


def make_feedback_buttons() -> Block:
    good, bad = write_verdict(FeedbackVerdict.GOOD), write_verdict(FeedbackVerdict.BAD)
    buttons = {
        "type": "feedback_buttons",
        "action_id": VOTE,
        "positive_button": {"text": make_plain_text("Good answer", 75), "value": good},
        "negative_button": {"text": make_plain_text("Bad answer", 75), "value": bad},
    }
    return {"type": "context_actions", "elements": [buttons]}


def render_private_answer(text: str, blocks: Sequence[Mapping[str, Any]]) -> Post:
    summary = escape_mrkdwn(truncate_text(collapse_lines(text), 200))
    return Post(summary, ({"type": "markdown", "text": text}, *blocks))


def format_search_answer(reason: str, title: str, entries: Sequence[Entry], gaps: str = "") -> str:
    """Format what a plain search found in the days of ``title``; ``reason`` is a sentence on why it is one.

    ``gaps`` is what could not be read.
    """
    lead = f"**Without the model.** {sanitize_text(truncate_text(collapse_lines(reason), 300))}"
    if gaps:
        follows = "there may be more" if entries else "I can't tell"
        lead += f" I couldn't read {sanitize_text(truncate_text(collapse_lines(gaps), 300))}, so {follows}."
    if gaps and not entries:
        return lead
    if not entries:
        return f"{lead} A text search found none of your words in the pull requests of {title}."
    lines = [f"{lead} Text search for your words in the pull requests of {title}:"]
    for entry in entries:
        text = truncate_text(collapse_lines(entry.pull.title), 80)
        if not entry.summary.is_fallback:
            text += f": {truncate_text(collapse_lines(entry.summary.headline), MAX_CLAIM_LENGTH)}"
        lines.append(f"- [#{entry.number}]({entry.pull.url}) {sanitize_text(text)}")
    return "\n".join(lines)
