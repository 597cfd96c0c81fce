"""Caches for the lists of days: channels and questions ask about the same days many times.

Whoever lists a day holds a lease meanwhile, so that a hundred channels at one moment cost one list.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from pydantic import TypeAdapter

from bot.domain.keyspace.keys import DAY_LIST, ONGOING_DAY_LIST
from bot.domain.pull_requests.models import PullRequest, Repository
from bot.domain.time.day import LocalDay
from bot.ports import Cache, DayMerges, PullRequests
from bot.ports.cached_json import load_or_none

_DAY_MERGES = TypeAdapter(DayMerges)
# GitHub's search index lags behind by minutes
_INDEX_DELAY = timedelta(hours=1)
# shorter than the pause before a digest with gaps is repaired
_UNSETTLED_LIFETIME = timedelta(minutes=2)


class DayListCache:
    """``PullRequests`` that keeps the lists of past days: for twelve hours, or for two minutes if they may change.

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
        if self._now() < day.end:
            return self._source.list_merged(repository, day)
        key = DAY_LIST.build_key(repository, day.date, day.zone)
        return _list_once(
            self._cache, key, lambda: self._source.list_merged(repository, day), self._get_lifetime(day)
        )

    def _get_lifetime(self, day: LocalDay) -> Callable[[DayMerges], timedelta]:
        is_indexed = self._now() >= day.end + _INDEX_DELAY

        def get_lifetime(listed: DayMerges) -> timedelta:
            is_settled = listed.pulls and not listed.caveat and is_indexed
            return DAY_LIST.lifetime if is_settled else _UNSETTLED_LIFETIME

        return get_lifetime

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
        if self._now() >= day.end:
            return self._source.list_merged(repository, day)
        key = ONGOING_DAY_LIST.build_key(repository, day.date, day.zone)
        lifetime = ONGOING_DAY_LIST.lifetime
        return _list_once(
            self._cache, key, lambda: self._source.list_merged(repository, day), lambda _listed: lifetime
        )


def _list_once(
    cache: Cache, key: str, list_merges: Callable[[], DayMerges], get_lifetime: Callable[[DayMerges], timedelta]
) -> DayMerges:
    """Return the list that is stored; or list the merges while nobody else does, and store the list."""
    cached = load_or_none(_DAY_MERGES, cache.get(key))
    if cached is not None:
        return cached
    with cache.acquire_lease(key):
        # the previous holder of the lease has most likely listed the same
        cached = load_or_none(_DAY_MERGES, cache.get(key))
        if cached is not None:
            return cached
        listed = list_merges()
        cache.put(key, _DAY_MERGES.dump_json(listed).decode(), get_lifetime(listed))
        return listed
