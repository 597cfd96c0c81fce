"""Caches for the lists of days: channels and questions ask about the same days many times.

The process that lists a day holds a lease meanwhile, so that a hundred channels at one moment cost one list.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from pydantic import TypeAdapter

from bot.domain.keyspace.keys import DAY_LIST, UNSETTLED_DAY_LIST
from bot.domain.pull_requests.models import PullRequest, Repository
from bot.domain.time.day import LocalDay
from bot.ports import Cache, DayMerges, PullRequests
from bot.ports.codecs.cached_json import load_or_none

_DAY_MERGES = TypeAdapter(DayMerges)
# GitHub's search index lags behind by minutes
_INDEX_DELAY = timedelta(hours=1)
# shorter than the pause before a digest with gaps is repaired
UNSETTLED_MINUTES = 2
# as long as a process remembers what it read around a day
ONGOING_MINUTES = 10


class DayListCache:
    """``PullRequests`` that keeps the lists of past days: for twelve hours, or two minutes if they may change.

    The list of a day that is not over is not stored.
    """

    def __init__(self, source: PullRequests, cache: Cache, now: Callable[[], datetime]) -> None:
        self._source = source
        self._cache = cache
        self._now = now

    def list_merged(self, repository: Repository, day: LocalDay) -> DayMerges:
        """List a day's merges.

        A list may change if it is empty or incomplete, or if the day has hardly ended.
        """
        now = self._now()
        if now < day.end:
            return self._source.list_merged(repository, day)
        settled = DAY_LIST.build_key(repository, day.date, day.zone)
        unsettled = _build_unsettled_key(repository, day, now, UNSETTLED_MINUTES)
        cached = _load_list(self._cache, settled) or _load_list(self._cache, unsettled)
        if cached is not None:
            return cached
        with self._cache.acquire_lease(settled):
            # the previous holder of the lease has most likely listed the same
            cached = _load_list(self._cache, settled) or _load_list(self._cache, unsettled)
            if cached is not None:
                return cached
            listed = self._source.list_merged(repository, day)
            is_settled = listed.pulls and not listed.caveat and now >= day.end + _INDEX_DELAY
            if is_settled:
                _store_list(self._cache, settled, listed, DAY_LIST.lifetime)
            else:
                _store_list(self._cache, unsettled, listed, UNSETTLED_DAY_LIST.lifetime)
            return listed

    def fetch_pull_request(self, repository: Repository, number: int) -> PullRequest:
        """Fetch a pull request without the cache."""
        return self._source.fetch_pull_request(repository, number)

    def load_files(self, pull: PullRequest) -> PullRequest:
        """Load the files of a pull request without this cache."""
        return self._source.load_files(pull)


class OngoingDayCache:
    """Lister of days that keeps the list of a day that is not over for ten minutes.

    It is for what was reverted since a digest's day. Each channel would otherwise cost a list of its own.
    """

    def __init__(self, source: PullRequests, cache: Cache, now: Callable[[], datetime]) -> None:
        self._source = source
        self._cache = cache
        self._now = now

    def list_merged(self, repository: Repository, day: LocalDay) -> DayMerges:
        """List a day's merges. What was merged in the last ten minutes may be missing if the day is not over."""
        now = self._now()
        if now >= day.end:
            return self._source.list_merged(repository, day)
        key = _build_unsettled_key(repository, day, now, ONGOING_MINUTES)
        cached = _load_list(self._cache, key)
        if cached is not None:
            return cached
        with self._cache.acquire_lease(key):
            cached = _load_list(self._cache, key)
            if cached is not None:
                return cached
            listed = self._source.list_merged(repository, day)
            _store_list(self._cache, key, listed, UNSETTLED_DAY_LIST.lifetime)
            return listed


def _build_unsettled_key(repository: Repository, day: LocalDay, now: datetime, minutes: int) -> str:
    """Return the key of a list for the so many minutes in which ``now`` is."""
    first = int(now.timestamp()) // 60 // minutes * minutes
    return UNSETTLED_DAY_LIST.build_key(repository, day.date, day.zone, first)


def _load_list(cache: Cache, key: str) -> DayMerges | None:
    return load_or_none(_DAY_MERGES, cache.get(key))


def _store_list(cache: Cache, key: str, listed: DayMerges, lifetime: timedelta) -> None:
    cache.put(key, _DAY_MERGES.dump_json(listed).decode(), lifetime)
