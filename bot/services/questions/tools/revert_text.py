"""Texts about reverts: what was reverted or repaired, by which pull request, and its reasons."""

from __future__ import annotations

from collections.abc import Callable

from bot.domain.history.outcomes import MergeOutcome, find_outcomes
from bot.domain.history.revert_claims import parse_claim
from bot.domain.history.revert_index import RevertIndex
from bot.domain.pull_requests.models import PullRequest, Repository
from bot.domain.text.strings import collapse_lines, remove_comments, truncate_text

_MAX_REASON_LENGTH = 800
# pull requests that GitHub is asked for
_MAX_FETCHED = 5

PullRequestFinder = Callable[[Repository, int], PullRequest | None]


def describe_reverts(
    watched: tuple[PullRequest, ...], numbers: set[int], find_pull_request: PullRequestFinder
) -> list[str]:
    """Return lines on the reverts of, or by, the pull requests with these numbers.

    ``find_pull_request`` is asked for those that were merged before all that is watched.
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
    lines += [
        f"#{pull.number} takes back {_name_older(pull, find_pull_request if place < _MAX_FETCHED else None)}. "
        f"{_quote_reason(pull)}"
        for place, pull in enumerate(older)
    ]
    return lines or ["Nothing of these days was taken back."]


def _name_older(pull: PullRequest, find_pull_request: PullRequestFinder | None) -> str:
    """Return what a pull request reverts, with its number where it names one that GitHub knows."""
    targets = dict.fromkeys(mention.number for mention, _ in parse_claim(pull).exact if mention.number)
    finder = find_pull_request or (lambda _repository, _number: None)
    known = [each for number in list(targets)[:_MAX_FETCHED] if (each := finder(pull.repository, number))]
    named = ", ".join(f"#{each.number} ({collapse_lines(each.title)})" for each in known if each.is_merged)
    return f"{named}, merged before these days" if named else "what was merged before these days"


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
