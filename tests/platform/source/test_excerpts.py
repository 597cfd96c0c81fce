import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.platform.pulls.diff import split_hunks
from bot.platform.pulls.models import ChangedFile
from bot.platform.source.excerpts import MAX_EXCERPT_LINES, find_name, list_uses, mark_lines, split_excerpt
from impact.source.models import SourceFile

lines_of_code = st.lists(st.sampled_from(["a = 1", "b = 2", "", "def f():", "    run(a)", "x\r"]), max_size=40)


@given(lines_of_code, lines_of_code, st.integers(0, 3))
def test_the_marks_are_those_of_the_change(old: list[str], new: list[str], context: int) -> None:
    patch = "\n".join([*difflib.unified_diff(old, new, n=context, lineterm="")][2:])
    file = SourceFile("a.py", "".join(f"{line}\n" for line in new))
    whole = mark_lines(file, ChangedFile("a.py", "modified", 1, 1, patch or None))
    assert [line.text for line in whole.lines] == new
    assert [line.new for line in whole.lines] == list(range(1, len(new) + 1))
    if patch and whole.has_marks:
        added = [line.text for _, hunk in split_hunks(patch) for line in hunk if line.mark == "+"]
        assert [line.text for line in whole.lines if line.mark == "+"] == added


@pytest.mark.parametrize(
    ("change", "marks", "is_known"),
    [
        (None, "  ", True),
        (ChangedFile("a.py", "added", 2, 0), "++", True),
        (ChangedFile("a.py", "renamed", 0, 0, None, "b.py"), "  ", True),
        (ChangedFile("a.py", "renamed", 1, 1, None, "b.py"), "  ", False),
        (ChangedFile("a.py", "modified", 1, 0, "@@ -1 +1,2 @@\n one = 1\n+two = 2"), " +", True),
        (ChangedFile("a.py", "modified", 9, 0, "@@ -1 +1,2 @@\n one = 1\n+two = 2", unread=8), "  ", False),
    ],
)
def test_the_marks_of_a_kind_of_change(change: ChangedFile | None, marks: str, is_known: object) -> None:
    whole = mark_lines(SourceFile("a.py", "one = 1\ntwo = 2\n"), change)
    assert ("".join(line.mark for line in whole.lines), whole.has_marks) == (marks, is_known)


@given(st.sets(st.integers(1, 30)))
def test_an_excerpt_has_the_numbers_of_the_file(numbers: set[int]) -> None:
    whole = mark_lines(SourceFile("a.py", "".join(f"line {n}\n" for n in range(1, 31))), None)
    parts = list(split_excerpt(whole, sorted(numbers)))
    assert [line.text for part in parts for line in part.lines] == [f"line {n}" for n in sorted(numbers)]
    for part in parts:
        ((_, lines),) = split_hunks(part.patch)
        assert [line.new for line in lines] == [line.new for line in part.lines]


def test_the_definition_comes_first_where_there_is_no_room_for_all() -> None:
    uses = "".join(f"value_{n} = total({n})\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n" for n in range(20))
    file = SourceFile("a.py", f"{uses}def total(limit):\n    return limit\n")
    shown, uses_of_it = find_name(file, "total")
    assert len(uses_of_it) == 21
    assert len(shown) <= MAX_EXCERPT_LINES
    assert {441, 442} <= set(shown)
    assert uses_of_it[0] in shown


@pytest.mark.parametrize(
    ("path", "definition"),
    [
        ("a.py", "LIMIT = 3"),
        ("a.py", "LIMIT: Final = 3"),
        ("a.py", "class LIMIT(Base):"),
        ("a.py", "async def LIMIT(x):"),
        ("a.cu", "static constexpr const int LIMIT = 3;"),
        ("a.h", "struct LIMIT {"),
        ("a.rs", "pub fn LIMIT() {}"),
        ("a.ts", "export const LIMIT = 3"),
        ("a.toml", "LIMIT = 3"),
    ],
)
def test_what_a_name_is_defined_by_comes_before_its_uses(path: str, definition: str) -> None:
    uses = "".join(f"def use_{n}(x=LIMIT):\n    x == LIMIT\n{'    pass' * 2}\n" + "\n" * 20 for n in range(20))
    shown, _ = find_name(SourceFile(path, f"{uses}{definition}\n"), "LIMIT")
    assert shown[-1] == uses.count("\n") + 1


@given(st.text("ab_ .\n(", max_size=60), st.text("ab_.", min_size=1, max_size=3))
def test_around_a_name_stand_lines_with_it(text: str, name: str) -> None:
    shown, uses = find_name(SourceFile("a.cpp", text), name, 30)
    assert set(shown) >= set(uses[:1])
    assert len(shown) <= 30
    assert bool(shown) is bool(uses)


def test_only_whole_words_are_uses() -> None:
    assert list_uses(["retry", "retry_now", "no_retry", "x.retry(1)", "Retry", "--retry"], "retry") == [1, 4, 6]
    assert list_uses(["run --fast", "run --faster"], "--fast") == [1]
    assert list_uses(["a.b", "axb"], "a.b") == [1]
    assert list_uses(["run(job)", "rerun(job)"], "run(") == [1], "behind a sign anything may stand"
    assert list_uses(["retry", "retry_now", "no_retry"], "retry", is_part=True) == [1, 2, 3]
