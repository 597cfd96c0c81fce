"""Prompts for the model. The instructions are versioned files beside the code, not strings in it."""

from __future__ import annotations

from collections.abc import Iterable

from bot.domain.digest.models import Entry
from bot.domain.operations.usage import CallPurpose, classify_purpose
from bot.domain.pull_requests.models import PullRequest, Repository
from bot.domain.summaries.diff_packing import PackedDiff
from bot.domain.text.strings import collapse_lines, format_count, remove_comments, truncate_text
from bot.domain.time.day import LocalDay
from bot.platform.models.prompts import fence_text, read_instructions
from bot.ports import Prompt
from bot.services.summaries.schemas import OverviewAnswer, SummaryAnswer, build_schema

SUMMARY_VERSION = "summary.v2"
OVERVIEW_VERSION = "overview.v1"
ANSWER_VERSION = "answer.v3"
_AUTHOR_HEADING = "What the author says (nobody has verified it):"
# most descriptions have the essential in their first paragraphs; test output and check lists follow
_MAX_DESCRIPTION_LENGTH = 2_000
# four sections of about 400 characters and the quotes take under 1,000 tokens; the rest is room to think
_MAX_SUMMARY_TOKENS = 6_000
_MAX_OVERVIEW_TOKENS = 8_000


def build_summary_prompt(model: str, pull: PullRequest, diff: PackedDiff) -> Prompt:
    """Build the prompt for the summary of one pull request."""
    user = format_change(pull, diff)
    schema, need = build_schema(SummaryAnswer), classify_purpose(pull.changed_lines)
    return Prompt(
        model, SUMMARY_VERSION, read_instructions(SUMMARY_VERSION), user, schema, _MAX_SUMMARY_TOKENS, need
    )


def format_change(pull: PullRequest, diff: PackedDiff) -> str:
    """Return facts, motive and diff of a pull request between marks."""
    facts = (
        f"{pull.repository} #{pull.number}: {collapse_lines(pull.title)}\n"
        f"{format_count(pull.changed_files, 'file')}, +{pull.additions} -{pull.deletions}"
    )
    parts = [facts, _format_motive(pull), diff.text or "[no diff]"]
    return fence_text("pull_request", "\n\n".join(part for part in parts if part))


def _format_motive(pull: PullRequest) -> str:
    """Return labels, linked issues and description as the author's words; empty if there are none."""
    labels = ", ".join(collapse_lines(label) for label in pull.labels)
    issues = "\n".join(f"- #{issue.number}: {collapse_lines(issue.title)}" for issue in pull.linked_issues)
    description = truncate_text(remove_comments(pull.body).strip(), _MAX_DESCRIPTION_LENGTH)
    parts = [
        f"Labels: {labels}" if labels else "",
        f"Issues that it closes:\n{issues}" if issues else "",
        f"Description:\n{description}" if description else "",
    ]
    words = "\n".join(part for part in parts if part)
    return f"{_AUTHOR_HEADING}\n{words}" if words else ""


def build_overview_prompt(model: str, repository: Repository, day: LocalDay, entries: Iterable[Entry]) -> Prompt:
    """Build the prompt for the overview of a day, from the summaries of its pull requests."""
    lines = [f"{repository}, {day.date:%A} {day.date}"]
    lines += [_format_overview_line(entry) for entry in entries]
    user = fence_text("day", "\n".join(lines))
    schema = build_schema(OverviewAnswer)
    return Prompt(
        model,
        OVERVIEW_VERSION,
        read_instructions(OVERVIEW_VERSION),
        user,
        schema,
        _MAX_OVERVIEW_TOKENS,
        CallPurpose.OVERVIEW,
    )


def _format_overview_line(entry: Entry) -> str:
    summary = entry.summary
    line = f"#{entry.number} [{summary.type}] {collapse_lines(entry.pull.title)}: {summary.headline}"
    return f"{line} Action: {summary.action}" if summary.action else line
