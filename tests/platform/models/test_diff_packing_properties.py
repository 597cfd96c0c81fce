import random
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.platform.models.packing import Coverage, PackedDiff, estimate_tokens, pack_diff
from bot.platform.pulls.diff import split_hunks
from bot.platform.pulls.models import ChangedFile
from tests.helpers.builders import changed_file
from tests.platform.models.packed_diff import files, long_file, many_files, shown_in

pytestmark = pytest.mark.slow

budgets = st.integers(1_000, 20_000)
AMPLE = 10_000_000


def changes_of(file: ChangedFile) -> list[str]:
    return [
        f"{line.mark}{line.text}" for _, lines in split_hunks(file.patch or "") for line in lines if line.is_change
    ]


def make_added_lines(characters: int) -> str:
    """So many characters in added lines, none of which is too long to be shown."""
    return "\n".join(f"+{'x' * (len(part) - 1)}" for part in textwrap.wrap("x" * characters, 900))


def pack_files(changed_files: list[ChangedFile], budget: int) -> PackedDiff:
    return pack_diff(changed_files, budget, len(changed_files))


@given(many_files(), budgets)
def test_the_text_keeps_to_the_budget(changed_files: list[ChangedFile], budget: int) -> None:
    assert estimate_tokens(pack_files(changed_files, budget).text) <= budget


def test_the_budget_holds_where_github_lists_no_further_files() -> None:
    """One file after the other, each a character longer: one of them just fits without the note."""
    for width in range(3_850, 4_000):
        file = changed_file("engine/core.py", patch=f"@@ -0,0 +1,5 @@\n{make_added_lines(width)}")
        assert estimate_tokens(pack_diff([file], 1_000, 3_200).text) <= 1_000


def test_the_budget_holds_for_a_clipped_diff_where_github_lists_no_further_files() -> None:
    large = [changed_file(f"{n}.c", 1, patch=None) for n in range(50)]
    binary = [changed_file(f"{n}.o", 0, patch=None) for n in range(50)]
    for width in range(3_500, 3_600):
        shown = changed_file("c.py", 6, patch=f"@@ -0,0 +1,6 @@\n{make_added_lines(width)}\n+y")
        assert estimate_tokens(pack_diff([*large, *binary, shown], 1_000, 3_200).text) <= 1_000


@given(many_files(), budgets)
def test_lines_shown_and_lines_owned_up_to_are_all_lines(changed_files: list[ChangedFile], budget: int) -> None:
    diff = pack_files(changed_files, budget)
    shown = shown_in(diff.text)
    for file in changed_files:
        part = shown.get(file.path)
        if file.path not in diff.left_out:
            assert (part.changes if part else []) == changes_of(file)
        elif part:
            assert part.unseen > 0
            assert len(part.changes) + part.unseen == file.changed_lines
        else:
            assert file.changed_lines > 0


@given(many_files(), budgets)
def test_a_clipped_file_shows_its_start(changed_files: list[ChangedFile], budget: int) -> None:
    for path, part in shown_in(pack_files(changed_files, budget).text).items():
        [file] = [file for file in changed_files if file.path == path]
        assert part.changes == changes_of(file)[: len(part.changes)]
        assert part.changes


@given(many_files(), budgets)
def test_every_file_is_shown_or_named_unless_the_names_are_counted(
    changed_files: list[ChangedFile], budget: int
) -> None:
    text = pack_files(changed_files, budget).text
    if " more files]" not in text:
        assert [file.path for file in changed_files if file.path not in text] == []


@given(st.lists(files().filter(lambda file: file.patch), max_size=15, unique_by=lambda file: file.path))
def test_every_changed_line_of_every_patch_is_there_when_it_fits(changed_files: list[ChangedFile]) -> None:
    diff = pack_files(changed_files, AMPLE)
    assert (diff.coverage, diff.left_out) == (Coverage.FULL, ())
    shown = shown_in(diff.text)
    assert {path: part.changes for path, part in shown.items()} == {f.path: changes_of(f) for f in changed_files}


@given(many_files(), budgets)
def test_coverage_is_full_only_where_nothing_is_left_out(changed_files: list[ChangedFile], budget: int) -> None:
    diff = pack_files(changed_files, budget)
    shown = sum(len(part.changes) for part in shown_in(diff.text).values())
    if not diff.left_out:
        assert diff.coverage is Coverage.FULL
    else:
        assert diff.coverage is (Coverage.CLIPPED if shown else Coverage.NONE)


@given(many_files(), budgets, st.randoms(use_true_random=False))
def test_the_order_of_the_files_changes_nothing(
    changed_files: list[ChangedFile], budget: int, shuffle: random.Random
) -> None:
    mixed = changed_files.copy()
    shuffle.shuffle(mixed)
    assert pack_files(mixed, budget) == pack_files(changed_files, budget)


@given(many_files(), budgets)
def test_a_larger_budget_never_shows_fewer_files_whole(changed_files: list[ChangedFile], budget: int) -> None:
    if pack_files(changed_files, budget).coverage is Coverage.FULL:
        assert pack_files(changed_files, 2 * budget).coverage is Coverage.FULL


@pytest.mark.parametrize("path", ["a\n+x = 1\nb.py", "a\r\nb.py"], ids=ascii)
def test_a_path_with_a_line_break_adds_no_line_to_the_diff(path: str) -> None:
    header, *rest = pack_diff([long_file(path, 1)], 1_000, 1).text.splitlines()
    assert header.endswith("(modified, +1 -0)")
    assert len(rest) == 2
