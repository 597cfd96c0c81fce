"""Exact statistics of chance: correct for few events, where approximations are not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import comb, fsum, sqrt
from statistics import NormalDist

# quantile of the standard normal distribution for 95 % intervals
_NORMAL_QUANTILE = NormalDist().inv_cdf(0.975)


@dataclass(frozen=True, slots=True)
class HypergeometricDraw:
    """A draw of ``drawn`` items out of ``total``, of which ``marked`` are hits."""

    drawn: int
    marked: int
    total: int

    @property
    def expected(self) -> float:
        """The expected number of hits in a random draw."""
        return self.drawn * self.marked / self.total if self.total else 0.0


def compute_hit_distribution(draws: Iterable[HypergeometricDraw], odds: int = 1) -> tuple[float, ...]:
    """Return the probabilities of 0, 1, 2, … hits in all draws together; draws are independent.

    Each draw is hypergeometric. With ``odds``, the odds of a marked item are multiplied: Fisher's noncentral
    hypergeometric distribution. Together they are the exact test of a common odds ratio in several 2x2 tables
    (Zelen, Biometrika 58, 1971).
    """
    distribution: tuple[float, ...] = (1.0,)
    for draw in draws:
        distribution = _convolve_distributions(distribution, _compute_draw_distribution(draw, odds))
    return distribution


def compute_upper_tail(distribution: Sequence[float], hits: int) -> float:
    """Return the probability of ``hits`` or more, for a distribution of :func:`compute_hit_distribution`."""
    return min(1.0, fsum(distribution[hits:]))


def compute_lower_tail(distribution: Sequence[float], hits: int) -> float:
    """Return the probability of ``hits`` or fewer, for a distribution of :func:`compute_hit_distribution`."""
    return min(1.0, fsum(distribution[: hits + 1]))


def compute_wilson_interval(part: float, whole: int) -> tuple[float, float]:
    """Return the 95 % confidence interval of a share: Wilson's score interval (JASA 22, 1927), from 0 to 1.

    A tie counts as half of ``part``. The interval is the whole range if ``whole`` is 0.
    """
    if not whole:
        return 0.0, 1.0
    share, room = part / whole, _NORMAL_QUANTILE * _NORMAL_QUANTILE / whole
    middle = (share + room / 2) / (1 + room)
    reach = _NORMAL_QUANTILE * sqrt(share * (1 - share) / whole + room / whole / 4) / (1 + room)
    # exact at 0 and 1, regardless of rounding
    return middle - reach if part else 0.0, middle + reach if part < whole else 1.0


def _compute_draw_distribution(draw: HypergeometricDraw, odds: int) -> tuple[float, ...]:
    """Return the distribution of hits in one draw.

    It is computed in integers up to the last division, which Python rounds correctly: nothing overflows.
    """
    others = draw.total - draw.marked
    ways = [
        comb(draw.marked, hits) * comb(others, draw.drawn - hits) * odds**hits
        for hits in range(min(draw.marked, draw.drawn) + 1)
    ]
    every = sum(ways)
    return tuple(way / every for way in ways)


def _convolve_distributions(one: Sequence[float], other: Sequence[float]) -> tuple[float, ...]:
    """Return the distribution of the sum of two."""
    sums = [0.0] * (len(one) + len(other) - 1)
    for at, first in enumerate(one):
        for more, second in enumerate(other):
            sums[at + more] += first * second
    return tuple(sums)
