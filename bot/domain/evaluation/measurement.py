"""The measurement of rankings of the same pull requests, with the same samples of days."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from operator import mul, sub

from bot.domain.evaluation.bootstrap import DEFAULT_DRAWS, Estimate, build_estimate, draw_samples
from bot.domain.evaluation.labels import Case
from bot.domain.evaluation.ranking_metrics import LabelledOrder, RankingFigures, RankingOrder, select_tops


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
class SampledAuc:
    """The AUC of a ranking for one label: of all days, and of each sample of them."""

    value: float
    drawn: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class RankingResult:
    """The rows of a ranking, and its AUCs by label, for differences."""

    rows: tuple[RankingRow, ...]
    aucs: dict[str, SampledAuc]

    def get_row(self, label: str) -> RankingRow:
        """Return the row of a label."""
        return next(row for row in self.rows if row.label == label)


class Measurement:
    """Measurement of rankings of ``cases``; a higher score means a higher risk."""

    def __init__(self, cases: Sequence[Case], labels: Sequence[str], count: int = DEFAULT_DRAWS) -> None:
        self.labels = tuple(labels)
        self._cases = tuple(cases)
        self._open = [place for place, case in enumerate(cases) if not case.is_known]
        dates = sorted({cases[place].day for place in self._open})
        numbered = {date: number for number, date in enumerate(dates)}
        self._days = [numbered[cases[place].day] for place in self._open]
        self._draws = draw_samples(len(dates), count)
        self._once = (1,) * len(dates)

    @property
    def days(self) -> int:
        """The number of local days with open cases."""
        return len(self._once)

    def count_positives(self, label: str, *, include_known: bool = False) -> int:
        """Return the number of cases with a label: of the open ones, or of all with ``include_known``."""
        return sum(label in case.labels for case in self._cases if include_known or not case.is_known)

    def measure_ranking(self, name: str, scores: Sequence[float]) -> RankingResult:
        """Return all figures of a ranking; ``scores`` are in the order of the cases."""
        order = self._build_order(scores)
        ranked = self._label_order(order)
        once = {
            label: each.compute_figures(self._once, order.accumulate_weights(self._once))
            for label, each in ranked.items()
        }
        drawn: dict[str, list[RankingFigures]] = {label: [] for label in self.labels}
        for weights in self._draws:
            totals = order.accumulate_weights(weights)
            for label, each in ranked.items():
                drawn[label].append(each.compute_figures(weights, totals))
        rows = tuple(
            _build_row(name, label, self._compute_overall_auc(scores, label), once[label], drawn[label])
            for label in self.labels
        )
        aucs = {
            label: SampledAuc(once[label].auc, tuple(each.auc for each in drawn[label])) for label in self.labels
        }
        return RankingResult(rows, aucs)

    def measure_aucs(self, scores: Sequence[float]) -> dict[str, SampledAuc]:
        """Return the AUCs of a ranking by label: what differences need, in half the time of all figures."""
        order = self._build_order(scores)
        ranked = self._label_order(order)
        totals = order.accumulate_weights(self._once)
        once = {label: each.compute_auc(self._once, totals) for label, each in ranked.items()}
        drawn: dict[str, list[float]] = {label: [] for label in self.labels}
        for weights in self._draws:
            totals = order.accumulate_weights(weights)
            for label, each in ranked.items():
                drawn[label].append(each.compute_auc(weights, totals))
        return {label: SampledAuc(once[label], tuple(drawn[label])) for label in self.labels}

    def measure_top(self, scores: Sequence[float], least: float) -> tuple[TopRow, ...]:
        """Return the figures of the top of each day for each label; scores below ``least`` are not listed."""
        order = self._build_order(scores)
        return tuple(self._build_top_row(order, label, least) for label in self.labels)

    def compare_rankings(self, one: RankingResult, other: RankingResult, label: str) -> Estimate:
        """Return the difference of the AUCs of two rankings."""
        return compare_aucs(one.aucs[label], other.aucs[label])

    def _label_order(self, order: RankingOrder) -> dict[str, LabelledOrder]:
        return {label: LabelledOrder(order, self._list_positives(label), self.days) for label in self.labels}

    def _build_order(self, scores: Sequence[float]) -> RankingOrder:
        return RankingOrder(self._days, [scores[place] for place in self._open])

    def _list_positives(self, label: str) -> list[bool]:
        return [label in self._cases[place].labels for place in self._open]

    def _compute_overall_auc(self, scores: Sequence[float], label: str) -> float:
        return compute_roc_auc(scores, [label in case.labels for case in self._cases])

    def _build_top_row(self, order: RankingOrder, label: str, least: float) -> TopRow:
        positive = self._list_positives(label)
        tops_by_day = select_tops(order, positive, self.days, least)
        by_day = [0] * self.days
        for day, is_positive in zip(self._days, positive, strict=True):
            by_day[day] += is_positive

        def measure_recall(weights: Sequence[int]) -> float:
            return tops_by_day.compute_recall(weights, sum(map(mul, weights, by_day)))

        return TopRow(
            label,
            least,
            sum(tops_by_day.slots),
            build_estimate(
                tops_by_day.compute_precision(self._once), map(tops_by_day.compute_precision, self._draws)
            ),
            build_estimate(measure_recall(self._once), map(measure_recall, self._draws)),
        )


def compare_aucs(one: SampledAuc, other: SampledAuc) -> Estimate:
    """Return the difference of two AUCs for the same label and samples."""
    return build_estimate(one.value - other.value, map(sub, one.drawn, other.drawn))


def compute_roc_auc(scores: Sequence[float], positives: Sequence[bool]) -> float:
    """Return the share of pairs of a positive and a negative in which the positive scores higher; ties count half.

    It is nan without such a pair.
    """
    order = RankingOrder([0] * len(scores), scores)
    return (
        LabelledOrder(order, positives, 1).compute_auc((1,), order.accumulate_weights((1,)))
        if scores
        else math.nan
    )


def _build_row(
    name: str, label: str, auc_all: float, once: RankingFigures, drawn: Sequence[RankingFigures]
) -> RankingRow:
    return RankingRow(
        name,
        label,
        auc_all,
        build_estimate(once.auc, (each.auc for each in drawn)),
        build_estimate(once.average_precision, (each.average_precision for each in drawn)),
        build_estimate(once.precision, (each.precision for each in drawn)),
        build_estimate(once.recall, (each.recall for each in drawn)),
    )
