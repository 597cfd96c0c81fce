"""What the rules said of the pull requests of a digest when it was posted, kept to be held against what came."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from bot.domain.digest.models import Digest
from bot.domain.risk.assessment import RULES


@dataclass(frozen=True, slots=True)
class Rated:
    """A pull request that a digest showed: its points, the names of the rules that gave or took some.

    ``lines`` were added in all. ``is_listed`` if it was among those worth a second look.
    """

    number: int
    merged_at: datetime
    points: float
    lines: int
    is_listed: bool = False
    rules: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ratings:
    """All that a digest showed, with the ``version`` of the rules.

    ``known`` are the numbers of those of which the digest said already that they were reverted or repaired.
    """

    version: str
    rated: tuple[Rated, ...]
    known: tuple[int, ...] = ()


def ratings_of(digest: Digest) -> Ratings:
    """What is kept of a digest, of one day or of several."""
    listed = {entry.number for entry in digest.riskiest}
    rated = tuple(
        Rated(
            entry.number,
            entry.pull.merge_time,
            round(entry.risk.points, 4),
            entry.pull.additions,
            entry.number in listed,
            tuple(rule.rule for rule in entry.risk.fired),
        )
        for entry in digest.entries
    )
    known = sorted({found.pull.number for found in digest.standing} & digest.numbers)
    return Ratings(RULES, rated, tuple(known))


def completed(first: Ratings, later: Ratings) -> Ratings:
    """What was kept when a digest was posted, and of what was only found missing ``later`` what was said then."""
    numbers = {each.number for each in first.rated}
    added = tuple(each for each in later.rated if each.number not in numbers)
    known = {each.number for each in added} & set(later.known)
    return replace(first, rated=(*first.rated, *added), known=tuple(sorted({*first.known, *known})))


@dataclass(frozen=True, slots=True)
class Issue:
    """A digest that was posted at an instant (UTC)."""

    key: str
    at: datetime
    ratings: Ratings
