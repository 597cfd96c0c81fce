"""Whether the classes of paths fit a repository, by how many of its pull requests have no product code."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from bot.domain.path_fit import Fit, share_without_product
from bot.domain.paths import DEFAULT_PATHS, OwnPaths, PathClass, PathClasses
from bot.domain.pulls import PullRequest
from tests.checks import is_one_sentence
from tests.support import changed_file, pull


def touching(*paths: str) -> PullRequest:
    return pull(files=[changed_file(path) for path in paths])


def fit(*pulls: PullRequest, classes: PathClasses = DEFAULT_PATHS) -> tuple[int, int]:
    found = share_without_product(pulls, classes)
    return found.without_product, found.pulls


TOUCHED: dict[str, tuple[Iterable[str], bool]] = {
    "product": (["engine/core.py"], True),
    "product among others": (["docs/a.md", "tests/a.py", "engine/core.py"], True),
    "the build": (["pyproject.toml"], True),
    "a lock file": (["uv.lock"], True),
    "documentation": (["docs/a.md", "README.md"], False),
    "tests and CI": (["tests/test_a.py", ".github/workflows/ci.yml"], False),
    "tools": (["tools/a.py"], False),
    "data": (["data/table.json"], False),
    "what is generated": (["vendor/a.py"], False),
}


@pytest.mark.parametrize(("paths", "counts"), TOUCHED.values(), ids=TOUCHED)
def test_product_code_and_its_build_count(paths: Iterable[str], counts: bool) -> None:
    assert fit(touching(*paths)) == (0 if counts else 1, 1)


def test_those_without_files_are_left_out() -> None:
    assert fit(pull(files=None), touching("docs/a.md"), touching("engine/core.py")) == (1, 2)
    assert share_without_product([], DEFAULT_PATHS) == Fit(0, 0)
    assert Fit(0, 0).share == 0.0


def test_the_classes_of_the_repository_decide() -> None:
    shipped = PathClasses(own=OwnPaths(((PathClass.PRODUCT, ("examples/",)),)))
    assert fit(touching("examples/serve.py")) == (1, 1)
    assert fit(touching("examples/serve.py"), classes=shipped) == (0, 1)


def test_the_folders_that_most_of_them_touch_are_named_with_their_classes() -> None:
    pulls = [
        *[touching("examples/serve.py", "examples/deep/a.py", "tests/a.py")] * 3,
        *[touching("examples/a/b/c.py")] * 2,
        touching("docs/a.md", "README.md"),
        touching("examples/a.py", "engine/core.py"),
    ]
    assert share_without_product(pulls, DEFAULT_PATHS).folders == (
        ("examples/", PathClass.DOCS, 5),
        ("tests/", PathClass.TESTS, 3),
        ("README.md", PathClass.DOCS, 1),
    )


SHARES = {(31, 100): True, (30, 100): False, (20, 100): False, (20, 60): True, (59, 59): False, (0, 0): False}


@pytest.mark.parametrize(("counts", "doubtful"), SHARES.items())
def test_more_than_thirty_percent_of_enough_pull_requests_are_doubtful(
    counts: tuple[int, int], doubtful: bool
) -> None:
    without, pulls = counts
    found = Fit(pulls, without, (("examples/", PathClass.DOCS, without),))
    assert (found.is_doubtful, bool(found.warning)) == (doubtful, doubtful)


def test_the_warning_says_what_to_look_at() -> None:
    pulls = [touching("examples/serve.py")] * 500 + [touching("docs/a.md")] * 100 + [touching("a.py")] * 900
    warning = share_without_product(pulls, DEFAULT_PATHS).warning
    assert warning == (
        "The path classes may not fit this repository: 40% of its 1,500 pull requests touch no product code, where"
        " 20% is usual, but mostly examples/ (docs, in 500), docs/ (docs, in 100): if shipped code lies there,"
        " name it as product in the file of PRDIGEST_PATHS."
    )
    assert is_one_sentence(warning)


def test_a_hostile_folder_stays_on_its_line_and_short() -> None:
    pulls = [touching("a\n\x1b[31mb" + "c" * 200 + "/x.md")] * 100
    warning = share_without_product(pulls, DEFAULT_PATHS).warning
    assert is_one_sentence(warning)
    assert "\x1b" not in warning
    assert len(warning) < 350
