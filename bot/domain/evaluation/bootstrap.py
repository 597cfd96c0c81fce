"""How far figures would move with other days: the bootstrap over days, percentiles of its draws."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

# what a 95 % interval is read from usually; more draws move its ends by less than a hundredth
DRAWS = 1_000
# any number will do; a fixed one gives the same interval for the same data
_SEED = 20_250_301


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with the ends of its 95 % interval; nan where it is not defined."""

    value: float
    low: float
    high: float

    @property
    def is_known(self) -> bool:
        return not (math.isnan(self.value) or math.isnan(self.low) or math.isnan(self.high))


def draws(days: int, count: int = DRAWS) -> tuple[tuple[int, ...], ...]:
    """How often each of ``days`` comes in samples of as many days, drawn with replacement."""
    # whole days are drawn: what merges on one day is alike, and is reverted together
    source = random.Random(_SEED)  # noqa: S311 (a sample, not a secret)
    return tuple(_weights(source, days) for _ in range(count))


def _weights(source: random.Random, days: int) -> tuple[int, ...]:
    weights = [0] * days
    for day in source.choices(range(days), k=days) if days else ():
        weights[day] += 1
    return tuple(weights)


def estimate(value: float, drawn: Iterable[float]) -> Estimate:
    """The figure with its interval. Draws in which it is not defined are left out, unless most are so."""
    drawn = tuple(drawn)
    known = sorted(each for each in drawn if not math.isnan(each))
    if 2 * len(known) < len(drawn) or not known:
        return Estimate(value, math.nan, math.nan)
    return Estimate(value, _quantile(known, 0.025), _quantile(known, 0.975))


def _quantile(ascending: Sequence[float], share: float) -> float:
    """Between the two nearest values in proportion."""
    place = share * (len(ascending) - 1)
    below = int(place)
    above = min(below + 1, len(ascending) - 1)
    return ascending[below] + (place - below) * (ascending[above] - ascending[below])
