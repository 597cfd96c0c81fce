"""The rules that ask for a second look: each at its steps, and what is never listed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.paths import PathClass, PathClasses
from bot.domain.pulls import Account, ChangedFile, PullRequest
from bot.domain.risk import HIGHEST_BAND, THRESHOLD, Risk, assess
from tests.support import changed_file, pull

CORE = "src/core.py"


def points(*files: ChangedFile, title: str = "Rename things") -> int:
    """Whole points: what equal points are ordered by is less than one."""
    return round(assess(pull(files=files, title=title)).points)


@pytest.mark.parametrize(
    ("deleted", "expected"),
    [(7, 0), (8, 1), (29, 1), (30, 3), (99, 3), (100, 4), (299, 4), (300, 6), (9_000, 6)],
)
def test_rewriting_product_code_counts_by_steps(deleted: int, expected: int) -> None:
    assert points(changed_file(CORE, 0, deleted)) == expected


@pytest.mark.parametrize(("added", "expected"), [(19, 0), (20, 1), (99, 1), (100, 3), (399, 3), (400, 4)])
def test_adding_product_code_in_new_files_counts_by_steps(added: int, expected: int) -> None:
    assert points(changed_file(CORE, added, status="added")) == expected


def test_lines_added_to_an_existing_file_also_rewrite_it() -> None:
    assert points(changed_file(CORE, 30)) == 3 + 1


@pytest.mark.parametrize(("folders", "expected"), [(1, 0), (2, 1), (3, 1), (4, 2), (9, 2)])
def test_touching_several_product_folders_counts(folders: int, expected: int) -> None:
    assert points(*(changed_file(f"src/part{n}/a.py", status="added") for n in range(folders))) == expected


def test_only_product_files_count_as_folders() -> None:
    assert points(changed_file(CORE), *(changed_file(f"docs/part{n}/a.md") for n in range(9))) == 0


@pytest.mark.parametrize(
    ("path", "expected"), [("src/auth/login.py", 2), ("csrc/cache.cpp", 2), (CORE, 0), ("docs/attention.md", -6)]
)
def test_critical_paths_count(path: str, expected: int) -> None:
    assert points(changed_file(path)) == expected


@pytest.mark.parametrize("path", ["pyproject.toml", "uv.lock"])
def test_dependencies_and_build_count(path: str) -> None:
    assert points(changed_file(path)) == 3
    assert points(changed_file(path), changed_file(CORE)) == 3


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        pytest.param("Rename things", 0, id="plain"),
        pytest.param("[Perf] Rename things", 3, id="perf"),
        pytest.param("Optimise the scheduler", 3, id="optimise"),
        pytest.param("Speed up loading", 3, id="speed-up"),
        pytest.param("Fuse two layers", 3, id="fuse"),
        pytest.param("Confuse two layers", 0, id="no-fuse"),
        pytest.param("Async scheduling", 3, id="async"),
        pytest.param("Use CUDA graphs", 3, id="cuda-graph"),
        pytest.param("Fix the counter", -2, id="fix"),
        pytest.param("[Bugfix][Core] Count once", -2, id="bugfix"),
        pytest.param("docs: count once", -2, id="docs"),
        pytest.param("Prefix caching", 0, id="no-fix-in-prefix"),
        pytest.param("[Bugfix] Fix async scheduling", 1, id="hot-and-calm"),
    ],
)
def test_the_title_counts(title: str, expected: int) -> None:
    assert points(changed_file(CORE), title=title) == expected


def test_points_add_up() -> None:
    files = [changed_file(f"csrc/part{n}/a.cu", 100, 100) for n in range(4)]
    risk = assess(pull(files=[*files, changed_file("setup.py")], title="Faster kernels"))
    assert round(risk.points) == 6 + 4 + 2 + 2 + 3 + 3
    assert risk.reasons == (
        "rewrites 800 lines of existing product code",
        "adds 400 lines of product code",
        "changes dependencies or build",
        "performance or concurrency change by its title",
        "touches 4 product folders",
        "changes critical paths (such as a.cu)",
    )


@pytest.mark.parametrize(
    ("score", "listed", "highest"),
    [
        (THRESHOLD - 0.001, False, False),
        (THRESHOLD, True, False),
        (HIGHEST_BAND, True, True),
        (12.999, True, False),
    ],
)
def test_bands_begin_at_their_points(score: float, listed: bool, highest: bool) -> None:
    risk = Risk(score, ())
    assert (risk.is_listed, risk.is_highest) == (listed, highest)


def sweep(files: int, added: int, deleted: int) -> PullRequest:
    found = [changed_file(f"src/part{n}/core.py", added, deleted) for n in range(files)]
    return pull(files=found, title="Faster formatting")


@pytest.mark.parametrize(
    ("files", "added", "deleted", "capped"),
    [
        pytest.param(60, 10, 10, True, id="many-files-as-much-added-as-deleted"),
        pytest.param(60, 10, 8, True, id="nearly-as-much"),
        pytest.param(60, 8, 10, True, id="nearly-as-much-the-other-way"),
        pytest.param(60, 10, 7, False, id="not-as-much"),
        pytest.param(59, 10, 10, False, id="too-few-files"),
    ],
)
def test_sweeps_are_capped(files: int, added: int, deleted: int, capped: bool) -> None:
    risk = assess(sweep(files, added, deleted))
    assert (round(risk.points) == 6) is capped
    assert risk.is_listed is not capped


RISKY = [changed_file(f"csrc/part{n}/a.cu", 200, 200) for n in range(4)]


def test_the_files_of_these_tests_are_risky() -> None:
    assert assess(pull(files=RISKY, title="Rename things")).is_highest


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"title": 'Revert "Faster kernels"'}, id="title"),
        pytest.param({"title": '[Core] Revert "Faster kernels" (#5)'}, id="tagged-title"),
        pytest.param({"title": "Revert #5"}, id="number"),
        pytest.param({"title": "Faster kernels", "body": "This reverts commit 1234567."}, id="commit"),
        pytest.param(
            {"title": "Faster kernels", "body": "Reverts octo/engine#5"},
            id="body-number",
        ),
    ],
)
def test_a_revert_is_never_listed(fields: dict[str, Any]) -> None:
    assert not assess(pull(files=RISKY, **fields)).is_listed


@pytest.mark.parametrize("path", ["docs/a.md", "tests/test_a.py", ".github/ci.yml", "vendor/a.py", "a.bin"])
def test_without_product_or_build_files_nothing_is_listed(path: str) -> None:
    assert points(changed_file(path, 9_000, 9_000), title="Faster kernels") == -6


def test_a_pull_request_without_files_is_not_listed() -> None:
    assert not assess(pull(files=None, additions=9_000, title="Faster kernels")).is_listed


def test_the_classes_of_a_repository_are_used() -> None:
    classes = PathClasses(((PathClass.DOCS, "csrc/"),))
    assert not assess(pull(files=RISKY), classes).is_listed


def test_among_equal_points_the_larger_change_comes_first() -> None:
    small, large = (assess(pull(files=[changed_file(CORE, 0, lines)])) for lines in (100, 299))
    assert round(small.points) == round(large.points) == 4
    assert small.points < large.points


def test_size_never_makes_up_for_a_point() -> None:
    assert assess(pull(files=[changed_file(CORE, 19, status="added")], additions=10**9)).points < 1


counts = st.integers(0, 500)


@given(st.lists(st.tuples(counts, counts, st.booleans()), min_size=1, max_size=8))
def test_the_numbers_in_reasons_are_true(sizes: list[tuple[int, int, bool]]) -> None:
    files = [
        changed_file(f"src/part{at}/core.py", added, deleted, status="added" if is_new else "modified")
        for at, (added, deleted, is_new) in enumerate(sizes)
    ]
    rewritten = sum(file.deletions + (file.additions if file.status == "modified" else 0) for file in files)
    added = sum(file.additions for file in files)
    possible = {
        f"rewrites {rewritten:,} lines of existing product code": rewritten >= 8,
        f"adds {added:,} lines of product code": added >= 20,
        f"touches {len(files)} product folders": len(files) >= 2,
    }
    said = assess(pull(files=files, title="Rename things")).reasons
    assert set(said) == {sentence for sentence, holds in possible.items() if holds}


@given(st.from_regex(r"[a-z][a-z0-9-]{0,38}", fullmatch=True), st.booleans())
def test_the_author_changes_nothing(login: str, is_bot: bool) -> None:
    by_another = pull(files=RISKY, author=Account(login, is_bot), merged_by=Account(login))
    assert assess(by_another) == assess(pull(files=RISKY))
