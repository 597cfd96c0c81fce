"""Releases through the cache: asked for once a day, or when a later time is asked about."""

from collections.abc import Sequence
from datetime import datetime, timedelta

import pytest
from redis import Redis

from bot.errors import GitHubUnavailable
from bot.platform.github.caches import ReleaseCache
from bot.platform.store.tables import Store
from impact.contract.deprecations import Release
from impact.repository import Repository
from tests.helpers.builders import NOON, REPOSITORY

COMMIT = "c0ffee" + "0" * 34
FIRST = Release("v1.0.0", (1, 0, 0), NOON)


class Source:
    """Releases that a test sets, and how often they were asked for. Without any, it is away."""

    def __init__(self, *releases: Release) -> None:
        self.releases = releases
        self.calls = 0

    def list_releases(self, repository: Repository) -> Sequence[Release]:
        self.calls += 1
        if not self.releases:
            raise GitHubUnavailable(f"{repository} is away.")
        return self.releases

    def find_commit(self, repository: Repository, tag: str) -> str:
        self.calls += 1
        return COMMIT if self.releases and tag == self.releases[0].name else ""


def ask(source: Source, store: Redis, now: datetime, until: datetime) -> Sequence[Release]:
    return ReleaseCache(source, Store(store), lambda: now).list_releases(REPOSITORY, until)


def test_releases_are_read_once_a_day(store: Redis) -> None:
    source = Source(FIRST)
    for hours in (0, 1):
        assert ask(source, store, NOON + timedelta(hours=hours), NOON) == (FIRST,)
    assert source.calls == 1
    (key,) = store.scan_iter("releases:*")
    assert 0 < int(str(store.ttl(key))) <= 86_400
    # a release of the last hour isn't missed
    assert ask(source, store, NOON + timedelta(hours=1), NOON + timedelta(hours=1)) == (FIRST,)
    assert source.calls == 2
    store.set(key, "{odd")
    assert ask(source, store, NOON, NOON) == (FIRST,)


def test_a_tag_is_looked_up_once_a_day(store: Redis) -> None:
    source = Source(FIRST)
    cache = ReleaseCache(source, Store(store), lambda: NOON)
    assert [cache.find_commit(REPOSITORY, tag) for tag in ("v1.0.0", "v1.0.0", "v2", "v2")] == [
        COMMIT,
        COMMIT,
        "",
        "",
    ]
    # a tag that is missing may come
    assert source.calls == 3


def test_a_failure_is_not_kept(store: Redis) -> None:
    source = Source()
    with pytest.raises(GitHubUnavailable):
        ask(source, store, NOON, NOON)
    source.releases = (FIRST,)
    assert ask(source, store, NOON, NOON) == (FIRST,)
