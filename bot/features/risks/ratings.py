"""The ratings of the pull requests of a digest at the time of posting, kept for a comparison with the outcomes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from bot.features.merges.review import ReviewVerdict
from bot.features.merges.view import LeadRule


@dataclass(frozen=True, slots=True)
class RatedPullRequest:
    """A pull request in a digest: its points, and the names of the rules that applied.

    ``lines`` is the number of all added lines. ``is_listed`` if it was among the riskiest.
    ``is_listed_by_rules`` if it would have been without any review. ``verdict`` is that of its review, None if it
    was not reviewed. The points are those of the rules alone. ``lead`` has the rules that admitted
    its lines to the lead, none if it had no line there.
    """

    number: int
    merged_at: datetime
    points: float
    lines: int
    is_listed: bool = False
    rules: tuple[str, ...] = ()
    is_listed_by_rules: bool = False
    verdict: ReviewVerdict | None = None
    lead: tuple[LeadRule, ...] = ()


@dataclass(frozen=True, slots=True)
class PostedRatings:
    """The ratings of all pull requests in a digest, with the ``version`` of the rules.

    ``known`` are the numbers of those that the digest already showed as reverted or repaired.
    """

    version: str
    rated: tuple[RatedPullRequest, ...]
    known: tuple[int, ...] = ()


def merge_ratings(first: PostedRatings, later: PostedRatings) -> PostedRatings:
    """Return the ratings at the time of posting, with those of pull requests that ``later`` added."""
    numbers = {each.number for each in first.rated}
    added = tuple(each for each in later.rated if each.number not in numbers)
    settled = {each.number for each in added} & set(later.known)
    return replace(first, rated=(*first.rated, *added), known=tuple(sorted({*first.known, *settled})))


@dataclass(frozen=True, slots=True)
class RatedDigest:
    """A digest that was posted at an instant (UTC)."""

    key: str
    at: datetime
    ratings: PostedRatings
