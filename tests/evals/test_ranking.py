import datetime as dt
import math
from collections import defaultdict
from itertools import permutations, product
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.merges import Case
from evals.ranking import TOP_SIZE, LabelledOrder, Measurement, RankingOrder, compute_roc_auc, select_tops

# day, score, whether something happened
Row = tuple[int, float, bool]
rows = st.lists(st.tuples(st.integers(0, 3), st.sampled_from([-1.0, 0.0, 0.5, 2.0]), st.booleans()), max_size=14)
few = st.lists(st.tuples(st.integers(0, 1), st.sampled_from([0.0, 1.0]), st.booleans()), max_size=9)
weighting = st.lists(st.integers(0, 3), min_size=4, max_size=4)


def order_of(cases: list[Row]) -> RankingOrder:
    return RankingOrder([day for day, _, _ in cases], [score for _, score, _ in cases])


def compute_figures(cases: list[Row], weights: list[int]) -> tuple[float, float]:
    order = order_of(cases)
    labelled, totals = LabelledOrder(order, list_positives(cases)), order.accumulate_weights(weights)
    return labelled.compute_auc(weights, totals), labelled.compute_average_precision(weights, totals)


def list_positives(cases: list[Row]) -> list[bool]:
    return [positive for _, _, positive in cases]


def by_pairs(cases: list[Row]) -> float:
    won = [
        (ours > theirs) + (ours == theirs) / 2
        for (_, ours, positive), (_, theirs, other) in product(cases, cases)
        if positive and not other
    ]
    return fmean(won) if won else math.nan


def by_thresholds(cases: list[Row]) -> float:
    """Average precision as scikit-learn defines it: precision at each score, weighted by the recall it gains."""
    positives = sum(positive for _, _, positive in cases)
    if not positives:
        return math.nan
    average_precision = 0.0
    for least in {score for _, score, _ in cases}:
        selection = [positive for _, score, positive in cases if score >= least]
        here = sum(positive for _, score, positive in cases if score == least)
        average_precision += here / positives * sum(selection) / len(selection)
    return average_precision


def by_orders(cases: list[Row]) -> tuple[int, float]:
    """Places and hits on average over every order in which ties may stand."""
    days: dict[int, list[tuple[float, bool]]] = defaultdict(list)
    for day, score, positive in cases:
        days[day].append((score, positive))
    slots, hits = 0, 0.0
    for those in days.values():
        slots += min(TOP_SIZE, len(those))
        tried = [
            sum(positive for _, positive in sorted(order, key=lambda case: -case[0])[:TOP_SIZE])
            for order in permutations(those)
        ]
        hits += fmean(tried)
    return slots, hits


def same(one: float, other: float) -> bool:
    return (math.isnan(one) and math.isnan(other)) or one == pytest.approx(other)


@given(rows, weighting)
def test_the_auc_is_the_share_of_pairs_in_order(cases: list[Row], weights: list[int]) -> None:
    repeated = [case for case in cases for _ in range(weights[case[0]])]
    assert same(compute_figures(cases, weights)[0], by_pairs(repeated))
    assert same(compute_roc_auc([score for _, score, _ in cases], [case[2] for case in cases]), by_pairs(cases))


@given(rows, weighting)
def test_average_precision_is_that_of_thresholds(cases: list[Row], weights: list[int]) -> None:
    repeated = [case for case in cases for _ in range(weights[case[0]])]
    assert same(compute_figures(cases, weights)[1], by_thresholds(repeated))


@given(few.filter(lambda cases: all(sum(each[0] == day for each in cases) <= 6 for day in (0, 1))))
def test_the_top_of_a_day_is_the_mean_over_the_orders_of_ties(cases: list[Row]) -> None:
    tops = select_tops(order_of(cases), list_positives(cases), 2)
    slots, hits = by_orders(cases)
    assert sum(tops.slots) == slots
    assert sum(tops.hits) == pytest.approx(hits)


@given(rows, weighting, st.sampled_from([-1.0, 0.0, 0.2, 2.0, 3.0]))
def test_below_a_least_score_nothing_has_a_place(cases: list[Row], weights: list[int], least: float) -> None:
    above = [case for case in cases if case[1] >= least]
    tops = select_tops(order_of(cases), list_positives(cases), 4, least)
    alone = select_tops(order_of(above), list_positives(above), 4)
    assert (tops.slots, tops.hits) == (alone.slots, alone.hits)
    assert same(tops.compute_precision(weights), alone.compute_precision(weights))


@given(rows, weighting)
def test_days_count_as_often_as_they_weigh(cases: list[Row], weights: list[int]) -> None:
    tops = select_tops(order_of(cases), list_positives(cases), 4)
    slots = sum(weight * each for weight, each in zip(weights, tops.slots, strict=True))
    hits = sum(weight * each for weight, each in zip(weights, tops.hits, strict=True))
    positives = sum(weights[day] for day, _, positive in cases if positive)
    assert same(tops.compute_precision(weights), hits / slots if slots else math.nan)
    assert same(tops.compute_recall(weights), hits / positives if positives else math.nan)


@given(rows)
def test_a_random_order_is_one_in_which_all_are_equal(cases: list[Row]) -> None:
    equal = [(day, 0.0, positive) for day, _, positive in cases]
    (auc, average_precision), positives = compute_figures(equal, [1] * 4), sum(list_positives(cases))
    assert same(auc, 0.5 if 0 < positives < len(cases) else math.nan)
    assert same(average_precision, positives / len(cases) if positives else math.nan)


FIRST, SECOND = dt.date(2025, 3, 1), dt.date(2025, 3, 2)
R = frozenset({"R"})
CASES = [
    Case(FIRST, frozenset()),
    Case(FIRST, R),
    Case(FIRST, R, is_known=True),
    Case(FIRST, frozenset()),
    Case(FIRST, frozenset()),
    Case(SECOND, frozenset()),
]


class TestMeasurement:
    def test_what_was_known_counts_in_the_auc_of_all_alone(self) -> None:
        measurement = Measurement(CASES, ("R",), 20)
        row = measurement.measure_ranking("any", [1, 2, 0, 3, 0, 0]).rows["R"]
        assert (measurement.count_positives("R"), measurement.count_positives("R", include_known=True)) == (1, 2)
        assert measurement.days == 2
        assert row.auc.value == pytest.approx(3 / 4)
        assert row.auc_all == pytest.approx(4 / 8)
        # three places on the first day, one on the second
        assert (row.precision.value, row.recall.value) == (1 / 4, 1.0)

    def test_a_least_score_leaves_places_empty(self) -> None:
        (row,) = Measurement(CASES, ("R",), 20).measure_top([1, 2, 9, 3, 0, 0], 2)
        assert (row.slots, row.least, row.precision.value, row.recall.value) == (2, 2, 1 / 2, 1.0)

    def test_rankings_are_compared_on_the_same_days(self) -> None:
        measurement = Measurement(CASES, ("R",), 50)
        one, other = (measurement.measure_ranking(name, [1, 2, 0, 3, 0, 0]) for name in ("one", "other"))
        difference = one.aucs["R"].compare(other.aucs["R"])
        assert (difference.value, difference.low, difference.high) == (0.0, 0.0, 0.0)

    @pytest.mark.parametrize(("case", "days"), [(Case(FIRST, frozenset()), 1), (Case(FIRST, R, is_known=True), 0)])
    def test_without_positives_that_are_open_nothing_is_known(self, case: Case, days: int) -> None:
        measurement = Measurement([case], ("R",), 5)
        row = measurement.measure_ranking("any", [1]).rows["R"]
        assert (measurement.days, row.auc.is_defined) == (days, False)
        assert all(map(math.isnan, (row.auc_all, row.auc.value)))
        assert row.precision.value == 0.0 if days else math.isnan(row.precision.value)
