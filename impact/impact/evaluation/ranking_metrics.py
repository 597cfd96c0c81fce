"""ROC-AUC and average precision of an order of merged pull requests against their outcomes.

Days or weeks have weights, so that a bootstrap over them measures the same order repeatedly in linear time.
Undefined figures, such as a rate of nothing, are nan.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate, groupby


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
        """Return the average precision; ``totals`` are the order's totals for these weights of days."""
        seen = self._accumulate_positives(weights)
        precision_sum = 0.0
        for _, end, first, last in self._groups:
            if group_weight := seen[last] - seen[first]:
                precision_sum += group_weight * seen[last] / totals[end]
        return compute_rate(precision_sum, seen[-1])

    def _accumulate_positives(self, weights: Sequence[int]) -> list[int]:
        """Return the total weight of the first 0, 1, 2, … positives of the order."""
        return list(accumulate(map(weights.__getitem__, self._days), initial=0))


def compute_rate(part: float, whole: float) -> float:
    """Return the share; nan of nothing."""
    return part / whole if whole else math.nan
