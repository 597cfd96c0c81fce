"""Figures of an order of merges against those that did harm or were named, with their intervals.

Days, or windows such as weeks, have weights, so that a bootstrap over them measures the same order repeatedly in
linear time. Undefined figures, such as a rate of nothing, are nan.
"""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from operator import sub

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


def compute_rate(part: float, whole: float) -> float:
    """Return the share; nan of nothing."""
    return part / whole if whole else math.nan


class RankingOrder:
    """Cases from the highest score to the lowest. ``days`` has the number of each case's day, from 0."""

    def __init__(self, days: Sequence[int], scores: Sequence[float]) -> None:
        self.days, self.scores = days, scores
        cases = sorted(range(len(scores)), key=lambda case: -scores[case])
        self._days_in_order = [days[case] for case in cases]
        # of each case: start and end, in the order, of the cases with the same score
        self.bounds = [(0, 0)] * len(cases)
        start = 0
        for _, group in groupby(cases, key=scores.__getitem__):
            tied = list(group)
            for case in tied:
                self.bounds[case] = (start, start + len(tied))
            start += len(tied)

    def accumulate_weights(self, weights: Sequence[int]) -> list[int]:
        """Return the total weight of the first 0, 1, 2, … cases of the order, by the weights of their days."""
        return list(accumulate(map(weights.__getitem__, self._days_in_order), initial=0))


class LabelledOrder:
    def __init__(self, order: RankingOrder, positives: Sequence[bool]) -> None:
        groups: dict[tuple[int, int], list[int]] = defaultdict(list)
        for bounds, day, positive in zip(order.bounds, order.days, positives, strict=True):
            if positive:
                groups[bounds].append(day)
        self._days: list[int] = []
        # start and end of each group of positives that tie: among all cases, and among the positives
        self._groups: list[tuple[int, int, int, int]] = []
        for (start, end), tied_days in sorted(groups.items()):
            first = len(self._days)
            self._days += tied_days
            self._groups.append((start, end, first, len(self._days)))

    def compute_auc(self, weights: Sequence[int], totals: Sequence[int]) -> float:
        """Return the ROC-AUC, in which ties count half; ``totals`` are the order's for these weights of days."""
        seen = self._accumulate_positives(weights)
        negatives = totals[-1] - seen[-1]
        won = 0.0
        for start, end, first, last in self._groups:
            if group_weight := seen[last] - seen[first]:
                tied = totals[end] - totals[start] - group_weight
                won += group_weight * (negatives - (totals[start] - seen[first]) - tied / 2)
        return compute_rate(won, seen[-1] * negatives)

    def compute_average_precision(self, weights: Sequence[int], totals: Sequence[int]) -> float:
        seen = self._accumulate_positives(weights)
        precision_sum = 0.0
        for _, end, first, last in self._groups:
            if group_weight := seen[last] - seen[first]:
                precision_sum += group_weight * seen[last] / totals[end]
        return compute_rate(precision_sum, seen[-1])

    def _accumulate_positives(self, weights: Sequence[int]) -> list[int]:
        """Return the total weight of the first 0, 1, 2, … positives of the order."""
        return list(accumulate(map(weights.__getitem__, self._days), initial=0))


# --- orders of merges in windows


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
        order = RankingOrder(self._windows, scores)
        labelled = LabelledOrder(order, self._positives)
        cases: list[list[tuple[float, bool]]] = [[] for _ in self._weights[0]]
        tops = [0.0] * len(cases)
        shares = share_top(scores)
        for window, score, positive, share in zip(self._windows, scores, self._positives, shares, strict=True):
            cases[window].append((score, positive))
            tops[window] += share if positive else 0.0
        columns = zip(*map(_measure_window, cases), strict=True) if cases else [()] * 5
        won, pairs, precisions, tops_within, positives = columns

        def compute(weights: Sequence[int]) -> dict[str, float]:
            named = [weight if count else 0 for weight, count in zip(weights, positives, strict=True)]
            total = _weigh(weights, positives)
            return {
                "auc": labelled.compute_auc(weights, order.accumulate_weights(weights)),
                "auc_within": compute_rate(_weigh(weights, won), _weigh(weights, pairs)),
                "mean_precision": compute_rate(_weigh(named, precisions), sum(named)),
                "top": compute_rate(_weigh(weights, tops), total),
                "top_within": compute_rate(_weigh(weights, tops_within), total),
            }

        return compute


def _measure_window(cases: Sequence[tuple[float, bool]]) -> tuple[float, float, float, float, float]:
    """Return figures of the merges of one window.

    How many pairs of a named and another merge are in the right order, how many there are, the average precision,
    how many named ones are in the first tenth, and how many there are.
    """
    count = sum(positive for _, positive in cases)
    if not count:
        return 0.0, 0, 0.0, 0.0, 0
    scores, positives = zip(*cases, strict=True)
    order = RankingOrder([0] * len(scores), scores)
    labelled, totals = LabelledOrder(order, positives), order.accumulate_weights((1,))
    pairs = count * (len(scores) - count)
    top = sum(share for share, positive in zip(share_top(scores), positives, strict=True) if positive)
    won = labelled.compute_auc((1,), totals) * pairs if pairs else 0.0
    return won, pairs, labelled.compute_average_precision((1,), totals), top, count


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
