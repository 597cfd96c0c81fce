from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.features.merges.risk import HIGHEST_BAND_THRESHOLD, RISK_THRESHOLD, Risk, RiskBand, assess_pull_request
from bot.platform.pulls.models import Account, ChangedFile, PullRequest
from bot.platform.pulls.paths import PathClass, PathClasses
from tests.helpers.builders import changed_file, pull
from tests.helpers.tables import check_rows

CORE = "src/core.py"


def points(*files: ChangedFile, title: str = "Rename things") -> int:
    """Whole points: what equal points are ordered by is less than one."""
    return round(assess_pull_request(pull(files=files, title=title)).points)


@pytest.mark.parametrize(
    ("added", "expected"), [(0, 0), (16, 3), (48, 6), (112, 9), (240, 12), (1_008, 18), (1_024, 18), (9_000, 18)]
)
def test_each_doubling_of_the_usual_size_counts_three_points_up_to_a_bound(added: int, expected: int) -> None:
    assert points(changed_file(CORE, added)) == expected
    assert points(changed_file(CORE, added, status="added")) == expected


def test_what_is_deleted_and_what_no_person_wrote_has_no_size() -> None:
    assert points(changed_file(CORE, 0, 9_000)) == 0
    assert points(changed_file(CORE), changed_file("uv.lock", 9_000)) == points(changed_file(CORE)) + 4


@pytest.mark.parametrize(("folders", "expected"), [(1, 0), (2, 1.5), (4, 3), (8, 4.5), (30, 4.5)])
def test_touching_several_product_folders_counts(folders: int, expected: float) -> None:
    files = [changed_file(f"src/part{n}/a.py", 0, 1) for n in range(folders)]
    assert assess_pull_request(pull(files=files, title="Rename things")).points == pytest.approx(
        expected, abs=0.001
    )


def test_only_product_files_count_as_folders() -> None:
    assert points(changed_file(CORE, 0, 1), *(changed_file(f"docs/part{n}/a.md") for n in range(9))) == 0


@pytest.mark.parametrize("path", ["src/auth/login.py", "csrc/cache.cpp", CORE])
def test_critical_paths_are_named_and_change_no_order(path: str) -> None:
    risk = assess_pull_request(pull(files=[changed_file(path, 0, 1)], title="Rename things"))
    assert round(risk.points) == 0
    name = path.rpartition("/")[2]
    assert risk.reasons == (() if path == CORE else (f"changes critical paths (such as {name})",))


@pytest.mark.parametrize("path", ["pyproject.toml", "uv.lock"])
def test_dependencies_and_build_count(path: str) -> None:
    assert points(changed_file(path, 0, 1)) == 4
    assert points(changed_file(path, 0, 1), changed_file(CORE, 0, 1)) == 4


@check_rows(
    {
        "plain": ("Rename things", 0),
        "perf": ("[Perf] Rename things", 3),
        "optimise": ("Optimise the scheduler", 3),
        "speed-up": ("Speed up loading", 3),
        "fuse": ("Fuse two layers", 3),
        "no-fuse": ("Confuse two layers", 0),
        "async": ("Async scheduling", 3),
        "cuda-graph": ("Use CUDA graphs", 3),
        "fix": ("Fix the counter", -2),
        "bugfix": ("[Bugfix][Core] Count once", -2),
        "docs": ("docs: count once", -2),
        "no-fix-in-prefix": ("Prefix caching", 0),
        "hot-and-calm": ("[Bugfix] Fix async scheduling", 1),
        "remove": ("Remove the old cache", -4),
        "deprecate": ("Deprecate --old", -4),
        "calm-and-removal": ("[Misc] Drop the old cache", -6),
    }
)
def test_the_title_counts(title: str, expected: int) -> None:
    assert points(changed_file(CORE, 0, 1), title=title) == expected


def test_points_add_up_and_the_weightiest_reason_comes_first() -> None:
    files = [changed_file(f"csrc/part{n}/a.cu", 59, 100) for n in range(4)]
    risk = assess_pull_request(pull(files=[*files, changed_file("setup.py", 4)], title="Faster kernels"))
    assert round(risk.points) == 12 + 3 + 4 + 3
    assert risk.reasons == (
        "adds 240 lines of product or build code",
        "changes dependencies or build",
        "touches 4 product folders",
        "title mentions performance or concurrency",
        "changes critical paths (such as a.cu)",
    )
    assert sum(rule.points for rule in risk.fired) == pytest.approx(risk.points, abs=0.001)


@pytest.mark.parametrize(
    ("score", "listed", "highest"),
    [
        (RISK_THRESHOLD - 0.001, False, False),
        (RISK_THRESHOLD, True, False),
        (HIGHEST_BAND_THRESHOLD, True, True),
        (15.999, True, False),
    ],
)
def test_bands_begin_at_their_points(score: float, listed: bool, highest: bool) -> None:
    risk = Risk(score, ())
    assert (risk.is_listed, risk.band is RiskBand.HIGHEST) == (listed, highest)


def sweep(files: int, added: int, deleted: int) -> PullRequest:
    changed_files = [changed_file(f"src/part{n}/core.py", added, deleted) for n in range(files)]
    return pull(files=changed_files, title="Faster formatting")


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
    risk = assess_pull_request(sweep(files, added, deleted))
    assert (round(risk.points) == 8) is capped
    assert risk.is_listed is not capped


RISKY = [changed_file(f"csrc/part{n}/a.cu", 200, 200) for n in range(4)]


def test_the_files_of_these_tests_are_risky() -> None:
    assert assess_pull_request(pull(files=RISKY, title="Rename things")).band is RiskBand.HIGHEST


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"title": 'Revert "Faster kernels"'}, id="title"),
        pytest.param({"title": '[Core] Revert "Faster kernels" (#5)'}, id="tagged-title"),
        pytest.param({"title": "Revert #5"}, id="number"),
        pytest.param({"title": "Faster kernels", "body": "This reverts commit 1234567."}, id="commit"),
        pytest.param({"title": "Faster kernels", "body": "Reverts octo/engine#5"}, id="body-number"),
    ],
)
def test_a_revert_is_never_listed(fields: dict[str, Any]) -> None:
    assert not assess_pull_request(pull(files=RISKY, **fields)).is_listed


@pytest.mark.parametrize("path", ["docs/a.md", "tests/test_a.py", ".github/ci.yml", "vendor/a.py", "a.bin"])
def test_without_product_or_build_files_nothing_is_listed(path: str) -> None:
    assert points(changed_file(path, 9_000, 9_000), title="Faster kernels") == -6


def test_a_pull_request_without_files_is_not_listed() -> None:
    assert not assess_pull_request(pull(files=None, additions=9_000, title="Faster kernels")).is_listed


def test_the_classes_of_a_repository_are_used() -> None:
    classes = PathClasses(((PathClass.DOCS, ("csrc/",)),))
    assert not assess_pull_request(pull(files=RISKY), classes).is_listed


def test_among_equal_points_the_larger_change_comes_first() -> None:
    small, large = (assess_pull_request(pull(files=[changed_file(CORE, 0, lines)])) for lines in (100, 299))
    assert round(small.points, 2) == round(large.points, 2) == 0
    assert small.points < large.points


def test_what_only_breaks_ties_never_makes_up_for_a_rule() -> None:
    assert assess_pull_request(pull(files=[changed_file(CORE, 0, 1)], additions=10**9)).points < 0.01


counts = st.integers(0, 500)


@given(st.lists(st.tuples(counts, counts, st.booleans()), min_size=1, max_size=8))
def test_the_numbers_in_reasons_are_true(sizes: list[tuple[int, int, bool]]) -> None:
    files = [
        changed_file(f"src/part{at}/core.py", added, deleted, status="added" if is_new else "modified")
        for at, (added, deleted, is_new) in enumerate(sizes)
    ]
    added = sum(file.additions for file in files)
    possible = {
        f"adds {added:,} lines of product or build code": added >= 16,
        f"touches {len(files)} product folders": len(files) >= 2,
    }
    reasons = assess_pull_request(pull(files=files, title="Rename things")).reasons
    assert set(reasons) == {sentence for sentence, holds in possible.items() if holds}


@given(st.from_regex(r"[a-z][a-z0-9-]{0,38}", fullmatch=True), st.booleans())
def test_the_author_changes_nothing(login: str, is_bot: bool) -> None:
    by_another = pull(files=RISKY, author=Account(login, is_bot), merged_by=Account(login))
    assert assess_pull_request(by_another) == assess_pull_request(pull(files=RISKY))
