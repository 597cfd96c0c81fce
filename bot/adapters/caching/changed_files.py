"""Cache for the files of merged pull requests, which do not change any more."""

from __future__ import annotations

from dataclasses import replace

from pydantic import TypeAdapter

from bot.domain.keyspace.keys import CHANGED_FILES
from bot.domain.pull_requests.models import ChangedFile, PullRequest, Repository
from bot.domain.time.day import LocalDay
from bot.ports import Cache, DayMerges, PullRequests
from bot.ports.codecs.cached_json import load_or_none

_FILES = TypeAdapter(tuple[ChangedFile, ...])


class FileCache:
    """``PullRequests`` that asks the source only once for the files of a commit."""

    def __init__(self, source: PullRequests, cache: Cache) -> None:
        self._source = source
        self._cache = cache

    def list_merged(self, repository: Repository, day: LocalDay) -> DayMerges:
        """List a day's merges without the cache: it is one call, and must be fresh."""
        return self._source.list_merged(repository, day)

    def fetch_pull_request(self, repository: Repository, number: int) -> PullRequest:
        """Fetch a pull request without the cache."""
        return self._source.fetch_pull_request(repository, number)

    def load_files(self, pull: PullRequest) -> PullRequest:
        """Return the pull request with its files, from the cache if it has them."""
        key = CHANGED_FILES.build_key(pull.repository, pull.number, pull.commit)
        files = load_or_none(_FILES, self._cache.get(key))
        if files is not None:
            return replace(pull, files=files)
        with self._cache.acquire_lease(key):
            # the previous holder of the lease has most likely loaded the same
            files = load_or_none(_FILES, self._cache.get(key))
            if files is not None:
                return replace(pull, files=files)
            loaded = self._source.load_files(pull)
            if loaded.files:
                self._cache.put(key, _FILES.dump_json(loaded.files).decode(), CHANGED_FILES.lifetime)
            return loaded
