"""Figures of an order of merges against those that did harm or were named, with their intervals.

Windows such as weeks have weights, so that a bootstrap over them measures the same order repeatedly and quickly.
Undefined figures, such as a rate of nothing, are nan.
"""

from __future__ import annotations

import math
import random
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import sub
from statistics import quantiles

# the usual number for a 95 % interval; more draws move its ends by less than a hundredth
DEFAULT_DRAWS = 1_000
# any number; a fixed one gives the same interval for the same data
_SEED = 20_250_301
# the share of merges that somebody would read first
TOP_SHARE = 0.1


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
    drawn = (Counter(source.choices(range(days), k=days) if days else ()) for _ in range(count))
    return tuple(tuple(weights[day] for day in range(days)) for weights in drawn)


def build_estimate(value: float, drawn: Iterable[float]) -> Estimate:
    """Return a figure with the interval of its defined draws, undefined if most of them are not."""
    drawn = tuple(drawn)
    defined = [figure for figure in drawn if not math.isnan(figure)]
    if 2 * len(defined) < len(drawn) or not defined:
        return Estimate(value, math.nan, math.nan)
    # a single one is its own interval
    low, *_, high = quantiles(defined, n=40, method="inclusive") if len(defined) > 1 else defined * 2
    return Estimate(value, low, high)


def compute_rate(part: float, whole: float) -> float:
    """Return the share; nan of nothing."""
    return part / whole if whole else math.nan


@dataclass(frozen=True, slots=True)
class TouchRanking:
    """The figures of one order; ``mean_precision`` is the mean over windows of their average precision.

    ``auc`` compares all merges, ``auc_within`` those of the same window. ``top`` is the share of named merges in
    the first tenth of all, ``top_within`` in the first tenths of their windows.
    """

    name: str
    auc: Estimate
    auc_within: Estimate
    mean_precision: Estimate
    top: Estimate
    top_within: Estimate


class TouchMeasurement:
    """Measurement of orders of the same merges. ``windows`` has the number of each merge's window, from 0."""

    def __init__(self, windows: Sequence[int], positives: Sequence[bool], draws: int = DEFAULT_DRAWS) -> None:
        self._windows = tuple(windows)
        self._positives = tuple(positives)
        count = max(windows, default=-1) + 1
        # once as they are, then as drawn
        self._weights = ((1,) * count, *draw_samples(count, draws))
        self._measured: dict[str, list[dict[str, float]]] = {}

    def measure_ranking(self, name: str, scores: Sequence[float]) -> TouchRanking:
        """Return the figures of an order; ``scores`` are in the order of the merges, the highest come first."""
        first, *drawn = self._measured[name] = list(map(self._prepare(scores), self._weights))
        estimates = {figure: build_estimate(first[figure], (each[figure] for each in drawn)) for figure in first}
        return TouchRanking(name, **estimates)

    def compare_rankings(self, one: str, other: str, figure: str) -> Estimate:
        """Return by how much a figure of an order exceeds that of another; both have been measured."""
        columns = [[each[figure] for each in self._measured[name]] for name in (one, other)]
        first, *drawn = map(sub, *columns)
        return build_estimate(first, drawn)

    def estimate_share(self, parts: Sequence[float], wholes: Sequence[float]) -> Estimate:
        first, *drawn = (compute_rate(_weigh(each, parts), _weigh(each, wholes)) for each in self._weights)
        return build_estimate(first, drawn)

    def _prepare(self, scores: Sequence[float]) -> Callable[[Sequence[int]], dict[str, float]]:
        """Return the function that computes all figures of an order for weights of windows."""
        count = len(self._weights[0])
        # of each window: the scores of named and of other merges, ascending, and the named ones in the first tenth
        named: list[list[float]] = [[] for _ in range(count)]
        others: list[list[float]] = [[] for _ in range(count)]
        tops = [0.0] * count
        rows = zip(self._windows, self._positives, scores, share_top(scores), strict=True)
        for window, positive, score, share in sorted(rows, key=lambda row: row[2]):
            (named if positive else others)[window].append(score)
            tops[window] += share if positive else 0.0
        counts, other_counts = ([*map(len, side)] for side in (named, others))
        wins = [[_count_wins(own, rest) for rest in others] for own in named]
        won_within = [row[window] for window, row in enumerate(wins)]
        pairs = [own * rest for own, rest in zip(counts, other_counts, strict=True)]
        precisions = [_compute_precision(*each) for each in zip(named, others, strict=True)]
        tops_within = [sum(share_top(own + rest)[: len(own)]) for own, rest in zip(named, others, strict=True)]

        def compute(weights: Sequence[int]) -> dict[str, float]:
            total = _weigh(weights, counts)
            weighted = [weight if own else 0 for weight, own in zip(weights, counts, strict=True)]
            won = _weigh(weights, [_weigh(weights, row) for row in wins])
            return {
                "auc": compute_rate(won, total * _weigh(weights, other_counts)),
                "auc_within": compute_rate(_weigh(weights, won_within), _weigh(weights, pairs)),
                "mean_precision": compute_rate(_weigh(weighted, precisions), sum(weighted)),
                "top": compute_rate(_weigh(weights, tops), total),
                "top_within": compute_rate(_weigh(weights, tops_within), total),
            }

        return compute


def _count_wins(named: Sequence[float], others: Sequence[float]) -> float:
    """Return how many pairs of a named and another merge are in the right order; ties count half."""
    return sum(bisect_left(others, score) + bisect_right(others, score) for score in named) / 2


def _compute_precision(named: Sequence[float], others: Sequence[float]) -> float:
    """Return the average precision of a window; 0 without named merges."""
    above = [(len(named) - bisect_left(named, each), len(others) - bisect_left(others, each)) for each in named]
    return sum(own / (own + rest) for own, rest in above) / len(named) if named else 0.0


def share_top(scores: Sequence[float]) -> list[float]:
    """Return how much of a place in the first tenth each case has; cases that tie for the last ones share them."""
    places = math.ceil(TOP_SHARE * len(scores))
    shares: dict[float, float] = {}
    for score, count in sorted(Counter(scores).items(), reverse=True):
        shares[score] = min(places, count) / count
        places -= min(places, count)
    return [shares[score] for score in scores]


def _weigh(weights: Sequence[int], values: Sequence[float]) -> float:
    return sum(weight * value for weight, value in zip(weights, values, strict=True) if weight)
