import math
import random
from itertools import product
from statistics import fmean, quantiles

import pytest
from hypothesis import given
from hypothesis import strategies as st

from impact.evaluation.ranking_metrics import Estimate, TouchMeasurement, build_estimate, draw_samples, share_top

CASES = st.lists(
    st.tuples(st.integers(0, 3), st.booleans(), st.integers(0, 4).map(float)), min_size=1, max_size=40
).map(lambda cases: sorted(cases, key=lambda case: case[0]))


def _count_auc(pairs: list[tuple[float, float]]) -> float:
    wins = sum(1.0 if one > other else 0.5 if one == other else 0.0 for one, other in pairs)
    return wins / len(pairs) if pairs else math.nan


def _list_pairs(cases: list[tuple[int, bool, float]], *, within: bool) -> list[tuple[float, float]]:
    return [
        (one[2], other[2])
        for one, other in product(cases, repeat=2)
        if one[1] and not other[1] and (not within or one[0] == other[0])
    ]


@given(CASES)
def test_areas_are_shares_of_pairs(cases: list[tuple[int, bool, float]]) -> None:
    windows, positives, scores = (list(each) for each in zip(*cases, strict=True))
    ranking = TouchMeasurement(windows, positives, draws=1).measure_ranking("any", scores)
    for figure, within in ((ranking.auc, False), (ranking.auc_within, True)):
        assert figure.value == pytest.approx(_count_auc(_list_pairs(cases, within=within)), nan_ok=True)


@given(CASES)
def test_the_precision_of_distinct_scores_is_that_of_the_textbook(cases: list[tuple[int, bool, float]]) -> None:
    windows, positives, _ = (list(each) for each in zip(*cases, strict=True))
    scores = [-float(place) for place in range(len(cases))]
    expected = []
    for window in sorted(set(windows)):
        outcomes = [positive for own, positive in zip(windows, positives, strict=True) if own == window]
        hits = [place for place, positive in enumerate(outcomes, 1) if positive]
        if hits:
            expected.append(sum(count / place for count, place in enumerate(hits, 1)) / len(hits))
    mean = sum(expected) / len(expected) if expected else math.nan
    ranking = TouchMeasurement(windows, positives, draws=1).measure_ranking("any", scores)
    assert ranking.mean_precision.value == pytest.approx(mean, nan_ok=True)


@pytest.mark.parametrize(
    ("scores", "shares"),
    [
        ([], []),
        ([1.0], [1.0]),
        ([float(each) for each in range(10)], [0.0] * 9 + [1.0]),
        # two places for three that tie
        ([0.0] * 17 + [1.0] * 3, [0.0] * 17 + [2 / 3] * 3),
        ([0.0] * 20, [0.1] * 20),
    ],
)
def test_those_that_tie_share_the_first_tenth(scores: list[float], shares: list[float]) -> None:
    assert share_top(scores) == pytest.approx(shares)


def test_a_better_order_has_a_gain_with_an_interval() -> None:
    windows = [place // 20 for place in range(400)]
    positives = [place % 20 == 0 for place in range(400)]
    measurement = TouchMeasurement(windows, positives, draws=100)
    best = measurement.measure_ranking("best", [float(each) for each in positives])
    blind = measurement.measure_ranking("blind", [0.0] * 400)
    assert (best.auc.value, best.mean_precision.value, best.top_within.value) == (1.0, 1.0, 1.0)
    assert blind.auc.value == 0.5
    assert blind.top.value == pytest.approx(0.1)
    gain = measurement.compare_rankings("best", "blind", "auc")
    assert (gain.value, gain.low, gain.high) == (0.5, 0.5, 0.5)


def test_a_share_is_weighted_by_windows() -> None:
    measurement = TouchMeasurement([0, 1], [True, False], draws=200)
    share = measurement.estimate_share([1, 0], [1, 3])
    assert (share.value, share.low, share.high) == (0.25, 0.0, 1.0)


# --- intervals


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
