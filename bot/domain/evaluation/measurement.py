"""Rankings of the same pull requests side by side, by the same draws of days."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from bot.domain.evaluation.bootstrap import DRAWS, Estimate, draws, estimate
from bot.domain.evaluation.labels import Case
from bot.domain.evaluation.ranking_metrics import Figures, Order, Ranked, tops


@dataclass(frozen=True, slots=True)
class Row:
    """One ranking measured on one label. ``auc_all`` counts also what was known; all else is of the open ones."""

    ranking: str
    label: str
    auc_all: float
    auc: Estimate
    average_precision: Estimate
    precision: Estimate
    recall: Estimate


@dataclass(frozen=True, slots=True)
class TopRow:
    """Precision and recall of the top of each day, of what scores at least ``least``; ``slots`` are all places."""

    label: str
    least: float
    slots: int
    precision: Estimate
    recall: Estimate


@dataclass(frozen=True, slots=True)
class Ranking:
    """A ranking's rows, and the AUC of each draw by label, for differences."""

    rows: tuple[Row, ...]
    aucs: dict[str, tuple[float, ...]]

    def row(self, label: str) -> Row:
        return next(row for row in self.rows if row.label == label)


class Measurement:
    """Measures rankings of ``cases``; a score is higher where more is to be feared."""

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
        """Local days with open pull requests."""
        return len(self._once)

    def positives(self, label: str, *, known: bool = False) -> int:
        """How many have a label: of the open ones, or of all."""
        return sum(label in case.labels for case in self._cases if known or not case.is_known)

    def ranking(self, name: str, scores: Sequence[float]) -> Ranking:
        """All figures of a ranking; ``scores`` stand in the order of the cases."""
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
        """The top of each day where nothing below ``least`` is listed, for each label."""
        order = self._order(scores)
        return tuple(self._top_row(order, label, least) for label in self.labels)

    def difference(self, one: Ranking, other: Ranking, label: str) -> Estimate:
        """By how much the AUC of one is above the other's."""
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
        found = tops(order, positive, self.days, least)
        by_day = [0] * self.days
        for day, is_positive in zip(self._days, positive, strict=True):
            by_day[day] += is_positive

        def recall(weights: Sequence[int]) -> float:
            return found.recall(weights, sum(a * b for a, b in zip(weights, by_day, strict=True)))

        return TopRow(
            label,
            least,
            sum(found.slots),
            estimate(found.precision(self._once), map(found.precision, self._draws)),
            estimate(recall(self._once), map(recall, self._draws)),
        )


def roc_auc(scores: Sequence[float], positives: Sequence[bool]) -> float:
    """The share of pairs of a positive and another in which the positive scores higher; ties count half.

    nan without such a pair.
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
