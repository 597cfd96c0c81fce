import math
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from impact.evaluation.ranking_metrics import TouchMeasurement, share_top

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
