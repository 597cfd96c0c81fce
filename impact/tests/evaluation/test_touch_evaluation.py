"""The figures of a replay: levels, kinds, changed lines, and the sentence at the end."""

import datetime as dt
import math
from dataclasses import replace
from functools import cache

import pytest

from impact.evaluation.adaptations import TouchTruth
from impact.evaluation.ranking_metrics import Estimate
from impact.evaluation.touch_evaluation import (
    TouchCase,
    TouchEvaluation,
    WindowSummary,
    evaluate_cases,
    judge_gain,
)
from impact.evaluation.window import EvaluationWindow
from impact.touches.models import TouchLevel

DATES = EvaluationWindow(dt.date(2026, 1, 1), dt.date(2026, 1, 10))
SUMMARIES = [WindowSummary("one", "a" * 40, 3, 100, 80, 8), WindowSummary("two", "b" * 40, 2, 100, 80, 0)]
CASES = (
    TouchCase(1, DATES.since, 0, 10, 1, TouchLevel.BREAKS, 0.9, "x", "y", 4, 1),
    TouchCase(2, DATES.since, 0, 500, 3, TouchLevel.MAY_BREAK, 0.4),
    TouchCase(3, DATES.since, 0, 10, 0),
    TouchCase(4, DATES.until, 1, 10, 1, TouchLevel.BREAKS, 0.8, "x", "y", 2, 0),
    TouchCase(5, DATES.until, 1, 20, 0, TouchLevel.TOUCHES, 0.1),
)
TRUTH = TouchTruth(
    {1: frozenset({"moved"}), 2: frozenset({"behaviour", "signature"}), 5: frozenset(), 77: frozenset({"moved"})},
    adapted={1: dt.date(2026, 1, 8), 2: dt.date(2026, 1, 4)},
)


# drawing the samples of a rate takes most of the time
@cache
def _evaluate(cases: tuple[TouchCase, ...] = CASES) -> TouchEvaluation:
    return evaluate_cases("sample", "octo/engine", DATES, SUMMARIES, cases, TRUTH)


def test_levels_have_a_rate_and_a_share() -> None:
    evaluation = _evaluate()
    rows = {row.name: (row.merges, row.a_day, row.named.value) for row in evaluation.levels}
    assert rows["breaks"] == (2, 0.2, 0.5)
    assert rows["touches"] == (2, 0.2, 1.0)
    assert rows["no"] == (1, 0.1, 0.0)
    assert rows["a changed file is imported"] == (3, 0.3, 2 / 3)
    assert (evaluation.named, evaluation.outside, evaluation.days) == (3, 1, 10)


def test_kinds_have_what_was_flagged_of_them() -> None:
    rows = {row.kind: (row.merges, row.breaks, row.touches, row.imported) for row in _evaluate().kinds}
    assert rows == {
        "moved": (1, 1.0, 1.0, 1.0),
        "signature": (1, 0.0, 1.0, 1.0),
        "behaviour": (1, 0.0, 1.0, 1.0),
        "structural": (2, 0.5, 1.0, 1.0),
        "other kinds": (1, 0.0, 1.0, 1.0),
        "all": (3, 1 / 3, 1.0, 2 / 3),
    }


def test_hits_are_followed_to_their_lines() -> None:
    changed = _evaluate().changed
    assert [each.value for each in (changed.hits, changed.hit_lines, changed.all_lines)] == [0.5, 1 / 6, 0.05]


def test_hits_came_days_before_the_downstream_adapted() -> None:
    evaluation = _evaluate()
    assert (evaluation.lead.hits, evaluation.lead.days) == (1, 7)


@pytest.mark.slow
def test_without_dates_there_is_no_lead() -> None:
    evaluation = evaluate_cases("sample", "octo/engine", DATES, SUMMARIES, CASES, replace(TRUTH, adapted={}))
    assert math.isnan(evaluation.lead.days)


@pytest.mark.slow
def test_without_hits_the_shares_are_undefined() -> None:
    evaluation = _evaluate((TouchCase(1, DATES.until, 1),))
    assert math.isnan(evaluation.changed.hits.value)
    assert evaluation.verdict.startswith("Only 1 of the merges")


@pytest.mark.parametrize(
    ("named", "auc", "precision", "words"),
    [
        (19, (0.1, 0.2), (0.1, 0.2), "a verdict needs 20"),
        (20, (0.1, 0.2), (0.1, 0.2), "are better than the list of merges that change an imported file."),
        # one that touches zero says nothing, for or against
        (20, (0.0, 0.2), (0.1, 0.2), "file, by mean average precision; by AUC, the difference is within chance."),
        (20, (0.1, 0.2), (-0.1, 0.2), "file, by AUC; by mean average precision, the difference is within chance."),
        (20, (0.1, 0.2), (-0.2, 0.0), "file, by AUC; by mean average precision, the difference is within chance."),
        (20, (0.1, 0.2), (math.nan, math.nan), "by mean average precision, the difference is within chance."),
        (20, (math.nan, math.nan), (-0.1, 0.2), "neither clearly better than the list"),
        (20, (-0.1, 0.2), (-0.2, 0.0), "nor worse: choose more dates."),
        (20, (-0.2, -0.1), (-0.1, 0.2), "file, by AUC: don't rely"),
        (20, (-0.2, -0.1), (0.1, 0.2), "file, by AUC (mean average precision is better): don't rely"),
        (20, (-0.2, -0.1), (-0.2, -0.1), "by AUC and mean average precision: don't rely"),
    ],
)
def test_the_verdict_says_where_the_rules_are_no_better(
    named: int, auc: tuple[float, float], precision: tuple[float, float], words: str
) -> None:
    gains = [Estimate(sum(each) / 2, *each) for each in (auc, precision)]
    assert words in judge_gain(named, *gains)
