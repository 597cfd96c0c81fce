"""Cache for the files of merged pull requests, which do not change any more."""

from __future__ import annotations

from dataclasses import replace

from pydantic import TypeAdapter

from bot.domain.keyspace.keys import CHANGED_FILES
from bot.domain.pull_requests.models import ChangedFile, PullRequest, Repository
from bot.domain.time.day import LocalDay
from bot.ports import Cache, DayMerges, PullRequests
from bot.ports.cached_json import load_or_none

_FILES = TypeAdapter(tuple[ChangedFile, ...])


class FileCache:
    """``PullRequests`` that asks the one behind it only once for the files of a commit."""

    def __init__(self, behind: PullRequests, cache: Cache) -> None:
        self._behind = behind
        self._cache = cache

    def list_merged(self, repository: Repository, day: LocalDay) -> DayMerges:
        """List a day's merges without the cache: it is one call, and must be fresh."""
        return self._behind.list_merged(repository, day)

    def fetch_pull_request(self, repository: Repository, number: int) -> PullRequest:
        """Fetch a pull request without the cache."""
        return self._behind.fetch_pull_request(repository, number)

    def load_files(self, pull: PullRequest) -> PullRequest:
        """The pull request with its files, from the cache where they are."""
        key = CHANGED_FILES.build_key(pull.repository, pull.number, pull.commit)
        found = load_or_none(_FILES, self._cache.get(key))
        if found is not None:
            return replace(pull, files=found)
        loaded = self._behind.load_files(pull)
        if loaded.files:
            self._cache.put(key, _FILES.dump_json(loaded.files).decode(), CHANGED_FILES.lifetime)
        return loaded
