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

    def __init__(self, source: PullRequests, cache: Cache, now: Callable[[], datetime]) -> None:
        self._source = source
        self._cache = cache
        self._now = now

    def list_merged(self, repository: Repository, day: LocalDay) -> DayMerges:
        """List a day's merges.

        A list that is empty or incomplete, or of a day that has hardly ended, is not stored.
        """
        key = DAY_LIST.build_key(repository, day.date, day.zone)
        cached = load_or_none(_DAY_MERGES, self._cache.get(key))
        if cached is not None:
            return cached
        listed = self._source.list_merged(repository, day)
        if listed.pulls and not listed.caveat and self._now() >= day.end + _INDEX_DELAY:
            self._cache.put(key, _DAY_MERGES.dump_json(listed).decode(), DAY_LIST.lifetime)
        return listed

    def fetch_pull_request(self, repository: Repository, number: int) -> PullRequest:
        """Fetch a pull request without the cache."""
        return self._source.fetch_pull_request(repository, number)

    def load_files(self, pull: PullRequest) -> PullRequest:
        """Load the files of a pull request without this cache."""
        return self._source.load_files(pull)
