"""What chance alone would give, worked out exactly: honest with few events, where approximations are not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import comb, fsum, sqrt
from statistics import NormalDist

# of the standard normal distribution, for intervals of 95 %
_Z = NormalDist().inv_cdf(0.975)


@dataclass(frozen=True, slots=True)
class Draw:
    """``drawn`` things out of ``total``, of which ``marked`` are those to be found."""

    drawn: int
    marked: int
    total: int

    @property
    def expected(self) -> float:
        """How many marked ones are drawn on average, blindfold."""
        return self.drawn * self.marked / self.total if self.total else 0.0


def spread(draws: Iterable[Draw], odds: int = 1) -> tuple[float, ...]:
    """The probabilities of 0, 1, 2, … marked things in all draws together, each independent of the others.

    Each is hypergeometric. With ``odds`` those of a marked thing are so many times those of another: Fisher's
    noncentral hypergeometric distribution. Together they are the exact test of a common odds ratio in several 2x2
    tables (Zelen, Biometrika 58, 1971).
    """
    found: tuple[float, ...] = (1.0,)
    for draw in draws:
        found = _together(found, _one(draw, odds))
    return found


def at_least(found: Sequence[float], hits: int) -> float:
    """The probability of so many or more; ``found`` as :func:`spread` gives it."""
    return min(1.0, fsum(found[hits:]))


def at_most(found: Sequence[float], hits: int) -> float:
    """The probability of so many or fewer."""
    return min(1.0, fsum(found[: hits + 1]))


def interval(part: int, whole: int) -> tuple[float, float]:
    """Within which a share lies with 95 % confidence: Wilson's score interval (JASA 22, 1927), from 0 to 1.

    Of nothing anything may be true.
    """
    if not whole:
        return 0.0, 1.0
    share, room = part / whole, _Z * _Z / whole
    middle = (share + room / 2) / (1 + room)
    reach = _Z * sqrt(share * (1 - share) / whole + room / whole / 4) / (1 + room)
    # at its ends exactly, whatever the rounding
    return middle - reach if part else 0.0, middle + reach if part < whole else 1.0


def _one(draw: Draw, odds: int) -> tuple[float, ...]:
    """In whole numbers up to the last division, which Python rounds correctly: nothing overflows."""
    others = draw.total - draw.marked
    ways = [
        comb(draw.marked, hits) * comb(others, draw.drawn - hits) * odds**hits
        for hits in range(min(draw.marked, draw.drawn) + 1)
    ]
    every = sum(ways)
    return tuple(way / every for way in ways)


def _together(one: Sequence[float], other: Sequence[float]) -> tuple[float, ...]:
    """The spread of the sum of two."""
    found = [0.0] * (len(one) + len(other) - 1)
    for at, first in enumerate(one):
        for more, second in enumerate(other):
            found[at + more] += first * second
    return tuple(found)
