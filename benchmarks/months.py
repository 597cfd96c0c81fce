"""How much the rank of merges flatters itself on the months that its weights were fitted on.

    prdigest touches evaluate --upstream ../vllm --downstream ../vllm-ascend \
        --since 2025-10-01 --until 2026-01-31 --truth named.csv --out touches.csv
    python -m benchmarks months --cases touches.csv --truth named.csv

Each month is ranked three times: by the weights that stand in the code, by weights fitted to all months, and by
those fitted to the other months. The rules have no weights: what they flag is the same in all three.
"""

from __future__ import annotations

import argparse
import csv
import math
import operator
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.table import Table
from impact.evaluation.adaptations import parse_truth
from impact.evaluation.ranking_metrics import TouchMeasurement, compute_rate
from impact.touches.judgement import WEIGHTS, estimate_chance, list_terms
from impact.touches.models import RankFigures

# of Newton's method; a dozen are enough where both classes have a hundred cases
_STEPS = 30
# keeps a weight finite where a figure tells the classes apart without an error
_RIDGE = 1e-6


@dataclass(frozen=True)
class MonthCase:
    """A merge of a replay: its month, the window that it was judged in, and whether it was shown and named."""

    month: str
    window: int
    figures: RankFigures
    is_shown: bool
    is_named: bool


@dataclass(frozen=True)
class MonthFigures:
    """How an order did. ``shown`` is the share of named merges among as many as are shown now."""

    precision: float
    auc: float
    shown: float


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--cases", type=Path, required=True, help="what 'prdigest touches evaluate --out' wrote")
    parser.add_argument("--truth", type=Path, required=True, help="the CSV of named merges, as for the replay")


def measure_months(_table: Table, options: argparse.Namespace) -> None:
    """Print each month, and all, by the three sets of weights."""
    cases = read_cases(options.cases.read_text(), parse_truth(options.truth.read_text()).kinds)
    months = sorted({case.month for case in cases})
    everywhere = fit_weights(cases)
    left_out = {month: fit_weights(case for case in cases if case.month != month) for month in months}
    print(f"fitted to all months: {_format_weights(everywhere)}; in the code: {_format_weights(WEIGHTS)}")
    for month in months:
        print(f"fitted without {month}: {_format_weights(left_out[month])}")
    orders: dict[str, Callable[[MonthCase], Sequence[float]]] = {
        "weights in the code": lambda _: WEIGHTS,
        "fitted to all months": lambda _: everywhere,
        "fitted to the others": lambda case: left_out[case.month],
    }
    for title in (*months, "all"):
        own = [case for case in cases if title in (case.month, "all")]
        for name, choose in orders.items():
            chances = [estimate_chance(case.figures, choose(case)) for case in own]
            row = measure_order(own, chances)
            print(
                f"{title:8}{name:22}mean average precision {row.precision:.3f}  AUC {row.auc:.3f}  "
                f"named ones shown {row.shown:.0%}  ({sum(case.is_named for case in own)} of {len(own):,} named)"
            )


def read_cases(text: str, named: Collection[int]) -> list[MonthCase]:
    return [
        MonthCase(
            row["date"][:7],
            int(row["window"]),
            RankFigures(
                row["breaks"] == "1",
                row["may_break"] == "1",
                *(int(row[name]) for name in ("names", "uses", "changes")),
            ),
            row["level"] != "no",
            int(row["pr"]) in named,
        )
        for row in csv.DictReader(text.splitlines())
    ]


def measure_order(cases: Sequence[MonthCase], chances: Sequence[float]) -> MonthFigures:
    """Return how an order did. What breaks or may break is always shown, what only touches by its chance."""
    named = [case.is_named for case in cases]
    windows = {window: place for place, window in enumerate(sorted({case.window for case in cases}))}
    ranking = TouchMeasurement([windows[case.window] for case in cases], named, 0).measure_ranking("", chances)

    def rank(place: int) -> tuple[bool, bool, float]:
        figures = cases[place].figures
        return figures.breaks or figures.may_break, figures.names > 0, chances[place]

    shown = sorted(range(len(cases)), key=rank, reverse=True)[: sum(case.is_shown for case in cases)]
    share = compute_rate(sum(named[place] for place in shown), sum(named))
    return MonthFigures(ranking.mean_precision.value, ranking.auc.value, share)


def fit_weights(cases: Iterable[MonthCase]) -> list[float]:
    """Return the weights of a logistic model of the cases that have a chance at all, by Newton's method."""
    possible = (case for case in cases if case.figures.names or case.figures.uses)
    rows = [(list_terms(case.figures), float(case.is_named)) for case in possible]
    size = len(WEIGHTS)
    weights, places = [0.0] * size, range(size)
    for _ in range(_STEPS):
        slope = [-_RIDGE * weight for weight in weights]
        curve = [[_RIDGE * (one == other) for other in places] for one in places]
        for terms, is_named in rows:
            chance = 1 / (1 + math.exp(-sum(map(operator.mul, weights, terms))))
            for one in places:
                slope[one] += (is_named - chance) * terms[one]
                for other in places:
                    curve[one][other] += chance * (1 - chance) * terms[one] * terms[other]
        weights = [weight + step for weight, step in zip(weights, solve_equations(curve, slope), strict=True)]
    return weights


def solve_equations(matrix: Sequence[Sequence[float]], values: Sequence[float]) -> list[float]:
    """Return the solution of linear equations with a positive definite matrix, by elimination."""
    rows = [[*row, value] for row, value in zip(matrix, values, strict=True)]
    for place, pivot in enumerate(rows):
        for other, row in enumerate(rows):
            if other != place:
                factor = row[place] / pivot[place]
                rows[other] = [cell - factor * above for cell, above in zip(row, pivot, strict=True)]
    return [row[-1] / row[place] for place, row in enumerate(rows)]


def _format_weights(weights: Iterable[float]) -> str:
    return " ".join(f"{weight:.2f}" for weight in weights)
