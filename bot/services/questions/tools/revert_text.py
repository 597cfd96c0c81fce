"""Texts about reverts: what was reverted or repaired, by which pull request, and its reasons."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from bot.domain.history.pull_outcomes import MergeOutcome, RevertIndex
from bot.domain.pull_requests.models import PullRequest
from bot.domain.text.strings import collapse_lines, remove_comments, truncate_text
from impact.history.outcomes import find_outcomes
from impact.history.revert_claims import RevertClaim

_MAX_REASON_LENGTH = 800
_UNKNOWN = "something whose number is not known"

# what each of some reverts means, by the revert's number, from their claims by number
RevertedFinder = Callable[[Sequence[PullRequest], Mapping[int, RevertClaim]], Mapping[int, Sequence[PullRequest]]]


def describe_reverts(
    watched: tuple[PullRequest, ...], numbers: set[int], find_reverted: RevertedFinder
) -> list[str]:
    """Return lines on the reverts of, or by, the pull requests with these numbers.

    ``find_reverted`` is asked for what was merged before all that is watched.
    """
    index = RevertIndex(watched)
    outcomes = find_outcomes(index)
    pairs = [outcome for outcome in outcomes if outcome.pull.number in numbers]
    lines = [_format_outcome(outcome) for outcome in pairs if outcome.stands]
    lines += [
        f"#{outcome.pull.number} was {outcome.kind} by #{outcome.by.number}, which was itself reverted"
        for outcome in pairs
        if not outcome.stands
    ]
    paired = {outcome.by.number for outcome in outcomes}
    older = [pull for pull in watched if pull.number in numbers - paired and index.is_revert(pull.number)]
    reverted = find_reverted(older, {pull.number: index.claims[pull.number] for pull in older})
    lines += [
        f"#{pull.number} takes back {_name_older(reverted.get(pull.number, ()))}. {_quote_reason(pull)}"
        for pull in older
    ]
    return lines or ["Nothing of these days was taken back."]


def _name_older(reverted: Sequence[PullRequest]) -> str:
    """Return what a pull request reverts, with its number where that is known."""
    named = ", ".join(f"#{each.number} ({collapse_lines(each.title)})" for each in reverted)
    return f"{named or _UNKNOWN}, merged before these days"


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
