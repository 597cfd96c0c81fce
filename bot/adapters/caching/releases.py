"""Cache for the releases and tags of a repository, for a day."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from pydantic import TypeAdapter

from bot.domain.keyspace.keys import RELEASES, TAG_COMMIT
from bot.domain.pull_requests.models import Repository
from bot.ports import Cache, Releases
from bot.ports.codecs.cached_json import load_or_none
from impact.contract.releases import Release


@dataclass(frozen=True, slots=True)
class _ReleaseList:
    """Releases, and when they were asked for (UTC)."""

    read_at: datetime
    releases: tuple[Release, ...]


_RELEASES = TypeAdapter(_ReleaseList)


class ReleaseCache:
    """Releases that the source is asked for once a day, or when a later time is asked about."""

    def __init__(self, source: Releases, cache: Cache, now: Callable[[], datetime]) -> None:
        self._source = source
        self._cache = cache
        self._now = now

    def list_releases(self, repository: Repository, until: datetime) -> Sequence[Release]:
        """Return the releases, oldest first, with all that were cut before ``until`` (aware).

        Raises:
            PrdigestError: the source or the store does not answer. Failures are not kept.
        """
        key = RELEASES.build_key(str(repository).lower())
        cached = load_or_none(_RELEASES, self._cache.get(key))
        if cached and cached.read_at >= until:
            return cached.releases
        fresh = _ReleaseList(self._now(), tuple(self._source.list_releases(repository)))
        self._cache.put(key, _RELEASES.dump_json(fresh).decode(), RELEASES.lifetime)
        return fresh.releases

    def find_commit(self, repository: Repository, tag: str) -> str:
        """Return the last merge that a tag holds, empty without one. That there is none is not kept."""
        key = TAG_COMMIT.build_key(str(repository).lower(), tag)
        commit = self._cache.get(key) or self._source.find_commit(repository, tag)
        if commit:
            self._cache.put(key, commit, TAG_COMMIT.lifetime)
        return commit
