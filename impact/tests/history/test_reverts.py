import random
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from impact.history.merges import ClonedMerge
from impact.history.reverts import Revert, RevertIndex, expand_pairs, is_revert
from impact.repository import Repository
from tests.merges import NOON, pull

SHA = "a1b2c3d4e5f60718293a4b5c6d7e8f9001122334"


def make_merge(number: int, title: str = "", body: str = "", **fields: Any) -> ClonedMerge:
    """Higher numbers are merged later."""
    fields = {"merged_at": NOON + timedelta(minutes=number), "merge_commit": f"{number:07x}" + "f" * 33, **fields}
    return pull(number, title=title or f"Change number {number}", body=body, **fields)


FIRST = make_merge(5, "Count requests once", merge_commit=SHA)


@pytest.mark.parametrize(
    ("title", "body"),
    [
        pytest.param('Revert "Count requests once"', "", id="title-as-github-writes-it"),
        pytest.param('Revert "Count requests once" (#5)', "", id="title-with-number"),
        pytest.param('revert "Another title by then" (#5)', "", id="number-under-a-changed-title"),
        pytest.param("Revert “Count requests once”", "", id="curly-quotes"),
        pytest.param('[Core][CI] Revert "Count requests once"', "", id="tags-before"),
        pytest.param("Revert #5", "", id="number-in-title"),
        pytest.param("[Core] Revert PR #5 for now", "", id="number-in-title-with-words"),
        pytest.param("Undo", "Reverts octo/engine#5", id="body-as-github-writes-it"),
        pytest.param("Undo", "It broke.\n\n  reverts #5\n", id="body-without-repository"),
        pytest.param("Undo", "This reverts #5.", id="body-this-reverts"),
        pytest.param("Undo", f"This reverts commit {SHA}.", id="commit-as-git-writes-it"),
        pytest.param("Undo", f"This reverts commit {SHA[:7]}.", id="short-commit"),
        pytest.param("Undo", f"Revert commit {SHA.upper()}", id="commit-in-capitals"),
    ],
)
def test_a_revert_names_what_it_takes_back(title: str, body: str) -> None:
    assert RevertIndex([make_merge(9, title, body), FIRST, make_merge(7)]).reverts == (Revert(5, 9),)


@pytest.mark.parametrize(
    ("title", "body"),
    [
        pytest.param("Count requests once", "", id="the-same-title"),
        pytest.param("Fix what #5 broke", "See #5 and octo/engine#5.", id="a-number-alone"),
        pytest.param("Do not revert #5", "", id="not-at-the-start"),
        pytest.param("Reverting is hard #5", "", id="another-word"),
        pytest.param("Convert #5", "", id="part-of-a-word"),
        pytest.param('Revert "Count requests"', "", id="part-of-a-title"),
        pytest.param('Revert "Count requests once again"', "", id="longer-title"),
        pytest.param("Undo", "We may revert this later, see #5", id="plan"),
        pytest.param("Undo", "> Reverts #5", id="quoted"),
        pytest.param("Undo", f"Builds on commit {SHA}", id="commit-alone"),
        pytest.param("Undo", "This reverts commit a1b2c3.", id="commit-too-short"),
        pytest.param("Undo", "This reverts commit 0000000.", id="another-commit"),
        pytest.param("Revert #50", "", id="a-longer-number"),
        pytest.param("Revert #77", "", id="number-not-of-the-day"),
    ],
)
def test_what_takes_nothing_back_is_no_revert(title: str, body: str) -> None:
    assert RevertIndex([make_merge(9, title, body), FIRST]).reverts == ()


@pytest.mark.parametrize(
    "body", ["Reverts other/engine#5", "Reverts octo/other#5", "This reverts pytorch/pytorch#5"]
)
def test_a_number_of_another_repository_is_no_revert(body: str) -> None:
    assert RevertIndex([make_merge(9, "Undo", body), FIRST]).reverts == ()


def test_the_repository_is_compared_without_regard_to_case() -> None:
    assert RevertIndex([make_merge(9, "Undo", "Reverts Octo/Engine#5"), FIRST]).reverts == (Revert(5, 9),)


def test_of_two_equal_titles_only_the_one_that_is_named_is_taken_back() -> None:
    pulls = [make_merge(4, "Bump"), make_merge(5, "Bump"), make_merge(9, 'Revert "Bump"', "Reverts octo/engine#5")]
    assert RevertIndex(pulls).reverts == (Revert(5, 9),)


def test_a_hint_in_a_template_is_no_revert() -> None:
    assert RevertIndex([make_merge(9, "Undo", "<!-- write for example\nReverts #5\n-->"), FIRST]).reverts == ()


def test_a_later_pull_request_is_not_taken_back_by_an_earlier_one() -> None:
    assert RevertIndex([make_merge(3, "Revert #5"), FIRST]).reverts == ()


def test_a_pull_request_does_not_take_itself_back() -> None:
    assert RevertIndex([make_merge(9, 'Revert "Count requests once" (#9)', "Reverts #9")]).reverts == ()


def test_a_nested_revert_names_the_revert() -> None:
    second = make_merge(6, 'Revert "Count requests once"', "Reverts octo/engine#5")
    third = make_merge(8, 'Revert "Revert "Count requests once""', "Reverts octo/engine#6")
    assert RevertIndex([third, second, FIRST]).reverts == (Revert(6, 8), Revert(5, 6))


def test_a_nested_revert_is_known_by_its_title_alone() -> None:
    second = make_merge(6, 'Revert "Count requests once"')
    third = make_merge(8, 'Revert "Revert "Count requests once""')
    assert RevertIndex([third, second, FIRST]).reverts == (Revert(6, 8), Revert(5, 6))


def test_one_may_take_back_several_and_names_each_once() -> None:
    body = f"Reverts #5\nReverts octo/engine#6\nThis reverts commit {SHA}"
    assert RevertIndex([make_merge(9, "Revert #5", body), make_merge(6), FIRST]).reverts == (
        Revert(5, 9),
        Revert(6, 9),
    )


@pytest.mark.parametrize(
    ("title", "body", "expected"),
    [
        ('Revert "Count requests once"', "", True),
        ("[Core] Revert #5", "", True),
        ("Undo", f"This reverts commit {SHA}", True),
        ("Count requests once", "", False),
        ("Reverse the order", "See #5", False),
    ],
)
def test_a_pull_request_says_whether_it_is_a_revert(title: str, body: str, expected: bool) -> None:
    assert is_revert(make_merge(9, title, body)) is expected


def test_who_takes_back_another_of_the_day_is_a_revert() -> None:
    reverting_pull = make_merge(9, "Undo", "Reverts octo/engine#5")
    assert RevertIndex([reverting_pull, FIRST]).reverts == (Revert(5, 9),)
    assert is_revert(reverting_pull)


pieces = st.sampled_from(
    [
        "Revert ",
        "reverts ",
        "#1",
        "#2",
        "#3",
        "octo/engine#1",
        '"',
        "“",
        "”",
        "T1",
        "T2",
        "(#2)",
        "[",
        "]",
        "\n",
        "commit ",
    ]
)
wild = st.lists(pieces | st.text(max_size=8), max_size=10).map("".join)


@given(st.lists(st.tuples(wild, wild), min_size=1, max_size=4))
def test_whatever_is_written_both_halves_are_of_the_day_and_in_order(texts: list[tuple[str, str]]) -> None:
    pulls = [make_merge(at, title or f"T{at}", body) for at, (title, body) in enumerate(texts, 1)]
    reverts = RevertIndex(pulls).reverts
    assert all(revert.number < revert.by <= len(pulls) for revert in reverts)
    assert len(set(reverts)) == len(reverts)


def test_the_other_repository_of_a_day_is_known_by_its_own_name() -> None:
    other = Repository("acme", "web")
    pulls = [make_merge(5, repository=other), make_merge(9, "Undo", "Reverts acme/web#5", repository=other)]
    assert RevertIndex(pulls).reverts == (Revert(5, 9),)


@pytest.mark.parametrize(
    ("numbers", "shown"),
    [
        ([], []),
        ([5], [5]),
        ([1], [1, 2, 3]),
        ([3], [1, 2, 3]),
        ([2, 5], [1, 2, 3, 5]),
        ([8], [8, 9]),
        ([1, 9], [1, 2, 3, 8, 9]),
    ],
)
def test_a_chain_of_reverts_is_together_from_any_end(numbers: list[int], shown: list[int]) -> None:
    assert sorted(expand_pairs(numbers, [Revert(1, 2), Revert(2, 3), Revert(8, 9)])) == shown


@st.composite
def days(draw: st.DrawFn) -> list[ClonedMerge]:
    """Some pull requests, in no order, that may name each other by number, title and commit."""
    wording = st.sampled_from(
        [
            "Revert #{n}",
            "Partially revert #{n}",
            'Revert "Change number {n}"',
            "Revert {sha}",
            "Reland #{n}",
            "Go on",
        ]
    )
    numbers = draw(st.permutations(range(1, draw(st.integers(1, 8)) + 1)))
    return [make_merge(number, _draw_wording(draw, wording), _draw_wording(draw, wording)) for number in numbers]


def _draw_wording(draw: st.DrawFn, wording: st.SearchStrategy[str]) -> str:
    n = draw(st.integers(1, 8))
    return draw(wording).format(n=n, sha=f"{n:07x}" + "f" * 33)


@given(days(), st.randoms(use_true_random=False))
def test_the_order_in_which_they_are_given_changes_nothing(
    pulls: list[ClonedMerge], shuffle: random.Random
) -> None:
    mixed = pulls.copy()
    shuffle.shuffle(mixed)
    assert set(RevertIndex(mixed).reverts) == set(RevertIndex(pulls).reverts)


@given(days())
def test_what_is_merged_later_changes_nothing_of_what_was_found_before(pulls: list[ClonedMerge]) -> None:
    in_order = sorted(pulls, key=lambda each: each.merge_time)
    for count in range(len(in_order)):
        before = in_order[:count]
        numbers = {each.number for each in before}
        assert set(RevertIndex(before).reverts) == {
            each for each in RevertIndex(pulls).reverts if each.by in numbers
        }


@given(days())
def test_whoever_takes_something_back_is_a_revert(pulls: list[ClonedMerge]) -> None:
    by = {each.number: each for each in pulls}
    assert all(is_revert(by[revert.by]) for revert in RevertIndex(pulls).reverts)
