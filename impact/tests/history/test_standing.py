import random
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from impact.history.merges import ClonedMerge
from impact.history.reverts import Revert, RevertIndex, list_reverted_numbers, select_standing
from tests.merges import NOON, pull


def reverting(number: int, *others: int) -> ClonedMerge:
    """Higher numbers are merged later."""
    body = "\n".join(f"Reverts #{other}" for other in others)
    return pull(number, body=body, merged_at=NOON + timedelta(minutes=number))


def part(number: int, other: int) -> ClonedMerge:
    return replace(reverting(number), title=f"Partial revert of #{other}")


def in_the_end(*pulls: ClonedMerge) -> set[tuple[int, int]]:
    return {(revert.number, revert.by) for revert in select_standing(RevertIndex(pulls).reverts, pulls)}


@pytest.mark.parametrize(
    ("pulls", "expected"),
    [
        pytest.param([], set(), id="nothing"),
        pytest.param([reverting(1), reverting(2)], set(), id="no-revert"),
        pytest.param([reverting(1), reverting(2, 1)], {(1, 2)}, id="taken-back"),
        pytest.param([reverting(1), reverting(2, 1), reverting(3, 2)], {(2, 3)}, id="landed-again"),
        pytest.param(
            [reverting(1), reverting(2, 1), reverting(3, 2), reverting(4, 3)],
            {(3, 4), (1, 2)},
            id="taken-back-in-the-end",
        ),
        pytest.param(
            [reverting(1), reverting(2, 1), reverting(3, 2), reverting(4, 1)],
            {(2, 3), (1, 4)},
            id="taken-back-a-second-time",
        ),
        pytest.param([reverting(1), reverting(2, 1), reverting(3, 1)], {(1, 2), (1, 3)}, id="taken-back-twice"),
        pytest.param(
            [reverting(1), reverting(2, 1), reverting(3, 1), reverting(4, 3)],
            {(3, 4), (1, 2)},
            id="one-of-two-reverts-still-holds",
        ),
        pytest.param(
            [reverting(1), reverting(2), reverting(3, 1, 2), reverting(4, 3)],
            {(3, 4)},
            id="one-that-took-back-several",
        ),
        pytest.param(
            [reverting(1), reverting(2, 1), reverting(3, 1, 2)],
            {(1, 3), (2, 3)},
            id="the-change-and-its-revert-at-once",
        ),
        pytest.param(
            [reverting(1), reverting(2), reverting(3, 1), reverting(4, 2), reverting(5, 4)],
            {(1, 3), (4, 5)},
            id="other-reverts-are-left-alone",
        ),
    ],
)
def test_a_revert_that_was_reverted_takes_nothing_back(
    pulls: list[ClonedMerge], expected: set[tuple[int, int]]
) -> None:
    assert in_the_end(*pulls) == expected


@pytest.mark.parametrize("length", range(1, 12))
def test_in_a_chain_of_reverts_every_second_one_holds(length: int) -> None:
    chain = [reverting(1), *(reverting(number, number - 1) for number in range(2, length + 1))]
    assert in_the_end(*chain) == {(number - 1, number) for number in range(length, 1, -2)}


def test_a_revert_by_title_of_a_revert_by_title_holds() -> None:
    titles = ["Count", 'Revert "Count"', 'Revert "Revert "Count""', 'Revert "Revert "Revert "Count"""']
    pulls = [pull(n, title=title, merged_at=NOON + timedelta(hours=n)) for n, title in enumerate(titles, 1)]
    assert in_the_end(*pulls[:3]) == {(2, 3)}
    assert in_the_end(*pulls) == {(3, 4), (1, 2)}


def test_what_was_taken_back_in_part_is_still_there() -> None:
    pulls = [reverting(1), reverting(2), part(3, 1), reverting(4, 2)]
    held = select_standing(RevertIndex(pulls).reverts, pulls)
    assert held == (Revert(2, 4), Revert(1, 3, is_partial=True))
    assert list_reverted_numbers(held) == {2}


def test_a_revert_that_was_taken_back_in_part_still_holds() -> None:
    pulls = [reverting(1), reverting(2, 1), part(3, 2)]
    assert set(select_standing(RevertIndex(pulls).reverts, pulls)) == {Revert(1, 2), Revert(2, 3, is_partial=True)}


def test_a_part_comes_back_with_the_revert_of_its_revert() -> None:
    pulls = [reverting(1), part(2, 1), reverting(3, 2)]
    assert select_standing(RevertIndex(pulls).reverts, pulls) == (Revert(2, 3),)


def test_reverts_that_hold_come_newest_first() -> None:
    pulls = [reverting(1), reverting(2), reverting(3, 1), reverting(4, 2)]
    assert select_standing(RevertIndex(pulls).reverts, pulls) == (Revert(2, 4), Revert(1, 3))


@st.composite
def histories(draw: st.DrawFn) -> list[ClonedMerge]:
    """Each may take back any of those before it."""
    count = draw(st.integers(1, 9))
    earlier = [
        draw(st.sets(st.integers(1, number - 1), max_size=3)) if number > 1 else set()
        for number in range(1, count + 1)
    ]
    return [reverting(number, *sorted(others)) for number, others in enumerate(earlier, 1)]


@given(histories())
def test_a_revert_holds_where_no_revert_that_holds_takes_it_back(pulls: list[ClonedMerge]) -> None:
    known = RevertIndex(pulls).reverts
    held = set(select_standing(known, pulls))
    gone = {revert.number for revert in held}
    assert {revert for revert in known if revert.by not in gone} == held


@given(histories(), st.randoms(use_true_random=False))
def test_the_order_in_which_they_are_given_changes_nothing(
    pulls: list[ClonedMerge], shuffle: random.Random
) -> None:
    mixed, reverts = pulls.copy(), list(RevertIndex(pulls).reverts)
    shuffle.shuffle(mixed)
    shuffle.shuffle(reverts)
    assert set(select_standing(reverts, mixed)) == set(select_standing(RevertIndex(pulls).reverts, pulls))
