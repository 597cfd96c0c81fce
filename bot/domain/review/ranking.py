"""The rank of pull requests by rules and reviews together (docs/decisions/0008-risk.md).

A review moves a pull request up or down in lists. The points and bands of the rules stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from operator import itemgetter
from typing import Protocol, TypeVar

from bot.domain.review.models import BugReview, ReviewVerdict
from bot.domain.risk.assessment import HIGHEST_BAND_THRESHOLD, RISK_THRESHOLD, Risk

# points that a review adds: a confirmed bug lists every merge of the middle band, whose lowest points are 4; a
# review without a finding takes those of the high band off the list, and leaves those of the highest on it
_SHIFTS = {ReviewVerdict.CONFIRMED: 8.0, ReviewVerdict.POSSIBLE: 3.0, ReviewVerdict.NOTHING: -4.0}


class IsReviewed(Protocol):
    """An object with an assessed risk and, if it was read for bugs, a review."""

    @property
    def risk(self) -> Risk:
        """The risk by the rules."""

    @property
    def review(self) -> BugReview | None:
        """The review, None if there is none."""


T = TypeVar("T", bound=IsReviewed)


def compute_rank(risk: Risk, review: BugReview | None) -> float:
    """Return the points of the rules, moved by the review if there is one."""
    return risk.points + (_SHIFTS[review.verdict] if review else 0.0)


def is_worth_listing(item: IsReviewed) -> bool:
    """Return whether rules and review together put it on a list of risky pull requests."""
    return item.risk.may_be_listed and compute_rank(item.risk, item.review) >= RISK_THRESHOLD


def _sort_by_rank(items: Iterable[T]) -> list[tuple[float, T]]:
    """Return all that may be listed with their rank, highest first; equal ones stay in their order."""
    listed = [(compute_rank(item.risk, item.review), item) for item in items if item.risk.may_be_listed]
    return sorted(listed, key=itemgetter(0), reverse=True)


def rank_reviewed(items: Iterable[T]) -> tuple[T, ...]:
    """Return all that may be listed, riskiest first, regardless of their points."""
    return tuple(item for _, item in _sort_by_rank(items))


def select_riskiest(items: Iterable[T], most: int, *, is_reduced: bool) -> tuple[T, ...]:
    """Return those above the threshold by rules and review, riskiest first, at most ``most``.

    With ``is_reduced``, for a repository whose lists were no better than chance, return at most one, with the
    points of the highest band.
    """
    least = HIGHEST_BAND_THRESHOLD if is_reduced else RISK_THRESHOLD
    above = (item for item in _sort_by_rank(items) if item[0] >= least)
    return tuple(item for _, item in islice(above, 1 if is_reduced else most))
