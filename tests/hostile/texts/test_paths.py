"""Patterns that are made to be slow are compared at once, in every place where somebody may write one."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from bot.errors import UsageError
from bot.features.questions.texts import select_files
from bot.platform.cleaning import parse_file
from bot.platform.pulls.models import PullRequest
from bot.platform.pulls.paths import MAX_PATH_LENGTH, Filters, PathClass, PathClasses, find_fault
from tests.helpers.builders import changed_file, pull
from tests.hostile.tables.paths import SLOW_PATTERNS

# of the processor; the slowest of them took minutes
MOST_SECONDS = 0.2


@contextmanager
def at_once() -> Iterator[None]:
    began = time.thread_time()
    yield
    assert time.thread_time() - began < MOST_SECONDS


def changing(path: str) -> PullRequest:
    return pull(files=[changed_file(path)])


@pytest.mark.parametrize(("pattern", "path", "fits"), SLOW_PATTERNS.values(), ids=SLOW_PATTERNS)
def test_a_filter_compares_at_once(pattern: str, path: str, fits: bool) -> None:
    with at_once():
        assert Filters(paths=(pattern,)).is_match(changing(path)) is fits


@pytest.mark.parametrize(("pattern", "path", "fits"), SLOW_PATTERNS.values(), ids=SLOW_PATTERNS)
def test_the_tool_of_the_model_compares_at_once(pattern: str, path: str, fits: bool) -> None:
    with at_once():
        assert bool(select_files(changing(path), (pattern,))) is fits


@pytest.mark.parametrize(("pattern", "path", "fits"), SLOW_PATTERNS.values(), ids=SLOW_PATTERNS)
def test_the_classes_of_a_repository_compare_at_once(pattern: str, path: str, fits: bool) -> None:
    """Also where the pattern would be refused in the file of PRDIGEST_PATHS."""
    own = PathClasses(((PathClass.CI, ("zz", "!b.py", pattern)),), (pattern,))
    own.classify_path("warm.up")
    with at_once():
        assert (own.classify_path(path) is PathClass.CI) is (fits and not pattern.startswith("!"))


def test_of_patterns_that_are_taken_in_the_file_each_is_compared_at_once() -> None:
    pattern, path = "**/*a*a/**/b", "/".join(["a" * 40] * 98 + ["b" * 60])
    assert not find_fault(pattern)
    own = PathClasses(((PathClass.CI, (pattern,)),))
    own.classify_path("warm.up")
    with at_once():
        own.classify_path(path)


def test_a_filter_that_is_too_long_is_refused_in_a_sentence() -> None:
    with pytest.raises(UsageError, match=r"^path:'a+…' is too long: use up to 1,000 characters\.$"):
        Filters(paths=("a" * (MAX_PATH_LENGTH + 1),))


def test_of_more_folders_than_any_repository_has_the_first_and_the_name_are_kept() -> None:
    file = parse_file({"filename": "a/" * 2_000 + "b.py", "previous_filename": "c/" * 2_000 + "d.py"})
    for path, folder, name in ((file.path, "a", "b.py"), (file.previous_path or "", "c", "d.py")):
        assert path == f"{folder}/" * 99 + f"…/{name}"


def test_a_path_of_a_hundred_folders_stays_as_it_is() -> None:
    path = "a/" * 100 + "b.py"
    assert parse_file({"filename": path}).path == path
