import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.platform.pulls.diff import MIN_QUOTE_LENGTH, DiffLine, DiffPosition, find_quote, split_hunks
from impact.source.models import DiffSide
from tests.helpers.tables import check_rows

PATCH = "\n".join(
    [
        "@@ -10,5 +10,6 @@ class Scheduler:",
        "     def step(self):",
        "-        total = sum(queue)",
        "-        return total",
        "+        total = sum(self.queue)",
        "+        log(total)",
        "+        return total / 2",
        "         # the end of step",
        "@@ -40 +41,2 @@ def free(block):",
        "-    release(block, now=True)",
        "+    release(block,\tlater=True)",
        "+    notify(waiting)",
        "\\ No newline at end of file",
    ]
)


def new(line: int) -> DiffPosition:
    return DiffPosition(DiffSide.NEW, line)


def old(line: int) -> DiffPosition:
    return DiffPosition(DiffSide.OLD, line)


def test_each_hunk_has_its_header_and_its_lines() -> None:
    (first, lines), (second, rest) = split_hunks(PATCH)
    assert (first, second) == ("@@ -10,5 +10,6 @@ class Scheduler:", "@@ -40 +41,2 @@ def free(block):")
    assert [(line.mark, line.old, line.new) for line in lines] == [
        (" ", 10, 10),
        ("-", 11, 11),
        ("-", 12, 11),
        ("+", 13, 11),
        ("+", 13, 12),
        ("+", 13, 13),
        (" ", 13, 14),
    ]
    assert [(line.mark, line.old, line.new) for line in rest] == [("-", 40, 41), ("+", 41, 41), ("+", 41, 42)]


@pytest.mark.parametrize("inside", ["\f", "\r", "\v", "\x1c", "\x85", "\u2028"], ids=ascii)
def test_only_a_newline_ends_a_line(inside: str) -> None:
    patch = f"@@ -1 +1,2 @@\n one{inside}two\n+three{inside}four and more"
    [(_, lines)] = split_hunks(patch)
    assert lines == (DiffLine(" ", f"one{inside}two", 1, 1), DiffLine("+", f"three{inside}four and more", 2, 2))
    assert find_quote(patch, "four and more") == new(2)


def test_a_line_that_looks_like_a_header_or_a_mark_is_only_a_line() -> None:
    patch = "@@ -1,2 +1,3 @@\n @@ -9 +9 @@ quoted\n-- removed item\n++ added counter\n+@@ -7 +7 @@"
    [(_, lines)] = split_hunks(patch)
    assert [line.text for line in lines] == [
        "@@ -9 +9 @@ quoted",
        "- removed item",
        "+ added counter",
        "@@ -7 +7 @@",
    ]


@pytest.mark.parametrize("patch", ["", "\n", "no diff at all", "@@ -1 +1 @@", "Binary files differ"])
def test_what_holds_no_lines_has_no_hunks(patch: str) -> None:
    assert list(split_hunks(patch)) == []
    assert find_quote(patch, "no diff at all") is None


@check_rows(
    {
        "added": ("total = sum(self.queue)", new(11)),
        "deleted": ("total = sum(queue)", old(11)),
        "context": ("# the end of step", new(14)),
        "on-both-sides-the-new-one-counts": ("return total", new(13)),
        "copied-plus": ("+        log(total)", new(12)),
        "copied-minus": ("-        total = sum(queue)", old(11)),
        "two-lines": ("log(total)\n        return total / 2", new(12)),
        "two-lines-with-marks": ("+        log(total)\n+        return total / 2", new(12)),
        "runs-into-context": ("log(total)\n  return total / 2\n  # the end", new(12)),
        "over-deleted-lines": ("def step(self):\n total = sum(self.queue)", new(10)),
        "over-added-lines": ("total = sum(queue)\nreturn total\n# the end of step", old(11)),
        "runs-of-blanks": ("  total   =\tsum(self.queue)  ", new(11)),
        "a-tab-in-the-file": ("release(block, later=True)", new(41)),
        "hunk-of-one-line": ("release(block, now=True)", old(40)),
        "blank-lines-around": ("\n\nnotify(waiting)\n", new(42)),
        "windows-line-ends": ("log(total)\r\nreturn total / 2\r\n", new(12)),
        "part-of-a-line-just-long-enough": ("(waiting", new(42)),
    }
)
def test_a_quote_is_found_on_its_side_at_its_line(quote: str, place: DiffPosition) -> None:
    assert find_quote(PATCH, quote) == place


@check_rows(
    {
        "empty": "",
        "blanks": "   \n\t ",
        "a-character-too-short": "waiting",
        "half-a-word-at-its-end": "notify(wait",
        "half-a-word-at-its-beginning": "ify(waiting)",
        "too-short-once-blanks-are-one": "total    \t     =",
        "too-many-marks": "+++++++ total =",
        "not-there": "total = sum(other.queue)",
        "other-case": "Total = Sum(self.queue)",
        "over-two-hunks": "# the end of step\nrelease(block, later=True)",
        "over-both-sides": "total = sum(queue)\ntotal = sum(self.queue)",
        "leaves-out-a-line": "log(total)\n# the end of step",
        "what-git-says": "No newline at end of file",
        "the-header-of-a-hunk": "@@ -10,5 +10,6 @@ class Scheduler:",
        "the-name-in-a-header": "class Scheduler:",
        "longer-than-the-patch": "notify(waiting)\nnotify(waiting)",
    }
)
def test_what_does_not_stand_in_the_patch_is_not_found(quote: str) -> None:
    assert find_quote(PATCH, quote) is None


def test_a_quote_on_the_new_side_of_a_later_hunk_comes_before_one_on_the_old_side() -> None:
    patch = "@@ -1 +0,0 @@\n-moved_line(here)\n@@ -9,0 +8,1 @@\n+moved_line(here)"
    assert find_quote(patch, "moved_line(here)") == new(8)


lines_of_code = st.lists(
    st.tuples(st.sampled_from("+- "), st.text(st.characters(exclude_characters="\n"), max_size=20)),
    min_size=1,
    max_size=12,
)


@st.composite
def patches(draw: st.DrawFn) -> tuple[str, list[DiffLine]]:
    raw, lines, number, gap = [], [], 0, 0
    for block in draw(st.lists(lines_of_code, min_size=1, max_size=4)):
        gap += draw(st.integers(1, 500))
        old_at, new_at = gap, gap + draw(st.integers(0, 50))
        raw.append(f"@@ -{old_at},{len(block)} +{new_at},{len(block)} @@ def {block[0][1]}")
        for mark, code in block:
            number += 1
            text = f"{code} «line {number}»"
            raw.append(mark + text)
            lines.append(DiffLine(mark, text, old_at, new_at))
            old_at += mark != "+"
            new_at += mark != "-"
        gap = max(old_at, new_at)
    return "\n".join(raw), lines


@given(patches())
def test_every_line_is_read_with_its_numbers(made: tuple[str, list[DiffLine]]) -> None:
    patch, lines = made
    assert [line for _, hunk_lines in split_hunks(patch) for line in hunk_lines] == lines


@given(patches())
def test_every_changed_line_is_found_at_its_true_number(made: tuple[str, list[DiffLine]]) -> None:
    patch, lines = made
    for line in lines:
        expected = old(line.old) if line.mark == "-" else new(line.new)
        assert find_quote(patch, line.text) == expected
        assert find_quote(patch, line.mark + line.text) == expected


@given(patches(), st.text(max_size=MIN_QUOTE_LENGTH - 1))
def test_a_quote_shorter_than_the_least_is_never_found(made: tuple[str, list[DiffLine]], quote: str) -> None:
    assert find_quote(made[0], quote) is None
