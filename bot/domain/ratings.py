"""What the rules said of the pull requests of a digest when it was posted, kept to be held against what came."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


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


@dataclass(frozen=True, slots=True)
class Issue:
    """A digest that was posted at an instant (UTC)."""

    key: str
    at: datetime
    ratings: Ratings
