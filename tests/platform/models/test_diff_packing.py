import pytest

from bot.platform.models.packing import Coverage, PackedDiff, estimate_tokens, pack_diff
from bot.platform.pulls.models import ChangedFile
from bot.platform.pulls.paths import PathClass, PathClasses
from tests.helpers.builders import changed_file
from tests.platform.models.packed_diff import long_file, shown_in, with_context

AMPLE = 100_000
RENAMED = changed_file("engine/b.py", 0, 0, status="renamed", previous_path="engine/a.py", patch=None)
TOO_LARGE = changed_file("engine/huge.py", 90_000, 5, patch=None)


def pack_files(*files: ChangedFile, budget: int = AMPLE, total: int | None = None) -> PackedDiff:
    return pack_diff(files, budget, len(files) if total is None else total)


@pytest.mark.parametrize(("length", "tokens"), [(0, 0), (1, 1), (4, 1), (5, 2), (400, 100)])
def test_four_characters_count_as_a_token(length: int, tokens: int) -> None:
    assert estimate_tokens("x" * length) == tokens


def test_files_are_shown_product_first_and_lock_files_last() -> None:
    ordered = (
        "engine/core.py pyproject.toml scripts/run.sh tests/test_core.py .github/ci.yml docs/guide.md"
        " data.unknown vendor/lib.py uv.lock"
    ).split()
    diff = pack_files(*(changed_file(path) for path in reversed(ordered)))
    assert list(shown_in(diff.text)) == ordered


def test_larger_files_come_first_within_a_class_and_equal_ones_by_path() -> None:
    diff = pack_files(
        changed_file("engine/small.py", 2),
        changed_file("engine/b.py", 5),
        changed_file("engine/large.py", 1, 50),
        changed_file("engine/a.py", 5),
        changed_file("tests/test_all.py", 500),
    )
    expected = ["engine/large.py", "engine/a.py", "engine/b.py", "engine/small.py", "tests/test_all.py"]
    assert list(shown_in(diff.text)) == expected


def test_the_classes_of_a_repository_set_the_order() -> None:
    classes = PathClasses(((PathClass.DOCS, ("engine/",)), (PathClass.PRODUCT, ("docs/",))))
    diff = pack_diff([changed_file("engine/core.py"), changed_file("docs/guide.md")], AMPLE, 2, classes)
    assert list(shown_in(diff.text)) == ["docs/guide.md", "engine/core.py"]


def test_what_fits_is_shown_whole_with_all_context_that_github_sends() -> None:
    file = with_context("engine/core.py", 4, around=3)
    assert pack_files(file) == PackedDiff(f"=== engine/core.py (modified, +4 -0)\n{file.patch}", Coverage.FULL)


def test_a_moved_file_with_changes_names_where_it_was() -> None:
    diff = pack_files(changed_file("engine/new.py", status="renamed", previous_path="engine/old.py"))
    assert diff.text.startswith("=== engine/new.py (renamed from engine/old.py, +1 -0)\n")


@pytest.mark.parametrize(
    ("files", "total", "coverage"),
    [
        pytest.param((), 0, Coverage.FULL, id="no-files"),
        pytest.param((changed_file(),), 1, Coverage.FULL, id="one-file"),
        pytest.param((RENAMED,), 1, Coverage.FULL, id="renamed-without-lines"),
        pytest.param((RENAMED, changed_file()), 2, Coverage.FULL, id="renamed-beside-a-change"),
        pytest.param((TOO_LARGE, changed_file()), 2, Coverage.CLIPPED, id="one-too-large"),
        pytest.param((TOO_LARGE,), 1, Coverage.NONE, id="all-too-large"),
        pytest.param((TOO_LARGE, RENAMED), 2, Coverage.NONE, id="too-large-and-renamed"),
        pytest.param((), 7, Coverage.NONE, id="none-listed-of-seven"),
        pytest.param((changed_file(),), 2, Coverage.CLIPPED, id="one-listed-of-two"),
    ],
)
def test_coverage_speaks_of_changed_lines(files: tuple[ChangedFile, ...], total: int, coverage: Coverage) -> None:
    assert pack_files(*files, total=total).coverage is coverage


def test_no_files_make_no_text() -> None:
    assert pack_files() == PackedDiff("", Coverage.FULL)


def test_a_file_without_a_patch_is_named_with_its_size() -> None:
    diff = pack_files(TOO_LARGE, changed_file())
    assert diff.text.endswith("\n[Not shown, too large for this prompt: engine/huge.py +90000 -5]")
    assert diff.left_out == ("engine/huge.py",)


def test_a_file_without_text_lines_is_named_and_not_left_out() -> None:
    diff = pack_files(RENAMED)
    assert diff.text == "[Changed without text lines (binary, renamed or empty): engine/b.py +0 -0]"
    assert diff.left_out == ()


@pytest.mark.slow
def test_files_that_github_does_not_list_are_counted() -> None:
    diff = pack_files(*(changed_file(f"engine/m{n}.py") for n in range(3_000)), total=3_200)
    assert diff.coverage is Coverage.CLIPPED
    assert diff.text.endswith("[GitHub lists no more than 3,000 files; 200 further files are unknown]")
    assert len(shown_in(diff.text)) == 3_000
    assert diff.left_out == ()


@pytest.mark.parametrize(
    ("budget", "context"),
    [
        pytest.param(AMPLE, 18, id="three-lines"),
        pytest.param(2_200, 6, id="a-line"),
        pytest.param(1_000, 0, id="none"),
    ],
)
def test_context_goes_before_any_changed_line_does(budget: int, context: int) -> None:
    files = [with_context(f"engine/m{n}.py", 3) for n in range(20)]
    diff = pack_files(*files, budget=budget)
    shown = shown_in(diff.text)
    assert (diff.coverage, diff.left_out) == (Coverage.FULL, ())
    assert [len(part.changes) for part in shown.values()] == [3] * 20
    assert [sum(line.startswith(" ") for line in part.lines) for part in shown.values()] == [context] * 20


def test_what_does_not_fit_is_clipped_named_and_counted() -> None:
    diff = pack_files(long_file("engine/core.py", 2_000), changed_file("tests/test_core.py"), budget=2_000)
    shown = shown_in(diff.text)
    assert (diff.coverage, diff.left_out) == (Coverage.CLIPPED, ("engine/core.py",))
    assert len(shown["engine/core.py"].changes) + shown["engine/core.py"].unseen == 2_000
    assert shown["engine/core.py"].unseen > 0
    assert shown["tests/test_core.py"].changes == ["+new line 0 of tests/test_core.py"]


def test_a_file_of_which_no_start_fits_is_named_as_not_shown() -> None:
    diff = pack_files(*(long_file(f"engine/{name}.py", 90) for name in "abcd"), budget=1_000)
    assert list(shown_in(diff.text)) == ["engine/a.py", "engine/b.py", "engine/c.py"]
    assert "[Not shown, too large for this prompt: engine/d.py +90 -0]" in diff.text
    assert (diff.coverage, diff.left_out[-1]) == (Coverage.CLIPPED, "engine/d.py")


@pytest.mark.parametrize("mark", ["+", "-", " "])
def test_a_long_line_is_cut_with_a_mark_and_counts_as_not_shown_if_it_is_a_change(mark: str) -> None:
    patch = f"@@ -1,2 +1,2 @@\n{mark}{'x' * 50_000}\n+y = 1"
    file = changed_file("engine/min.py", 1 + (mark == "+"), mark == "-", patch=patch)
    diff = pack_files(file)
    assert diff.text.split("\n")[2] == f"{mark}{'x' * 999}… [49001 more characters of this line]"
    assert diff.text.endswith("\n+y = 1")
    assert diff.left_out == (() if mark == " " else ("engine/min.py",))


def test_a_small_file_of_less_worth_still_fits_after_a_large_one() -> None:
    diff = pack_files(
        long_file("engine/a.py", 900), long_file("engine/b.py", 900), changed_file("uv.lock"), budget=4_000
    )
    assert list(shown_in(diff.text)) == ["engine/a.py", "engine/b.py", "uv.lock"]
    assert diff.left_out == ("engine/a.py", "engine/b.py")


def test_names_that_do_not_fit_are_counted() -> None:
    files = [ChangedFile(f"engine/{'long' * 10}{n}.py", "modified", 90_000, 0) for n in range(300)]
    diff = pack_files(*files, budget=1_000)
    named = diff.text.count("+90000 -0")
    assert 0 < named < 300
    assert diff.text.endswith(f" and {300 - named} more files]")
    assert len(diff.left_out) == 300


def test_a_final_newline_that_is_all_the_change_can_be_told() -> None:
    patch = "@@ -1 +1 @@\n-end\n\\ No newline at end of file\n+end"
    assert "No newline at end of file" in pack_files(changed_file("engine/core.py", 1, 1, patch=patch)).text
