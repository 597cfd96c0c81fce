from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest
from redis import Redis

from bot.dates import LocalDay
from bot.errors import GitHubUnavailable
from bot.platform.github.caches import FileCache
from bot.platform.pulls.models import ChangedFile, PullRequest
from bot.platform.pulls.sources import CountCheck, DayMerges
from bot.platform.store.connection import RedisCache
from bot.platform.store.tables import Store
from impact.repository import Repository
from tests.helpers.builders import DAY, REPOSITORY, changed_file, pull

FILES = (
    changed_file("src/a.py", 3, 2),
    ChangedFile("logo.png", "added", 0, 0, None),
    ChangedFile("new.py", "renamed", 0, 0, None, previous_path="old.py"),
    changed_file("größe/日本.py", patch="@@ -1 +1 @@\n-a\n+é\u2028\x00"),
)


@dataclass
class Recorder:
    files: tuple[ChangedFile, ...] = FILES
    asked: list[int] = field(default_factory=list)
    fails: bool = False

    def list_merged(self, repository: Repository, day: LocalDay) -> DayMerges:
        self.asked.append(0)
        return DayMerges((pull(1, files=None),), CountCheck(1, str(repository) + str(day.date)))

    def fetch_pull_request(self, repository: Repository, number: int) -> PullRequest:
        self.asked.append(number)
        return pull(number, files=None, repository=repository)

    def load_files(self, pull: PullRequest) -> PullRequest:
        self.asked.append(pull.number)
        if self.fails:
            raise GitHubUnavailable("GitHub is away.")
        return replace(pull, files=self.files)


@pytest.fixture
def cache(store: Redis) -> Store:
    return Store(store)


def test_files_are_asked_for_once(cache: Store) -> None:
    behind, pull_request = Recorder(), pull(7, files=None)
    first, second = (FileCache(behind, cache).load_files(pull_request) for _ in range(2))
    assert first == second == replace(pull_request, files=FILES)
    assert behind.asked == [7]


def test_another_commit_is_asked_for_anew(cache: Store) -> None:
    behind = Recorder()
    pulls = FileCache(behind, cache)
    pulls.load_files(pull(7, files=None, merge_commit=None, head_commit="a" * 40))
    pulls.load_files(pull(7, files=None, merge_commit=None, head_commit="b" * 40))
    assert behind.asked == [7, 7]


def test_repositories_and_numbers_are_kept_apart(cache: Store) -> None:
    behind = Recorder()
    pulls = FileCache(behind, cache)
    pulls.load_files(pull(7, files=None, merge_commit="c" * 40))
    pulls.load_files(pull(8, files=None, merge_commit="c" * 40))
    pulls.load_files(pull(7, files=None, merge_commit="c" * 40, repository=Repository("octo", "other")))
    assert behind.asked == [7, 8, 7]


def test_a_failure_is_not_kept(cache: Store) -> None:
    behind = Recorder(fails=True)
    with pytest.raises(GitHubUnavailable):
        FileCache(behind, cache).load_files(pull(7, files=None))
    behind.fails = False
    assert FileCache(behind, cache).load_files(pull(7, files=None)).files == FILES


def test_no_files_are_not_kept(cache: Store, store: Redis) -> None:
    FileCache(Recorder(()), cache).load_files(pull(7, files=None))
    assert store.dbsize() == 0


def test_kept_files_run_out(cache: Store, store: Redis) -> None:
    FileCache(Recorder(), cache).load_files(pull(7, files=None))
    (key,) = store.scan_iter()
    assert 0 < int(str(store.ttl(key))) <= timedelta(days=30).total_seconds()


def test_the_list_of_a_day_and_a_pull_request_are_always_fresh(cache: Store) -> None:
    behind = Recorder()
    pulls = FileCache(behind, cache)
    for _ in range(2):
        assert pulls.list_merged(REPOSITORY, DAY).count.counted == 1
        assert pulls.fetch_pull_request(REPOSITORY, 9).number == 9
    assert behind.asked == [0, 9, 0, 9]


def test_kept_files_that_no_longer_fit_are_asked_for_again(cache: Store, store: Redis) -> None:
    behind, pull_request = Recorder(), pull(7, files=None)
    FileCache(behind, cache).load_files(pull_request)
    (key,) = store.scan_iter()
    RedisCache(store).put(
        bytes(key).decode(), '{"version": 1, "files": [{"name": "of another shape"}]}', timedelta(days=1)
    )
    assert FileCache(behind, cache).load_files(pull_request).files == FILES
