"""The parts around an answer in a thread: labels of citations, small print, feedback buttons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from bot.domain.conversations.search import Where
from bot.domain.conversations.tool_names import WHERE_ARGUMENT, ToolName
from bot.domain.digest.models import Entry
from bot.domain.pull_requests.discussion import Discussion, Remark
from bot.domain.pull_requests.models import PullRequest
from bot.domain.summaries.models import Evidence
from bot.domain.text.strings import collapse_lines, truncate_text
from bot.ports import Post, ToolCall
from bot.render.blocks.button_values import FeedbackVerdict, write_verdict
from bot.render.blocks.mrkdwn import escape_mrkdwn
from bot.render.blocks.rich_text import Block, make_context, make_plain_text
from bot.render.blocks.sanitize import sanitize_text
from bot.render.conversations import sentences
from bot.render.summaries.evidence_url import build_evidence_url

VOTE = "answer_vote"
_MAX_NAME_LENGTH = 60
_MAX_NOTES_LENGTH = 1_500


def label_citation(pull: PullRequest, evidence: Evidence) -> tuple[str, str]:
    """Return the label and the address of a citation."""
    name = truncate_text(collapse_lines(PurePosixPath(evidence.path).name), _MAX_NAME_LENGTH)
    return f"{name}:{evidence.line}{sentences.format_line_kind(evidence)}", build_evidence_url(pull, evidence)


def label_remark(discussion: Discussion, remark: Remark) -> tuple[str, str]:
    """Return the label and the address of a quote of what somebody wrote."""
    return sentences.format_remark(remark), discussion.build_remark_url(remark)


def describe_tools(calls: Sequence[ToolCall]) -> str:
    """Return what the tools do for the model, for the status line."""
    if any(call.name in (ToolName.READ_FILE, ToolName.FIND_USES) for call in calls):
        return sentences.READING_FILES
    if any(call.name == ToolName.READ_DISCUSSION for call in calls):
        return sentences.READING_DISCUSSIONS
    diffs = sum(call.name == ToolName.READ_DIFF for call in calls)
    if diffs:
        return sentences.format_diff_reading(diffs)
    searched = [call.arguments.get(WHERE_ARGUMENT) for call in calls if call.name == ToolName.SEARCH]
    if searched:
        return (
            sentences.SEARCHING_TEXT
            if all(where == Where.TEXT for where in searched)
            else sentences.SEARCHING_DIFFS
        )
    if any(call.name == ToolName.TAKEN_BACK for call in calls):
        return sentences.LOOKING_FOR_REVERTS
    return sentences.GOING_THROUGH_LIST


def render_footer(
    note: str, read: str, not_seen: str, failed: int, *, is_unproven: bool = False, author: str = ""
) -> list[Block]:
    """Render the small print, if there is any, and the feedback buttons under an answer.

    ``note`` says why the answer ends where it does, ``read`` and ``not_seen`` what it is based on. ``failed``
    counts the quotes that are not in the code; ``is_unproven`` is set if it is about code without a valid quote.
    ``author`` is a sentence on who wrote it.
    """
    parts = [
        note,
        sentences.format_read(read) if read else "",
        sentences.format_not_seen(not_seen) if not_seen else "",
        sentences.format_failed_quotes(failed) if failed else "",
        sentences.UNPROVEN if is_unproven else "",
        author,
    ]
    line = truncate_text(" ".join(part for part in parts if part), _MAX_NOTES_LENGTH)
    return [*([make_context(line)] if line else []), make_feedback_buttons()]


def make_feedback_buttons() -> Block:
    """Return the buttons for a good and a bad answer."""
    buttons = {
        "type": "feedback_buttons",
        "action_id": VOTE,
        "positive_button": {
            "text": make_plain_text(sentences.GOOD_ANSWER_LABEL, 75),
            "value": write_verdict(FeedbackVerdict.GOOD),
        },
        "negative_button": {
            "text": make_plain_text(sentences.BAD_ANSWER_LABEL, 75),
            "value": write_verdict(FeedbackVerdict.BAD),
        },
    }
    return {"type": "context_actions", "elements": [buttons]}


def render_private_answer(text: str, blocks: Sequence[Mapping[str, Any]]) -> Post:
    """Render an answer that only the user sees, as one message."""
    return Post(
        escape_mrkdwn(truncate_text(collapse_lines(text), 200)), ({"type": "markdown", "text": text}, *blocks)
    )


def format_search_answer(reason: str, title: str, entries: Sequence[Entry]) -> str:
    """Format the answer of a plain search, marked as such; ``reason`` is a sentence."""
    lead = f"{sentences.WITHOUT_MODEL}{sanitize_text(truncate_text(collapse_lines(reason), 300))}"
    if not entries:
        return f"{lead} {sentences.format_search_miss(title)}"
    lines = [f"- [#{entry.number}]({entry.pull.url}) {_format_entry(entry)}" for entry in entries]
    return "\n".join([f"{lead} {sentences.format_search_hits(title)}", *lines])


def _format_entry(entry: Entry) -> str:
    """Format the title and the headline of an entry."""
    title = truncate_text(collapse_lines(entry.pull.title), 120)
    headline = (
        "" if entry.summary.is_fallback else f": {truncate_text(collapse_lines(entry.summary.headline), 160)}"
    )
    return sanitize_text(title + headline)
