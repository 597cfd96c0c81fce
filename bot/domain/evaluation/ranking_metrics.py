"""Metrics of an order of merged pull requests against their outcomes.

Days have weights, so that a bootstrap over days measures the same order repeatedly in linear time. Undefined
figures, such as a rate of nothing, are nan.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate, groupby
from operator import mul

# the number of risky pull requests of a day in a digest
TOP_SIZE = 3


@dataclass(frozen=True, slots=True)
class RankingFigures:
    """ROC-AUC (ties count half), average precision, and precision and recall of the top of each day."""

    auc: float
    average_precision: float
    precision: float
    recall: float


@dataclass(frozen=True, slots=True)
class RankingOrder:
    """Cases from the highest score to the lowest. ``days`` has the number of each case's day, from 0."""

    days: Sequence[int]
    scores: Sequence[float]
    # of each case: start and end, in the order, of the cases with the same score
    bounds: Sequence[tuple[int, int]] = field(init=False)
    _days_in_order: Sequence[int] = field(init=False)

    def __post_init__(self) -> None:
        cases = sorted(range(len(self.scores)), key=lambda case: -self.scores[case])
        bounds = [(0, 0)] * len(cases)
        start = 0
        for _, group in groupby(cases, key=lambda case: self.scores[case]):
            tied = list(group)
            for case in tied:
                bounds[case] = (start, start + len(tied))
            start += len(tied)
        object.__setattr__(self, "bounds", bounds)
        object.__setattr__(self, "_days_in_order", [self.days[case] for case in cases])

    def accumulate_weights(self, weights: Sequence[int]) -> list[int]:
        """Return the total weight of the first 0, 1, 2, … cases of the order, by the weights of their days."""
        return list(accumulate(map(weights.__getitem__, self._days_in_order), initial=0))


@dataclass(frozen=True, slots=True)
class DailyTops:
    """The number of top places of each day, and the hits among them, averaged over the orders of ties."""

    slots: Sequence[int]
    hits: Sequence[float]

    def compute_rates(self, weights: Sequence[int], positives: float) -> tuple[float, float]:
        """Return precision and recall together, as :meth:`compute_precision` and :meth:`compute_recall` do."""
        hits = sum(map(mul, weights, self.hits))
        return _compute_rate(hits, sum(map(mul, weights, self.slots))), _compute_rate(hits, positives)

    def compute_precision(self, weights: Sequence[int]) -> float:
        """Return the share of places that are hits."""
        return _compute_rate(sum(map(mul, weights, self.hits)), sum(map(mul, weights, self.slots)))

    def compute_recall(self, weights: Sequence[int], positives: float) -> float:
        """Return the share of positives that are hits."""
        return _compute_rate(sum(map(mul, weights, self.hits)), positives)


def select_tops(order: RankingOrder, positives: Sequence[bool], count: int, least: float = -math.inf) -> DailyTops:
    """Return the first three of each of ``count`` days among cases that score at least ``least``.

    Cases that tie for the last place share it evenly.
    """
    by_day: dict[int, list[tuple[float, bool]]] = defaultdict(list)
    for day, score, positive in zip(order.days, order.scores, positives, strict=True):
        if score >= least:
            by_day[day].append((score, positive))
    slots, hits = [0] * count, [0.0] * count
    for day, cases in by_day.items():
        slots[day] = min(TOP_SIZE, len(cases))
        hits[day] = _count_hits(cases, slots[day])
    return DailyTops(slots, hits)


def _count_hits(cases: list[tuple[float, bool]], places: int) -> float:
    last = sorted((score for score, _ in cases), reverse=True)[places - 1]
    above = [positive for score, positive in cases if score > last]
    tied = [positive for score, positive in cases if score == last]
    return sum(above) + (places - len(above)) * sum(tied) / len(tied)


class LabelledOrder:
    """An order with the outcomes of its cases."""

    def __init__(self, order: RankingOrder, positives: Sequence[bool], count: int) -> None:
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
        self._tops = select_tops(order, positives, count)

    def compute_auc(self, weights: Sequence[int], totals: Sequence[int]) -> float:
        """Return the ROC-AUC of :meth:`compute_figures` alone, in a fraction of the time."""
        seen = self._accumulate_positives(weights)
        return self._compute_auc(seen, totals)

    def compute_figures(self, weights: Sequence[int], totals: Sequence[int]) -> RankingFigures:
        """Return the figures for the weights of the days; ``totals`` are the order's totals for these weights."""
        seen = self._accumulate_positives(weights)
        precision_sum = 0.0
        for _, end, first, last in self._groups:
            if group_weight := seen[last] - seen[first]:
                precision_sum += group_weight * seen[last] / totals[end]
        precision, recall = self._tops.compute_rates(weights, seen[-1])
        return RankingFigures(
            self._compute_auc(seen, totals), _compute_rate(precision_sum, seen[-1]), precision, recall
        )

    def _accumulate_positives(self, weights: Sequence[int]) -> list[int]:
        """Return the total weight of the first 0, 1, 2, … positives of the order."""
        return list(accumulate(map(weights.__getitem__, self._days), initial=0))

    def _compute_auc(self, seen: Sequence[int], totals: Sequence[int]) -> float:
        """Return the share of pairs that are won; ``seen`` are the totals of the positives alone."""
        negatives = totals[-1] - seen[-1]
        won = 0.0
        for start, end, first, last in self._groups:
            if group_weight := seen[last] - seen[first]:
                tied = totals[end] - totals[start] - group_weight
                won += group_weight * (negatives - (totals[start] - seen[first]) - tied / 2)
        return _compute_rate(won, seen[-1] * negatives)


def _compute_rate(part: float, whole: float) -> float:
    return part / whole if whole else math.nan
