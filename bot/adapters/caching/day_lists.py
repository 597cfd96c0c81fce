"""Cache for the lists of past days: questions ask about the same days many times."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from pydantic import TypeAdapter

from bot.domain.keyspace.keys import DAY
from bot.domain.pull_requests.models import PullRequest, Repository
from bot.domain.time.day import LocalDay
from bot.ports import Cache, Merged, PullRequests
from bot.ports.cached_json import read_back

_MERGED = TypeAdapter(Merged)
# GitHub's search index lags behind by minutes
_SETTLED = timedelta(hours=1)


class CachedDays:
    """``PullRequests`` that keeps the lists of past days for twelve hours."""

    def __init__(self, behind: PullRequests, cache: Cache, now: Callable[[], datetime]) -> None:
        self._behind = behind
        self._cache = cache
        self._now = now

    def merged_on(self, repository: Repository, day: LocalDay) -> Merged:
        """The list of a day. One that is empty or not complete, or whose day is hardly over, is not kept."""
        key = DAY.key(repository, day.date, day.zone)
        found = read_back(_MERGED, self._cache.get(key))
        if found is not None:
            return found
        listed = self._behind.merged_on(repository, day)
        if listed.pulls and not listed.doubt and self._now() >= day.end + _SETTLED:
            self._cache.put(key, _MERGED.dump_json(listed).decode(), DAY.lifetime)
        return listed

    def pull(self, repository: Repository, number: int) -> PullRequest:
        """Fetch a pull request without the cache."""
        return self._behind.pull(repository, number)

    def with_files(self, pull: PullRequest) -> PullRequest:
        """Load the files of a pull request without this cache."""
        return self._behind.with_files(pull)
