import random
import time
from dataclasses import replace
from datetime import timedelta
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.features.merges.outcomes import Attempt, Reland, RevertIndex, build_change_key, find_relands
from bot.platform.pulls.models import PullRequest
from tests.helpers.builders import NOON, pull
from tests.helpers.tables import check_rows

COUNT = "Count requests once, and only where they come from"


def test_a_merge_that_fails_is_no_reland_and_leaves_the_others(caplog: pytest.LogCaptureFixture) -> None:
    merges = [make_merge(7), make_merge(9, COUNT), FIRST, UNDONE]
    index = RevertIndex(merges)
    index.by_number[7] = replace(merges[0], title=cast("Any", None))
    assert find_relands(index) == (AGAIN,)
    assert [record.getMessage() for record in caplog.records if record.exc_info] == ["reading '#7' failed"]


def make_merge(number: int, title: str = "", body: str = "", **fields: Any) -> PullRequest:
    """Higher numbers are merged later."""
    fields = {"merged_at": NOON + timedelta(minutes=number), **fields}
    return pull(number, title=title or f"Change number {number}", body=body, **fields)


FIRST, UNDONE = make_merge(5, COUNT), make_merge(6, f'Revert "{COUNT}"', "Reverts octo/engine#5")
AGAIN = Reland(9, (Attempt(5, 6),))


@check_rows(
    [
        (COUNT, ""),
        (f"{COUNT} (#9)", ""),
        (f"[Reland] {COUNT}", ""),
        (f"[Core][re-land] {COUNT}", ""),
        (f"[Reland 2] {COUNT}", ""),
        (f"(reland) {COUNT}", ""),
        (f'Reland "{COUNT}"', ""),
        (f'Reland "{COUNT[:35]}\u2026"', ""),
        (f"Reland: {COUNT}", ""),
        (f"Re-land {COUNT}", ""),
        (f'Reland^2 "{COUNT}"', ""),
        (f"Reland of {COUNT}", ""),
        (f'Reapply "{COUNT}"', ""),
        (f"Re-apply {COUNT}", ""),
        (f"Fix and reapply {COUNT}", ""),
        (f"[unrevert] {COUNT}", ""),
        (f"UNREVERT {COUNT}", ""),
        (f"Re-introduce {COUNT}", ""),
        (f"[Redo] {COUNT}", ""),
        (f"[Take 2] {COUNT}", ""),
        (f"[2nd try] {COUNT}", ""),
        (f"{COUNT} (2nd try)", ""),
        (f"{COUNT} (take 2)", ""),
        (f"{COUNT}, take two", ""),
        (f"{COUNT} v2", ""),
        (f"{COUNT} again", ""),
        (f"{COUNT} (fix for reverted PR)", ""),
        ("Reland #5", ""),
        ("[Redo] #5", ""),
        ("[Core] Re-land the counter from #5", ""),
        (f'Revert "Revert "{COUNT}""', ""),
        ("Revert #6", ""),
        (f'Back out "Revert "{COUNT}""', ""),
        ("Count", "Relands #5"),
        ("Count", "This is a reland of #5, reverted in #6."),
        ("Count", "Re-land of https://github.com/octo/engine/pull/5"),
        ("Count", "This PR re-applies #5 with a fix."),
        ("Count", "Second attempt of #5"),
        ("Count", "Another attempt at #5."),
        ("Count", "Reintroduces #5"),
        ("Count", "Reverts octo/engine#6"),
        # who names the revert means what that took back
        ("Count", "Relands #6"),
        # what it says of the revert takes nothing back
        (f'Reland "{COUNT}"', "Reverts octo/engine#6"),
    ]
)
def test_a_reland_tells_what_was_tried(title: str, body: str) -> None:
    assert find_relands(RevertIndex([make_merge(9, title, body), FIRST, UNDONE])) == (AGAIN,)


@check_rows(
    [
        ("Use a pool", ""),
        ("Use a pool", "See #5 and #6"),
        (f'Revert "{COUNT}"', ""),
        ("Revert #5", ""),
        ("Retry the download", ""),
        ("Reland #77", ""),
        ("Reland something else", ""),
        (f"{COUNT}, and more", ""),
        ("Count", "Relands other/engine#5"),
        ("Count", "> Relands #5"),
        ("Count", "```\nRelands #5\n```"),
        ("Count", "<!-- Relands #5 -->"),
        ("Count", "This does not reland #5"),
        ("Count", "We may reland #5"),
        ("Count", "Relanded in #5"),
        ("Partially revert #6", ""),
    ]
)
def test_others_land_nothing_again(title: str, body: str) -> None:
    assert find_relands(RevertIndex([make_merge(9, title, body), FIRST, UNDONE])) == ()


@pytest.mark.parametrize("title", ["Reland #5", f'Reland "{COUNT}"', f"[Reland] {COUNT}"])
def test_who_says_so_needs_no_known_revert(title: str) -> None:
    assert find_relands(RevertIndex([FIRST, make_merge(9, title)])) == (Reland(9, (Attempt(5, None),)),)


@pytest.mark.parametrize("title", [COUNT, f"{COUNT} (take 2)", "Redo #5", "Retry the counter (#5)"])
def test_who_does_not_needs_one(title: str) -> None:
    assert find_relands(RevertIndex([FIRST, make_merge(9, title)])) == ()


def test_a_short_title_is_no_reland_by_itself() -> None:
    pulls = [make_merge(5, "Bump version"), make_merge(6, "Revert #5"), make_merge(9, "Bump version")]
    assert find_relands(RevertIndex(pulls)) == ()


def test_a_title_that_returns_is_no_reland_where_one_of_it_stands() -> None:
    title = "Update the dependencies of the month"
    pulls = [make_merge(4, title), make_merge(5, title), make_merge(6, "Revert #5"), make_merge(9, title)]
    assert find_relands(RevertIndex(pulls)) == ()


def test_what_was_taken_back_later_was_there() -> None:
    assert find_relands(RevertIndex([FIRST, make_merge(8, COUNT), make_merge(9, "Revert #5")])) == ()


def test_the_history_of_tries_is_told() -> None:
    titles = {
        1: COUNT,
        2: "Revert #1",
        3: f"[Reland] {COUNT}",
        4: f'Revert "[Reland] {COUNT}"',
        5: f"{COUNT} (take 3)",
        6: "Partially revert #5",
        7: "Reland #1",
    }
    pulls = [make_merge(number, title) for number, title in titles.items()]
    assert find_relands(RevertIndex(pulls)) == (
        Reland(3, (Attempt(1, 2),)),
        Reland(5, (Attempt(1, 2), Attempt(3, 4))),
        Reland(7, (Attempt(1, 2), Attempt(3, 4), Attempt(5, 6))),
    )


def test_a_revert_of_a_revert_is_a_try_too() -> None:
    titles = {1: COUNT, 2: "Revert #1", 3: "Revert #2", 4: "Revert #3", 5: "Revert #4"}
    relands = find_relands(RevertIndex([make_merge(number, title) for number, title in titles.items()]))
    assert relands == (Reland(3, (Attempt(1, 2),)), Reland(5, (Attempt(1, 2), Attempt(3, 4))))


def test_who_takes_back_the_change_and_its_revert_lands_nothing() -> None:
    assert find_relands(RevertIndex([FIRST, UNDONE, make_merge(9, "Revert #5 and #6")])) == ()


def test_two_changes_may_land_again_as_one() -> None:
    pulls = [
        make_merge(1),
        make_merge(2),
        make_merge(3, "Revert #1 and #2"),
        make_merge(4, "Reland #1 and #2"),
        make_merge(5, "Revert #4"),
    ]
    assert find_relands(RevertIndex([*pulls, make_merge(6, "Reland #2")])) == (
        Reland(4, (Attempt(1, 3), Attempt(2, 3))),
        Reland(6, (Attempt(1, 3), Attempt(2, 3), Attempt(4, 5))),
    )


@pytest.mark.parametrize(
    ("title", "key"),
    [
        ("[Core] [Reland] Count once (#5)", "[core] count once"),
        ("[Core] Re-land Count  once", "[core] count once"),
        ('Reland "Reland "Count once""', "count once"),
        ("[Reland][take 2] Count once (2nd try) (#7)", "count once"),
        ('Revert "Count once"', 'revert "count once"'),
        ("Count once (per second)", "count once (per second)"),
        ("[Reland]", ""),
        ("", ""),
    ],
)
def test_the_tries_of_a_change_have_one_key(title: str, key: str) -> None:
    assert build_change_key(title) == key


@st.composite
def histories(draw: st.DrawFn) -> list[PullRequest]:
    """Each may take back or land again one of those before it."""
    words = st.sampled_from(
        [COUNT, f"[Reland] {COUNT}", "Revert #{n}", "Reland #{n}", f'Revert "{COUNT}"', "Go on"]
    )
    count = draw(st.integers(1, 9))
    return [make_merge(at, draw(words).format(n=draw(st.integers(1, count)))) for at in range(1, count + 1)]


@given(histories(), st.randoms(use_true_random=False))
def test_the_order_in_which_they_are_given_changes_nothing(
    pulls: list[PullRequest], shuffle: random.Random
) -> None:
    mixed = pulls.copy()
    shuffle.shuffle(mixed)
    assert find_relands(RevertIndex(mixed)) == find_relands(RevertIndex(pulls))


@given(histories())
def test_tries_come_before_in_order_and_what_took_them_back_between(pulls: list[PullRequest]) -> None:
    for reland in find_relands(RevertIndex(pulls)):
        numbers = [each.number for each in reland.attempts]
        assert numbers == sorted(set(numbers))
        assert numbers
        assert all(each.number < (each.reverted_by or reland.number) <= reland.number for each in reland.attempts)
        assert reland.number not in {each.reverted_by for each in reland.attempts}


@given(histories())
def test_what_is_merged_later_changes_no_reland(pulls: list[PullRequest]) -> None:
    relands = find_relands(RevertIndex(pulls))
    assert find_relands(RevertIndex(pulls[:-1])) == tuple(
        each for each in relands if each.number != pulls[-1].number
    )


@pytest.mark.slow
def test_thousands_of_tries_are_told_soon() -> None:
    turns = [make_merge(n, COUNT if n % 2 else f"Revert #{n - 1}") for n in range(1, 3_001)]
    later = [replace(each, merged_at=NOON + timedelta(seconds=each.number)) for each in turns]
    before = time.process_time()
    relands = find_relands(RevertIndex(later))
    assert time.process_time() - before < 3
    assert len(relands) == 1_499
    assert [each.number for each in relands[-1].attempts] == list(range(2_899, 2_999, 2))
