"""Texts about reverts: what was reverted or repaired, by which pull request, and its reasons."""

from __future__ import annotations

from bot.domain.history.outcomes import MergeOutcome, find_outcomes
from bot.domain.history.reverts import is_revert
from bot.domain.pull_requests.models import PullRequest
from bot.domain.text.strings import collapse_lines, remove_comments, truncate_text

_MAX_REASON_LENGTH = 800


def describe_reverts(watched: tuple[PullRequest, ...], numbers: set[int]) -> list[str]:
    """Return lines on the reverts of, or by, the pull requests with these numbers."""
    outcomes = find_outcomes(watched)
    pairs = [outcome for outcome in outcomes if outcome.pull.number in numbers]
    lines = [_format_outcome(outcome) for outcome in pairs if outcome.stands]
    lines += [
        f"#{outcome.pull.number} was {outcome.kind} by #{outcome.by.number}, which was itself reverted"
        for outcome in pairs
        if not outcome.stands
    ]
    paired = {outcome.by.number for outcome in outcomes}
    older = [pull for pull in watched if pull.number in numbers - paired and is_revert(pull)]
    lines += [
        f"#{pull.number} takes back what was merged before these days. {_quote_reason(pull)}" for pull in older
    ]
    return lines or ["Nothing of these days was taken back."]


def _format_outcome(outcome: MergeOutcome) -> str:
    pull, by = outcome.pull, outcome.by
    title = f"#{pull.number} ({collapse_lines(pull.title)})"
    return f"{title} was {outcome.kind} by #{by.number} on {by.merge_time:%Y-%m-%d %H:%M}Z. {_quote_reason(by)}"


def _quote_reason(pull: PullRequest) -> str:
    body = collapse_lines(remove_comments(pull.body))
    return (
        f"#{pull.number} ({collapse_lines(pull.title)}) says: "
        f"{truncate_text(body, _MAX_REASON_LENGTH) or 'nothing'}"
    )
