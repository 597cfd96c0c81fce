"""Cache for the lists of past days: questions ask about the same days many times."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from pydantic import TypeAdapter

from bot.domain.keyspace.keys import DAY_LIST
from bot.domain.pull_requests.models import PullRequest, Repository
from bot.domain.time.day import LocalDay
from bot.ports import Cache, DayMerges, PullRequests
from bot.ports.cached_json import load_or_none

_DAY_MERGES = TypeAdapter(DayMerges)
# GitHub's search index lags behind by minutes
_INDEX_DELAY = timedelta(hours=1)


class DayListCache:
    """``PullRequests`` that keeps the lists of past days for twelve hours."""

    def __init__(self, behind: PullRequests, cache: Cache, now: Callable[[], datetime]) -> None:
        self._behind = behind
        self._cache = cache
        self._now = now

    def list_merged(self, repository: Repository, day: LocalDay) -> DayMerges:
        """The list of a day. One that is empty or not complete, or whose day is hardly over, is not kept."""
        key = DAY_LIST.build_key(repository, day.date, day.zone)
        found = load_or_none(_DAY_MERGES, self._cache.get(key))
        if found is not None:
            return found
        listed = self._behind.list_merged(repository, day)
        if listed.pulls and not listed.caveat and self._now() >= day.end + _INDEX_DELAY:
            self._cache.put(key, _DAY_MERGES.dump_json(listed).decode(), DAY_LIST.lifetime)
        return listed

    def fetch_pull_request(self, repository: Repository, number: int) -> PullRequest:
        """Fetch a pull request without the cache."""
        return self._behind.fetch_pull_request(repository, number)

    def load_files(self, pull: PullRequest) -> PullRequest:
        """Load the files of a pull request without this cache."""
        return self._behind.load_files(pull)
