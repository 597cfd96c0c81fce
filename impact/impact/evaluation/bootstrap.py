"""The bootstrap over days: confidence intervals of figures as percentiles of samples."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

# the usual number for a 95 % interval; more draws move its ends by less than a hundredth
DEFAULT_DRAWS = 1_000
# any number; a fixed one gives the same interval for the same data
_SEED = 20_250_301


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with the ends of its 95 % interval; nan where undefined."""

    value: float
    low: float
    high: float

    @property
    def is_defined(self) -> bool:
        return not (math.isnan(self.value) or math.isnan(self.low) or math.isnan(self.high))


def draw_samples(days: int, count: int = DEFAULT_DRAWS) -> tuple[tuple[int, ...], ...]:
    """Return how often each of ``days`` occurs in samples of the same size, drawn with replacement."""
    # whole days are drawn: merges of one day are similar, and are reverted together
    source = random.Random(_SEED)  # noqa: S311 (a sample, not a secret)
    return tuple(_draw_weights(source, days) for _ in range(count))


def _draw_weights(source: random.Random, days: int) -> tuple[int, ...]:
    weights = [0] * days
    for day in source.choices(range(days), k=days) if days else ():
        weights[day] += 1
    return tuple(weights)


def build_estimate(value: float, drawn: Iterable[float]) -> Estimate:
    """Return a figure with the interval of its defined draws, undefined if most of them are not."""
    drawn = tuple(drawn)
    ascending = sorted(figure for figure in drawn if not math.isnan(figure))
    if 2 * len(ascending) < len(drawn) or not ascending:
        return Estimate(value, math.nan, math.nan)
    return Estimate(value, _compute_quantile(ascending, 0.025), _compute_quantile(ascending, 0.975))


def _compute_quantile(ascending: Sequence[float], share: float) -> float:
    """Return a quantile by linear interpolation between the two nearest values."""
    position = share * (len(ascending) - 1)
    below = int(position)
    above = min(below + 1, len(ascending) - 1)
    return ascending[below] + (position - below) * (ascending[above] - ascending[below])
