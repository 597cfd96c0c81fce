import datetime as dt
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from impact.errors import UsageError
from impact.evaluation.adaptations import NamingCommit, mine_truth, parse_truth

MERGED = datetime(2026, 1, 5, tzinfo=UTC)
LATER = MERGED + timedelta(days=3)


def _mine(message: str, at: datetime = LATER) -> set[int]:
    merged = dict.fromkeys((12, 345), MERGED)
    return set(mine_truth([NamingCommit(at, message)], ["engine"], merged).kinds)


@pytest.mark.parametrize(
    ("message", "numbers"),
    [
        ("Adapt to octo/engine#12", {12}),
        ("Upgrade engine\n\nhttps://github.com/octo/engine/pull/12\nand engine PR #345", {12, 345}),
        ("Tidy up\n\nThe new argument is due to\nhttps://github.com/octo/engine/pull/12", {12}),
        ("[CI] Fix breakage (#345)\n\nCaused by Engine #12.", {12}),
        # its own numbers, other repositories, what was never merged
        ("Adapt (#12)", set()),
        ("Adapt to #12", set()),
        ("Adapt to octo/engine-plugin#12 and my-engine#345", set()),
        ("Adapt to octo/engine#99", set()),
        ("Adapt to octo/engine#1234567890123", set()),
        # what brings something over, or just refers to it
        ("Cherry-pick octo/engine#12 to fix x", set()),
        ("Add a kernel\n\nSee octo/engine#12.", set()),
    ],
)
def test_an_adaptation_names_its_cause(message: str, numbers: set[int]) -> None:
    assert _mine(message) == numbers


def test_a_merge_is_named_after_it() -> None:
    assert _mine("Adapt to octo/engine#12", MERGED - timedelta(seconds=1)) == set()


@given(st.text())
def test_any_message_can_be_read(message: str) -> None:
    assert _mine(f"Adapt to {message}") <= {12, 345}


def test_a_file_of_truth_has_numbers_and_kinds() -> None:
    truth = parse_truth("upstream_pr,what,kind\n7,x,moved\n7,y,signature\n#9,z,\nnone,,moved\n,,\n")
    assert truth.kinds == {7: frozenset({"moved", "signature"}), 9: frozenset()}
    dated = parse_truth("upstream_pr,date\n7,2026-01-09\n7,2026-01-05\n9,soon\n")
    assert dated.adapted == {7: dt.date(2026, 1, 5)}
    assert parse_truth("upstream_pr\n7\n").kinds == {7: frozenset()}


@pytest.mark.parametrize("text", ["", "pr,kind\n7,moved\n", "\0"])
def test_another_file_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_truth(text)
