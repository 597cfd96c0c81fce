from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
from redis import Redis

from bot.errors import GitHubUnavailable, SourceUnavailable
from bot.platform.github.caches import SourceFileCache
from bot.platform.store.connection import RedisCache
from bot.platform.store.tables import Store
from impact.source.models import DiffSide, SourceFile, SourceProblem
from tests.helpers.builders import REPOSITORY
from tests.helpers.doubles import FileTree

WRONG_FILES = ("[]", '{"a.py": 1}', '{"b.py": {"path": "b.py"}}')
TEXT = "größe = '\u2028'\r\n" * 1_000


@pytest.fixture
def cache(store: Redis) -> Store:
    return Store(store)


def test_files_are_read_once_whatever_the_order_of_their_paths(cache: Store, store: Redis) -> None:
    tree = FileTree({"a.py": TEXT})
    files = SourceFileCache(tree, cache)
    expected = {"a.py": SourceFile("a.py", TEXT), "b.py": SourceFile("b.py", problem=SourceProblem.MISSING)}
    assert files.read_files(REPOSITORY, "c0ffee", ["a.py", "b.py"]) == expected
    assert SourceFileCache(tree, cache).read_files(REPOSITORY, "c0ffee", ["b.py", "a.py"]) == expected
    assert tree.asked == [("c0ffee", DiffSide.NEW, ("a.py", "b.py"))]
    (key,) = store.scan_iter("sources:*")
    assert 0 < int(str(store.ttl(key))) <= timedelta(days=2).total_seconds()


def test_another_commit_side_or_file_is_another_request(cache: Store) -> None:
    tree = FileTree({"a.py": TEXT})
    files = SourceFileCache(tree, cache)
    files.read_files(REPOSITORY, "c0ffee", ["a.py"])
    files.read_files(REPOSITORY, "c0ffee", ["a.py"], DiffSide.OLD)
    files.read_files(REPOSITORY, "decaf", ["a.py"])
    files.read_files(REPOSITORY, "c0ffee", ["a.py", "b.py"])
    assert len(tree.asked) == 4


def test_a_failure_is_not_kept(cache: Store) -> None:
    tree = FileTree({"a.py": TEXT}, GitHubUnavailable("GitHub is away."))
    files = SourceFileCache(tree, cache)
    with pytest.raises(GitHubUnavailable):
        files.read_files(REPOSITORY, "c0ffee", ["a.py"])
    tree.error = None
    assert files.read_files(REPOSITORY, "c0ffee", ["a.py"])["a.py"].text == TEXT


def test_a_commit_that_is_not_there_is_asked_for_once(cache: Store) -> None:
    tree = FileTree(error=SourceUnavailable("no such commit"))
    for _ in range(2):
        with pytest.raises(SourceUnavailable):
            SourceFileCache(tree, cache).read_files(REPOSITORY, "c0ffee", ["a.py"])
    assert len(tree.asked) == 1


def test_a_file_that_could_not_be_had_this_time_is_asked_for_again(cache: Store) -> None:
    class Failing(FileTree):
        def read_files(self, *request: Any) -> Mapping[str, SourceFile]:
            return {"a.py": SourceFile("a.py", problem=SourceProblem.UNAVAILABLE)}

    SourceFileCache(Failing(), cache).read_files(REPOSITORY, "c0ffee", ["a.py"])
    files = SourceFileCache(FileTree({"a.py": TEXT}), cache).read_files(REPOSITORY, "c0ffee", ["a.py"])
    assert files["a.py"].text == TEXT


@pytest.mark.parametrize(
    "value", ["", "{", "[]", "{}", *(f'{{"version": 1, "files": {files}}}' for files in WRONG_FILES)]
)
def test_what_can_not_be_read_in_the_cache_is_read_again(cache: Store, store: Redis, value: str) -> None:
    files = SourceFileCache(FileTree({"a.py": TEXT}), cache)
    files.read_files(REPOSITORY, "c0ffee", ["a.py"])
    (key,) = store.scan_iter("sources:*")
    RedisCache(store).put(key.decode(), value, timedelta(days=2))
    assert files.read_files(REPOSITORY, "c0ffee", ["a.py"])["a.py"].text == TEXT
