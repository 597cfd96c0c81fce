import datetime as dt

import pytest

from bot.features.touches.terminal import format_touch_table
from impact.evaluation.adaptations import TouchTruth
from impact.evaluation.touch_evaluation import TouchCase, TouchEvaluation, WindowSummary, evaluate_cases
from impact.evaluation.window import EvaluationWindow
from impact.touches.models import TouchLevel

DATES = EvaluationWindow(dt.date(2026, 1, 1), dt.date(2026, 1, 10))


def evaluate(adapted: dict[int, dt.date]) -> TouchEvaluation:
    cases = [
        TouchCase(1, DATES.since, 0, 10, 1, TouchLevel.BREAKS, 0.9, "x", "y", 4, 1),
        TouchCase(2, DATES.since, 0, 10, 0),
    ]
    truth = TouchTruth({1: frozenset({"moved"})}, adapted=adapted)
    return evaluate_cases(
        "sample", "octo/engine", DATES, [WindowSummary("one", "a" * 40, 2, 100, 80, 8)], cases, truth
    )


@pytest.mark.slow
def test_it_says_how_early_hits_came_where_the_dates_of_adaptations_are_known() -> None:
    table = format_touch_table(evaluate({1: dt.date(2026, 1, 8)}))
    assert "came 7 days before the downstream adapted (median of 1)" in table
    assert "before the downstream adapted" not in format_touch_table(evaluate({}))
