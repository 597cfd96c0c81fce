"""A patch is laid over the file that it made, also where others have moved its lines since."""

import difflib
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.platform.pulls.diff import DiffLine
from bot.platform.source.excerpts import annotate_file, restore_old_text
from impact.source.models import SourceFile

LINES = st.lists(
    st.sampled_from(["", "a", "b", "return", "    x = 1", "+", "-y", " z", "@@ -1 +1 @@"]), max_size=30
)


def make_text(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def make_patch(old: Sequence[str], new: Sequence[str], around: int = 3) -> str:
    _, _, *hunks = [*difflib.unified_diff(old, new, lineterm="", n=around), "", ""][:-2] or ["", ""]
    return "\n".join(hunks)


def annotate(new: Sequence[str], patch: str) -> tuple[DiffLine, ...] | None:
    return annotate_file(SourceFile("a.py", make_text(new)), patch)


@given(LINES, LINES, st.sampled_from([0, 1, 3]), LINES)
def test_both_versions_are_in_an_annotated_file(
    old: list[str], new: list[str], around: int, moved: list[str]
) -> None:
    """``moved``: what somebody else had put before it when it was merged."""
    marked = ["# others", *moved] if around else []
    lines = annotate([*marked, *new], make_patch(old, new, around))
    if lines is None:
        # what stands before may hold the very lines of a hunk
        assert moved
        return
    assert [line.text for line in lines if line.mark != "-"] == [*marked, *new]
    if not moved:
        assert restore_old_text(lines) == make_text([*marked, *old])
    assert [line.new for line in lines if line.mark != "-"] == [*range(1, len(marked) + len(new) + 1)]
    kept = [line.old for line in lines if line.mark != "+"]
    assert kept == [*range(1, len(kept) + 1)]


@pytest.mark.parametrize("shift", [-40, -1, 1, 40, 900])
def test_lines_that_others_moved_are_found_and_numbered_as_they_are_now(shift: int) -> None:
    before = [f"line {n}" for n in range(2_000)]
    old, new = [*before], [*before]
    new[1_000:1_001] = ["changed", "added"]
    patch = make_patch(old, new)
    now = ["# others"] * shift + new if shift > 0 else new[-shift:]
    lines = annotate(now, patch)
    assert lines is not None
    assert [(line.mark, line.new) for line in lines if line.is_change] == [
        ("-", 1_001 + shift),
        ("+", 1_001 + shift),
        ("+", 1_002 + shift),
    ]
    assert {line.old for line in lines if line.mark == "-"} == {1_001 + shift}


@pytest.mark.parametrize(
    "patch",
    ["@@ -1,2 +1,2 @@\n a\n-b\n+other", "@@ -1 +1,3 @@\n a\n+x\n+y", "@@ -90,1 +90,1 @@\n-q\n+r"],
    ids=["another line", "a line that is gone", "beyond the end"],
)
def test_a_patch_of_another_file_is_noticed(patch: str) -> None:
    assert annotate(["a", "b", "c"], patch) is None


def test_hunks_stand_one_after_the_other() -> None:
    patch = "@@ -1 +1 @@\n-x\n+b\n@@ -3 +3 @@\n-y\n+a"
    assert annotate(["a", "b"], patch) is None


def test_a_file_that_is_empty_now_has_only_deleted_lines() -> None:
    lines = annotate([], "@@ -1,2 +0,0 @@\n-a\n-b")
    assert lines is not None
    assert [line.patch_text for line in lines] == ["-a", "-b"]


def test_a_line_that_stands_very_often_is_looked_for_in_bounded_time() -> None:
    patch = "@@ -1,2 +1,2 @@\n x\n-b\n+c"
    assert annotate(["x"] * 100_000, patch) is None
