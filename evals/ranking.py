"""Figures of rankings of the same merges, with the same samples of their days.

ROC-AUC (ties count half), average precision, and precision and recall of the top three of each day, each with the
interval of a bootstrap over days. Undefined figures, such as a rate of nothing, are nan.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from operator import mul, sub

from evals.merges import Case
from impact.evaluation.ranking_metrics import DEFAULT_DRAWS, Estimate, build_estimate, compute_rate, draw_samples

# the number of risky pull requests of a day in a digest
TOP_SIZE = 3
# computes a figure from the weights of days and an order's totals for them
Figure = Callable[[Sequence[int], Sequence[int]], float]


@dataclass(frozen=True, slots=True)
class RankingRow:
    """The figures of one ranking for one label. ``auc_all`` includes known cases; all else is of open cases."""

    ranking: str
    label: str
    auc_all: float
    auc: Estimate
    average_precision: Estimate
    precision: Estimate
    recall: Estimate


@dataclass(frozen=True, slots=True)
class TopRow:
    """Precision and recall of the top of each day, among cases that score at least ``least``.

    ``slots`` is the number of all places.
    """

    label: str
    least: float
    slots: int
    precision: Estimate
    recall: Estimate


@dataclass(frozen=True, slots=True)
class Sampled:
    value: float
    drawn: Sequence[float]

    def estimate(self) -> Estimate:
        return build_estimate(self.value, self.drawn)

    def compare(self, other: Sampled) -> Estimate:
        """Return by how much it exceeds another one of the same samples."""
        return build_estimate(self.value - other.value, map(sub, self.drawn, other.drawn))


@dataclass(frozen=True, slots=True)
class Ranking:
    rows: Mapping[str, RankingRow]
    aucs: Mapping[str, Sampled]


@dataclass(frozen=True, slots=True)
class DailyTops:
    """The number of top places of each day, and the hits among them, averaged over the orders of ties.

    ``positives`` counts the positives of each day.
    """

    slots: Sequence[int]
    hits: Sequence[float]
    positives: Sequence[int]

    def compute_precision(self, weights: Sequence[int]) -> float:
        return compute_rate(sum(map(mul, weights, self.hits)), sum(map(mul, weights, self.slots)))

    def compute_recall(self, weights: Sequence[int]) -> float:
        return compute_rate(sum(map(mul, weights, self.hits)), sum(map(mul, weights, self.positives)))


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


class Measurement:
    """Measurement of rankings of ``cases``; a higher score means a higher risk."""

    def __init__(self, cases: Sequence[Case], labels: Sequence[str], draws: int = DEFAULT_DRAWS) -> None:
        self.labels = tuple(labels)
        self._cases = tuple(cases)
        self._open = [place for place, case in enumerate(cases) if not case.is_known]
        dates = sorted({cases[place].day for place in self._open})
        numbered = {date: number for number, date in enumerate(dates)}
        # of each open case, the number of its local day
        self._days = [numbered[cases[place].day] for place in self._open]
        self._draws = draw_samples(len(dates), draws)
        self._once = (1,) * len(dates)

    @property
    def days(self) -> int:
        return len(self._once)

    def count_positives(self, label: str, *, include_known: bool = False) -> int:
        """Return the number of cases with a label: of the open ones, or of all with ``include_known``."""
        return sum(label in case.labels for case in self._cases if include_known or not case.is_known)

    def measure_ranking(self, name: str, scores: Sequence[float]) -> Ranking:
        """Return all figures of a ranking; ``scores`` are in the order of the cases."""
        order = self._build_order(scores)
        orders = {label: LabelledOrder(order, self._list_positives(label)) for label in self.labels}
        figures = [each for one in orders.values() for each in (one.compute_auc, one.compute_average_precision)]
        sampled = self._sample(order, figures)
        aucs = dict(zip(self.labels, sampled[0::2], strict=True))
        rows = {
            label: RankingRow(
                name,
                label,
                compute_roc_auc(scores, [label in case.labels for case in self._cases]),
                aucs[label].estimate(),
                precision.estimate(),
                *self._estimate_rates(select_tops(order, self._list_positives(label), self.days)),
            )
            for label, precision in zip(self.labels, sampled[1::2], strict=True)
        }
        return Ranking(rows, aucs)

    def measure_aucs(self, scores: Sequence[float]) -> dict[str, Sampled]:
        """Return the AUCs of a ranking by label: what differences need, in half the time of all figures."""
        order = self._build_order(scores)
        figures = [LabelledOrder(order, self._list_positives(label)).compute_auc for label in self.labels]
        return dict(zip(self.labels, self._sample(order, figures), strict=True))

    def measure_top(self, scores: Sequence[float], least: float) -> tuple[TopRow, ...]:
        """Return the figures of the top of each day for each label; scores below ``least`` are not listed."""
        order = self._build_order(scores)
        tops = [select_tops(order, self._list_positives(label), self.days, least) for label in self.labels]
        return tuple(
            TopRow(label, least, sum(each.slots), *self._estimate_rates(each))
            for label, each in zip(self.labels, tops, strict=True)
        )

    def _build_order(self, scores: Sequence[float]) -> RankingOrder:
        return RankingOrder(self._days, [scores[place] for place in self._open])

    def _list_positives(self, label: str) -> list[bool]:
        return [label in self._cases[place].labels for place in self._open]

    def _sample(self, order: RankingOrder, figures: Sequence[Figure]) -> list[Sampled]:
        columns: list[list[float]] = [[] for _ in figures]
        for weights in (self._once, *self._draws):
            totals = order.accumulate_weights(weights)
            for column, compute in zip(columns, figures, strict=True):
                column.append(compute(weights, totals))
        return [Sampled(column[0], column[1:]) for column in columns]

    def _estimate_rates(self, tops: DailyTops) -> tuple[Estimate, Estimate]:
        precision = build_estimate(tops.compute_precision(self._once), map(tops.compute_precision, self._draws))
        return precision, build_estimate(tops.compute_recall(self._once), map(tops.compute_recall, self._draws))


def select_tops(order: RankingOrder, positives: Sequence[bool], days: int, least: float = -math.inf) -> DailyTops:
    """Return the first three of each day among cases that score at least ``least``."""
    # cases that tie for the last place share it evenly
    by_day: dict[int, list[tuple[float, bool]]] = defaultdict(list)
    counts = [0] * days
    for day, score, positive in zip(order.days, order.scores, positives, strict=True):
        counts[day] += positive
        if score >= least:
            by_day[day].append((score, positive))
    slots, hits = [0] * days, [0.0] * days
    for day, cases in by_day.items():
        slots[day] = min(TOP_SIZE, len(cases))
        hits[day] = _count_hits(cases, slots[day])
    return DailyTops(slots, hits, counts)


def _count_hits(cases: list[tuple[float, bool]], places: int) -> float:
    last = sorted((score for score, _ in cases), reverse=True)[places - 1]
    above = [positive for score, positive in cases if score > last]
    tied = [positive for score, positive in cases if score == last]
    return sum(above) + (places - len(above)) * sum(tied) / len(tied)


def compute_roc_auc(scores: Sequence[float], positives: Sequence[bool]) -> float:
    """Return the share of pairs of a positive and a negative in which the positive scores higher; ties count half.

    It is nan without such a pair.
    """
    if not scores:
        return math.nan
    order = RankingOrder([0] * len(scores), scores)
    return LabelledOrder(order, positives).compute_auc((1,), order.accumulate_weights((1,)))
