"""Tells what was taken back, by what, and what that says of why."""

from __future__ import annotations

from bot.domain.history.outcomes import MergeOutcome, find_outcomes
from bot.domain.history.revert_index import RevertIndex
from bot.domain.pull_requests.models import PullRequest
from bot.domain.text.strings import collapse_lines, remove_comments, truncate_text

_MAX_REASON_LENGTH = 800


def describe_reverts(watched: tuple[PullRequest, ...], numbers: set[int]) -> list[str]:
    """What was taken back of the pull requests of these numbers, or by them."""
    index = RevertIndex(watched)
    known = find_outcomes(index)
    pairs = [found for found in known if found.pull.number in numbers]
    lines = [_format_outcome(found) for found in pairs if found.stands]
    lines += [
        f"#{found.pull.number} was {found.kind} by #{found.by.number}, which was itself reverted"
        for found in pairs
        if not found.stands
    ]
    paired = {found.by.number for found in known}
    older = [pull for pull in watched if pull.number in numbers - paired and index.is_revert(pull.number)]
    lines += [
        f"#{pull.number} takes back what was merged before these days. {_quote_reason(pull)}" for pull in older
    ]
    return lines or ["Nothing of these days was taken back."]


def _format_outcome(found: MergeOutcome) -> str:
    pull, by = found.pull, found.by
    named = f"#{pull.number} ({collapse_lines(pull.title)})"
    return f"{named} was {found.kind} by #{by.number} on {by.merge_time:%Y-%m-%d %H:%M}Z. {_quote_reason(by)}"


def _quote_reason(pull: PullRequest) -> str:
    body = collapse_lines(remove_comments(pull.body))
    return (
        f"#{pull.number} ({collapse_lines(pull.title)}) says: "
        f"{truncate_text(body, _MAX_REASON_LENGTH) or 'nothing'}"
    )
