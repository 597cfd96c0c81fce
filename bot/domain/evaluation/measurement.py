"""The measurement of rankings of the same pull requests, with the same samples of days."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from bot.domain.evaluation.bootstrap import DRAWS, Estimate, draws, estimate
from bot.domain.evaluation.labels import Case
from bot.domain.evaluation.ranking_metrics import Figures, Order, Ranked, tops


@dataclass(frozen=True, slots=True)
class Row:
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
class Ranking:
    """The rows of a ranking, and the AUC of each sample by label, for differences."""

    rows: tuple[Row, ...]
    aucs: dict[str, tuple[float, ...]]

    def row(self, label: str) -> Row:
        """Return the row of a label."""
        return next(row for row in self.rows if row.label == label)


class Measurement:
    """Measurement of rankings of ``cases``; a higher score means a higher risk."""

    def __init__(self, cases: Sequence[Case], labels: Sequence[str], count: int = DRAWS) -> None:
        self.labels = tuple(labels)
        self._cases = tuple(cases)
        self._open = [place for place, case in enumerate(cases) if not case.is_known]
        dates = sorted({cases[place].day for place in self._open})
        numbered = {date: number for number, date in enumerate(dates)}
        self._days = [numbered[cases[place].day] for place in self._open]
        self._draws = draws(len(dates), count)
        self._once = (1,) * len(dates)

    @property
    def days(self) -> int:
        """The number of local days with open cases."""
        return len(self._once)

    def positives(self, label: str, *, known: bool = False) -> int:
        """Return the number of cases with a label: of the open ones, or with ``known`` of all."""
        return sum(label in case.labels for case in self._cases if known or not case.is_known)

    def ranking(self, name: str, scores: Sequence[float]) -> Ranking:
        """Return all figures of a ranking; ``scores`` are in the order of the cases."""
        order = self._order(scores)
        ranked = {label: Ranked(order, self._positive(label), self.days) for label in self.labels}
        once = {label: each.figures(self._once, order.totals(self._once)) for label, each in ranked.items()}
        drawn: dict[str, list[Figures]] = {label: [] for label in self.labels}
        for weights in self._draws:
            totals = order.totals(weights)
            for label, each in ranked.items():
                drawn[label].append(each.figures(weights, totals))
        rows = tuple(
            _row(name, label, self._auc_of_all(scores, label), once[label], drawn[label]) for label in self.labels
        )
        return Ranking(rows, {label: tuple(each.auc for each in drawn[label]) for label in self.labels})

    def top(self, scores: Sequence[float], least: float) -> tuple[TopRow, ...]:
        """Return the figures of the top of each day for each label; scores below ``least`` are not listed."""
        order = self._order(scores)
        return tuple(self._top_row(order, label, least) for label in self.labels)

    def difference(self, one: Ranking, other: Ranking, label: str) -> Estimate:
        """Return the difference of the AUCs of two rankings."""
        return estimate(
            one.row(label).auc.value - other.row(label).auc.value,
            (a - b for a, b in zip(one.aucs[label], other.aucs[label], strict=True)),
        )

    def _order(self, scores: Sequence[float]) -> Order:
        return Order(self._days, [scores[place] for place in self._open])

    def _positive(self, label: str) -> list[bool]:
        return [label in self._cases[place].labels for place in self._open]

    def _auc_of_all(self, scores: Sequence[float], label: str) -> float:
        return roc_auc(scores, [label in case.labels for case in self._cases])

    def _top_row(self, order: Order, label: str, least: float) -> TopRow:
        positive = self._positive(label)
        tops_by_day = tops(order, positive, self.days, least)
        by_day = [0] * self.days
        for day, is_positive in zip(self._days, positive, strict=True):
            by_day[day] += is_positive

        def measure_recall(weights: Sequence[int]) -> float:
            return tops_by_day.recall(weights, sum(a * b for a, b in zip(weights, by_day, strict=True)))

        return TopRow(
            label,
            least,
            sum(tops_by_day.slots),
            estimate(tops_by_day.precision(self._once), map(tops_by_day.precision, self._draws)),
            estimate(measure_recall(self._once), map(measure_recall, self._draws)),
        )


def roc_auc(scores: Sequence[float], positives: Sequence[bool]) -> float:
    """Return the share of pairs of a positive and a negative in which the positive scores higher; ties count half.

    It is nan without such a pair.
    """
    order = Order([0] * len(scores), scores)
    return Ranked(order, positives, 1).figures((1,), order.totals((1,))).auc if scores else math.nan


def _row(name: str, label: str, auc_all: float, once: Figures, drawn: Sequence[Figures]) -> Row:
    return Row(
        name,
        label,
        auc_all,
        estimate(once.auc, (each.auc for each in drawn)),
        estimate(once.average_precision, (each.average_precision for each in drawn)),
        estimate(once.precision, (each.precision for each in drawn)),
        estimate(once.recall, (each.recall for each in drawn)),
    )
