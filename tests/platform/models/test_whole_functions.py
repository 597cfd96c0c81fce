"""Around the changes of a pull request stand whole functions where their files are known and there is room."""

import difflib
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.platform.models.packing import Coverage, estimate_tokens, list_source_paths, pack_diff
from bot.platform.pulls.models import ChangedFile
from impact.source.models import SourceFile, SourceProblem
from tests.helpers.builders import changed_file

AMPLE = 100_000


def function(name: str, lines: int) -> list[str]:
    return [f"def {name}():", *(f"    {name}_{n} = {n}" for n in range(lines))]


def make_change(path: str, old: list[str], new: list[str]) -> tuple[ChangedFile, SourceFile]:
    hunks = [*difflib.unified_diff(old, new, lineterm="")][2:]
    added, deleted = (sum(line.startswith(mark) for line in hunks) for mark in "+-")
    file = changed_file(path, added, deleted, patch="\n".join(hunks))
    return file, SourceFile(path, "".join(f"{line}\n" for line in new))


def change_line(path: str, old: list[str], *numbers: int) -> tuple[ChangedFile, SourceFile]:
    new = [f"{line} + 1" if at in numbers else line for at, line in enumerate(old, 1)]
    return make_change(path, old, new)


def pack(*changes: tuple[ChangedFile, SourceFile], budget: int = AMPLE) -> str:
    sources = {source.path: source for _, source in changes}
    return pack_diff([file for file, _ in changes], budget, len(changes), sources=sources).text


def test_a_function_is_shown_whole_with_a_mark_for_what_stands_around_it() -> None:
    old = [*function("before", 30), *function("target", 30), *function("after", 30)]
    text = pack(change_line("engine/core.py", old, 50))
    header, *lines = text.split("\n")
    assert header == "=== engine/core.py (modified, +1 -1)"
    assert (lines[0], lines[1], lines[-1]) == ("…", " def target():", "…")
    assert [line for line in lines if "before" in line or "after" in line] == []
    assert len(lines) == 2 + 31 + 1


def test_a_long_function_is_shown_by_its_head_and_by_what_is_near() -> None:
    lines = pack(change_line("engine/core.py", function("target", 300), 200)).split("\n")[1:]
    assert lines[:2] == [" def target():", "…"]
    assert len(lines) == 1 + 1 + 10 + 2 + 10 + 1


def test_tests_and_pages_are_shown_as_github_sends_them() -> None:
    file, source = change_line("tests/test_core.py", function("test", 30), 20)
    assert list_source_paths([file]) == ()
    assert pack_diff([file], AMPLE, 1, sources={source.path: source}).text.split("\n", 1)[1] != file.patch
    assert pack_diff([file], AMPLE, 1).text.split("\n", 1)[1] == file.patch


@pytest.mark.parametrize(
    "source",
    [
        SourceFile("engine/core.py", problem=SourceProblem.TOO_LARGE),
        SourceFile("engine/core.py", "something = 'else'\n"),
        SourceFile("engine/core.py", ""),
    ],
    ids=["not read", "another file", "empty"],
)
def test_without_the_file_the_patch_is_shown(source: SourceFile) -> None:
    file, _ = change_line("engine/core.py", function("target", 30), 20)
    expected = f"=== engine/core.py (modified, +1 -1)\n{file.patch}"
    assert pack_diff([file], AMPLE, 1, sources={file.path: source}).text == expected


def test_a_truncated_patch_is_not_taken_for_the_whole_change() -> None:
    file, source = change_line("engine/core.py", function("target", 30), 20)
    cut = file.replace_patch(file.patch, 7)
    text = pack_diff([cut], AMPLE, 1, sources={file.path: source}).text
    assert text.split("\n", 1)[1] == f"{file.patch}\n[the rest of this file is not shown: 7 changed lines]"


@pytest.mark.slow
def test_what_functions_take_is_bounded() -> None:
    """Two hundred functions of 25 lines with a change each would take ten times the tokens of their patches."""
    old = [line for n in range(200) for line in function(f"name_{n}", 40)]
    file, source = change_line("engine/core.py", old, *range(20, 8_200, 41))
    plain = estimate_tokens(pack_diff([file], AMPLE, 1).text)
    assert plain < estimate_tokens(pack((file, source))) <= plain + 6_000


def test_the_largest_product_files_are_read_first_and_only_so_many() -> None:
    files = [changed_file(f"engine/m{n:02}.py", n) for n in range(1, 60)]
    others = [
        changed_file("engine/new.py", 900, status="added"),
        changed_file("engine/old.py", 900, status="removed"),
        changed_file("engine/data.json", 900),
        changed_file("engine/huge.py", 900, patch=None),
        changed_file("tests/test_core.py", 900),
    ]
    assert list_source_paths([*others, *files]) == tuple(f"engine/m{n:02}.py" for n in range(59, 29, -1))


EDITS = st.lists(
    st.tuples(st.integers(0, 119), st.sampled_from(["change", "delete", "insert"])), min_size=1, max_size=8
)


@st.composite
def changes(draw: st.DrawFn) -> tuple[ChangedFile, SourceFile]:
    sizes = draw(st.lists(st.integers(1, 60), min_size=1, max_size=5))
    old = [line for n, size in enumerate(sizes) for line in function(f"name_{n}", size)]
    new = list(old)
    for number, (at, edit) in enumerate(draw(EDITS)):
        place = at % max(len(new), 1)
        match edit:
            case "change":
                new[place : place + 1] = [f"    changed_{number} = 1"]
            case "delete":
                del new[place : place + 1]
            case _:
                new.insert(place, f"    added_{number} = 1")
    return make_change(draw(st.sampled_from(["engine/core.py", "engine/core.cpp", "tests/test_a.py"])), old, new)


def list_changed_lines(lines: list[str]) -> list[str]:
    return [line for line in lines if line[:1] in ("+", "-")]


@given(changes(), st.integers(1_000, 3_000), st.booleans())
def test_no_changed_line_is_missing_and_no_line_is_left_out_without_a_mark(
    change: tuple[ChangedFile, SourceFile], budget: int, is_known: bool
) -> None:
    file, source = change
    sources: Mapping[str, SourceFile] = {file.path: source} if is_known else {}
    diff = pack_diff([file], budget, 1, sources=sources)
    lines = diff.text.split("\n")[1:]
    assert estimate_tokens(diff.text) <= budget
    if diff.coverage is Coverage.FULL:
        assert list_changed_lines(lines) == list_changed_lines((file.patch or "").split("\n"))
    whole = source.lines
    expected: int | None = 0 if is_known else None
    for line in lines:
        if line[0] in " +":
            at = whole.index(line[1:])
            assert expected in (None, at), "this line stands after a gap without a mark"
            expected = at + 1
        elif line[0] != "-":
            expected = None
