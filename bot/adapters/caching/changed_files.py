"""Cache for the files of merged pull requests, which do not change any more."""

from __future__ import annotations

from dataclasses import replace

from pydantic import TypeAdapter

from bot.domain.keyspace.keys import FILES
from bot.domain.pull_requests.models import ChangedFile, PullRequest, Repository
from bot.domain.time.day import LocalDay
from bot.ports import Cache, Merged, PullRequests
from bot.ports.cached_json import read_back

_FILES = TypeAdapter(tuple[ChangedFile, ...])


class CachedFiles:
    """``PullRequests`` that asks the one behind it only once for the files of a commit."""

    def __init__(self, behind: PullRequests, cache: Cache) -> None:
        self._behind = behind
        self._cache = cache

    def merged_on(self, repository: Repository, day: LocalDay) -> Merged:
        """List a day's merges without the cache: it is one call, and must be fresh."""
        return self._behind.merged_on(repository, day)

    def pull(self, repository: Repository, number: int) -> PullRequest:
        """Fetch a pull request without the cache."""
        return self._behind.pull(repository, number)

    def with_files(self, pull: PullRequest) -> PullRequest:
        """The pull request with its files, from the cache where they are."""
        key = FILES.key(pull.repository, pull.number, pull.commit)
        found = read_back(_FILES, self._cache.get(key))
        if found is not None:
            return replace(pull, files=found)
        loaded = self._behind.with_files(pull)
        if loaded.files:
            self._cache.put(key, _FILES.dump_json(loaded.files).decode(), FILES.lifetime)
        return loaded
