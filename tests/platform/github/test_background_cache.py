from dataclasses import replace
from datetime import timedelta

import pytest
from redis import Redis

from bot.errors import GitHubUnavailable
from bot.platform.github.caches import BackgroundCache
from bot.platform.pulls.sources import Discussion
from bot.platform.store.tables import Store
from impact.repository import Repository
from tests.helpers.builders import REPOSITORY, pull
from tests.helpers.doubles import KnownPulls

SEVEN, EIGHT = (pull(number, body="größe \u2028 <x>", merge_commit=f"{number}" * 40) for number in (7, 8))


@pytest.fixture
def cache(store: Redis) -> Store:
    return Store(store)


def test_a_discussion_is_read_once_for_ten_minutes(cache: Store, store: Redis) -> None:
    source = KnownPulls((SEVEN,))
    first = BackgroundCache(source, cache).fetch_discussion(REPOSITORY, 7)
    assert BackgroundCache(source, cache).fetch_discussion(REPOSITORY, 7) == first
    assert first.remarks[0].text == SEVEN.body
    assert source.calls == ["talk 7"]
    (key,) = store.scan_iter("discussion:*")
    assert 0 < int(str(store.ttl(key))) <= 600
    store.set(key, "{odd")
    assert BackgroundCache(source, cache).fetch_discussion(REPOSITORY, 7) == first


def test_a_part_of_a_discussion_is_not_kept(cache: Store) -> None:
    class Partial(KnownPulls):
        def fetch_discussion(self, repository: Repository, number: int) -> Discussion:
            return replace(super().fetch_discussion(repository, number), is_partial=True)

    source = Partial((SEVEN,))
    for _ in range(2):
        assert BackgroundCache(source, cache).fetch_discussion(REPOSITORY, 7).is_partial
    assert source.calls == ["talk 7", "talk 7"]


def test_only_unknown_commits_are_asked_for_in_one_request(cache: Store, store: Redis) -> None:
    source = KnownPulls((SEVEN, EIGHT))
    known = BackgroundCache(source, cache)
    assert known.find_merges(REPOSITORY, ["7777777"])["7777777"].number == 7
    merges = known.find_merges(REPOSITORY, ["7777777", "8888888", "9999999"])
    assert {commit: each.number for commit, each in merges.items()} == {"7777777": 7, "8888888": 8}
    assert known.find_merges(REPOSITORY, ["8888888"])["8888888"] == merges["8888888"]
    assert source.calls == ["commits 7777777", "commits 8888888 9999999"]
    for key in store.scan_iter("merged:*"):
        assert 0 < int(str(store.ttl(key))) <= timedelta(days=30).total_seconds()


def test_a_failure_is_not_kept(cache: Store) -> None:
    source = KnownPulls(
        (SEVEN,), {"talk 7": GitHubUnavailable("away"), "commits 7777777": GitHubUnavailable("away")}
    )
    known = BackgroundCache(source, cache)
    with pytest.raises(GitHubUnavailable):
        known.fetch_discussion(REPOSITORY, 7)
    with pytest.raises(GitHubUnavailable):
        known.find_merges(REPOSITORY, ["7777777"])
    source.failing.clear()
    assert known.fetch_discussion(REPOSITORY, 7).number == 7
    assert known.find_merges(REPOSITORY, ["7777777"])
