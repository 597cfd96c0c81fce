import difflib

import pytest

from bot.platform.source.excerpts import AnnotatedChange, ContextLevel, annotate_file
from impact.source.models import SourceFile

FILE = """\
import a

LIMIT = 3


class Engine:
    \"\"\"Runs.\"\"\"

    @cached
    def run(
        self,
        limit,
    ):
        first = 1
        second = 2
        third = 3
        fourth = 4
        fifth = 5
        sixth = 6
        return first

    def stop(self):
        return None


def helper():
    return 1
""".split("\n")[:-1]
WHOLE = ContextLevel(near=1, whole=20, has_heads=True)
HEADS = ContextLevel(near=1, has_heads=True)
NEAR = ContextLevel(near=1)


def list_shown_lines(new: list[str], level: ContextLevel, path: str = "engine.py") -> list[str]:
    """The lines shown of a change from FILE to ``new``, with their marks."""
    patch = "\n".join([*difflib.unified_diff(FILE, new, lineterm="")][2:])
    lines = annotate_file(SourceFile(path, "".join(f"{line}\n" for line in new)), patch)
    assert lines is not None
    change = AnnotatedChange.parse(lines, path)
    return [change.lines[at].patch_text for at in change.select_lines(level)]


def replace_line(number: int, *lines: str) -> list[str]:
    """FILE with other lines in place of the one with that number, from 1."""
    return [*FILE[: number - 1], *lines, *FILE[number:]]


CLASS_HEAD = [" class Engine:"]
HEAD = [" " + line for line in FILE[8:13]]
RUN = [" " + line for line in FILE[13:20]]


def test_a_short_function_is_shown_whole_under_the_head_of_its_class() -> None:
    lines = list_shown_lines(replace_line(16, "        third = 4"), WHOLE)
    assert lines == [*CLASS_HEAD, *HEAD, *RUN[:2], "-        third = 3", "+        third = 4", *RUN[3:]]


def test_of_a_longer_one_the_head_and_the_lines_around_the_change_are_shown() -> None:
    lines = list_shown_lines(replace_line(18, "        fifth = 6"), HEADS)
    assert lines == [
        *CLASS_HEAD,
        *HEAD,
        "         fourth = 4",
        "-        fifth = 5",
        "+        fifth = 6",
        "         sixth = 6",
    ]


def test_a_deleted_line_is_in_the_function_that_it_was_in() -> None:
    """The last lines of a function: what follows them is another one."""
    assert list_shown_lines([*FILE[:18], *FILE[20:]], WHOLE)[:6] == [*CLASS_HEAD, *HEAD]


def test_a_deleted_function_is_shown_with_its_class() -> None:
    lines = list_shown_lines([*FILE[:20], *FILE[23:]], HEADS)
    assert lines[0] == " class Engine:"
    assert "-    def stop(self):" in lines


def test_of_a_class_in_which_a_line_changed_the_class_is_shown_not_its_methods() -> None:
    lines = list_shown_lines(replace_line(7, '    """Runs on."""'), HEADS)
    assert lines == [" class Engine:", '-    """Runs."""', '+    """Runs on."""', " "]


def test_outside_of_all_functions_only_the_lines_around_are_shown() -> None:
    assert list_shown_lines(replace_line(3, "LIMIT = 4"), WHOLE) == [" ", "-LIMIT = 3", "+LIMIT = 4", " "]


@pytest.mark.parametrize("path", ["engine.txt", "engine.sh"])
def test_without_known_functions_only_the_lines_around_are_shown(path: str) -> None:
    lines = list_shown_lines(replace_line(16, "        third = 4"), WHOLE, path)
    assert lines == [" " + FILE[14], "-" + FILE[15], "+        third = 4", " " + FILE[16]]


def test_no_level_leaves_out_a_changed_line() -> None:
    new = ["# first", *FILE[:14], "        new = 1", *FILE[16:24], "x = 1", *FILE[24:], "# last"]
    for level in (WHOLE, HEADS, NEAR, ContextLevel(near=0)):
        changes = [line for line in list_shown_lines(new, level) if line[0] != " "]
        assert changes == [
            "+# first",
            "-        second = 2",
            "-        third = 3",
            "+        new = 1",
            "+x = 1",
            "+# last",
        ]


def test_the_head_of_a_function_with_very_many_parameters_is_cut() -> None:
    head = ["def f(", *(f"    parameter_{n}," for n in range(100)), "):"]
    old = [*head, "    first = 1", *(f"    x = {n}" for n in range(100)), "    return 1"]
    new = [*old[:-1], "    return 2"]
    patch = "\n".join([*difflib.unified_diff(old, new, lineterm="")][2:])
    lines = annotate_file(SourceFile("a.py", "".join(f"{line}\n" for line in new)), patch)
    assert lines is not None
    assert len(AnnotatedChange.parse(lines, "a.py").select_lines(HEADS)) == 12 + 3
