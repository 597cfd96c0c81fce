"""What chance alone would give: by hand, and by trying every way there is."""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations, product
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.features.risks.rules import (
    HypergeometricDraw,
    compute_hit_distribution,
    compute_lower_tail,
    compute_upper_tail,
    compute_wilson_interval,
)


@st.composite
def small_draws(draw: st.DrawFn) -> HypergeometricDraw:
    total = draw(st.integers(0, 6))
    return HypergeometricDraw(draw(st.integers(0, total)), draw(st.integers(0, total)), total)


few = st.lists(small_draws(), max_size=3)


def spread_draws(draws: Sequence[HypergeometricDraw], odds: int = 1) -> list[float]:
    """The same spread, by every way to draw; one that takes marked things weighs as much more as the odds say."""
    weights: Counter[int] = Counter()
    ways = [
        [sum(thing < each.marked for thing in way) for way in combinations(range(each.total), each.drawn)]
        for each in draws
    ]
    for way in product(*ways):
        weights[sum(way)] += prod(odds**hits for hits in way)
    every = sum(weights.values())
    return [weights[hits] / every for hits in range(max(weights) + 1)]


@given(few, st.sampled_from([1, 2, 3]))
def test_the_spread_is_that_of_every_way_to_draw(draws: list[HypergeometricDraw], odds: int) -> None:
    expected = spread_draws(draws, odds)
    assert list(compute_hit_distribution(draws, odds))[: len(expected)] == pytest.approx(expected)
    assert sum(compute_hit_distribution(draws, odds)[len(expected) :]) == 0


@given(few)
def test_the_expected_number_is_the_mean_of_every_way_to_draw(draws: list[HypergeometricDraw]) -> None:
    mean = sum(hits * share for hits, share in enumerate(spread_draws(draws)))
    assert sum(draw.expected for draw in draws) == pytest.approx(mean)


@given(few, st.integers(0, 20))
def test_so_many_or_more_and_fewer_are_all_there_is(draws: list[HypergeometricDraw], hits: int) -> None:
    distribution = compute_hit_distribution(draws)
    assert compute_upper_tail(distribution, hits + 1) + compute_lower_tail(distribution, hits) == pytest.approx(1)


@pytest.mark.parametrize(
    ("draws", "hits", "expected"),
    [
        ([], 0, 1.0),
        ([], 1, 0.0),
        ([HypergeometricDraw(1, 1, 4)], 1, 0.25),
        ([HypergeometricDraw(2, 1, 4)], 1, 0.5),
        # both of two marked ones, in 1 of the 6 pairs of 4
        ([HypergeometricDraw(2, 2, 4)], 2, 1 / 6),
        ([HypergeometricDraw(1, 1, 4), HypergeometricDraw(1, 1, 4)], 2, 1 / 16),
        ([HypergeometricDraw(1, 1, 4), HypergeometricDraw(1, 1, 4)], 1, 7 / 16),
        ([HypergeometricDraw(3, 0, 40), HypergeometricDraw(0, 3, 40)], 0, 1.0),
        ([HypergeometricDraw(3, 3, 3)], 3, 1.0),
    ],
)
def test_so_many_or_more_by_hand(draws: list[HypergeometricDraw], hits: int, expected: float) -> None:
    assert compute_upper_tail(compute_hit_distribution(draws), hits) == pytest.approx(expected)


def test_doubled_odds_by_hand() -> None:
    """One of four is marked and one is drawn: 2 against 1 + 1 + 1."""
    assert compute_hit_distribution([HypergeometricDraw(1, 1, 4)], 2) == pytest.approx((0.6, 0.4))


@pytest.mark.slow
def test_large_draws_neither_overflow_nor_lose_a_part() -> None:
    distribution = compute_hit_distribution([HypergeometricDraw(900, 700, 3_000)] * 2, 2)
    assert sum(distribution) == pytest.approx(1)
    assert compute_upper_tail(distribution, 0) <= 1


@pytest.mark.parametrize(
    ("part", "whole", "low", "high"),
    [
        # the first four as printed in Newcombe, Statistics in Medicine 17 (1998), table I
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
        (20, 20, 0.8389, 1.0),
        (0, 0, 0.0, 1.0),
    ],
)
def test_the_interval_of_a_share(part: int, whole: int, low: float, high: float) -> None:
    assert compute_wilson_interval(part, whole) == pytest.approx((low, high), abs=0.00005)
