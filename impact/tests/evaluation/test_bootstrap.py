import math
import random
from statistics import fmean, quantiles

import pytest
from hypothesis import given
from hypothesis import strategies as st

from impact.evaluation.ranking_metrics import Estimate, build_estimate, draw_samples


@given(st.integers(0, 30), st.integers(0, 20))
def test_as_many_days_are_drawn_as_there_are(days: int, count: int) -> None:
    samples = draw_samples(days, count)
    assert len(samples) == count
    assert all(len(weights) == days and sum(weights) == days for weights in samples)


def test_the_same_days_are_drawn_each_time_and_not_the_same_in_each_draw() -> None:
    assert draw_samples(12, 9) == draw_samples(12, 9)
    assert len(set(draw_samples(12, 9))) == 9


@given(st.lists(st.floats(-5, 5), min_size=2, max_size=60))
def test_the_ends_are_percentiles(values: list[float]) -> None:
    estimate = build_estimate(1.0, values)
    cuts = quantiles(values, n=40, method="inclusive")
    assert estimate.value == 1.0
    assert [estimate.low, estimate.high] == pytest.approx([cuts[0], cuts[-1]])


@pytest.mark.slow
def test_the_interval_of_a_mean_is_that_of_its_formula() -> None:
    source = random.Random(3)  # noqa: S311
    values = [source.gauss(0, 1) for _ in range(400)]
    drawn = [sum(w * v for w, v in zip(weights, values, strict=True)) / 400 for weights in draw_samples(400)]
    estimate = build_estimate(fmean(values), drawn)
    assert estimate.high - estimate.low == pytest.approx(2 * 1.96 / math.sqrt(400), rel=0.12)


@pytest.mark.parametrize(
    ("drawn", "is_known"),
    [
        pytest.param([0.4, 0.6, math.nan], True, id="mostly-defined"),
        pytest.param([0.4, math.nan, math.nan], False, id="mostly-not"),
        pytest.param([math.nan], False, id="never"),
        pytest.param([], False, id="no-draws"),
    ],
)
def test_what_is_mostly_not_defined_has_no_interval(drawn: list[float], is_known: bool) -> None:
    assert build_estimate(0.5, drawn).is_defined is is_known
    assert not Estimate(math.nan, 0.1, 0.2).is_defined
