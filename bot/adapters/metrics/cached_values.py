"""A cache whose lookups are counted."""

from __future__ import annotations

from contextlib import AbstractContextManager
from datetime import timedelta

from bot.adapters.metrics.instruments import Instruments
from bot.domain.keyspace.keys import (
    BUG_REVIEW,
    CHANGED_FILES,
    COMMIT_MERGE,
    COMPLETION,
    DAY_LIST,
    DISCUSSION,
    FILE_USES,
    MERGE_CONTRACT,
    MODULE_OUTLINE,
    RELEASES,
    SOURCE_FILES,
    SUMMARY_ENTRY,
    UNSETTLED_DAY_LIST,
)
from bot.ports import Cache

# what is computed or loaded again if it is missing; other keys of the cache are marks, whose absence is no miss
_KINDS = {
    SUMMARY_ENTRY: "summaries",
    COMPLETION: "model_answers",
    BUG_REVIEW: "reviews",
    DAY_LIST: "day_lists",
    UNSETTLED_DAY_LIST: "day_lists",
    CHANGED_FILES: "changed_files",
    SOURCE_FILES: "source_files",
    DISCUSSION: "discussions",
    COMMIT_MERGE: "commits",
    RELEASES: "releases",
    MERGE_CONTRACT: "contracts",
    FILE_USES: "file_uses",
    MODULE_OUTLINE: "outlines",
}


class ObservedCache:
    """A ``Cache`` that counts hits and misses by the kind of the value."""

    def __init__(self, cache: Cache, instruments: Instruments) -> None:
        self._cache = cache
        self._reads = instruments.cache_reads

    def get(self, key: str) -> str | None:
        """Return the value of a key, None if there is none. Raises StoreUnavailable."""
        value = self._cache.get(key)
        if kind := _name_kind(key):
            self._reads.labels(kind, "miss" if value is None else "hit").inc()
        return value

    def put(self, key: str, value: str, lifetime: timedelta) -> None:
        """Store a value for a time. Raises StoreUnavailable."""
        self._cache.put(key, value, lifetime)

    def add(self, key: str, value: str, lifetime: timedelta) -> bool:
        """Store a value unless the key has one; return whether it was stored. Raises StoreUnavailable."""
        return self._cache.add(key, value, lifetime)

    def acquire_lease(self, name: str) -> AbstractContextManager[None]:
        """Return the lease of a name. See :class:`bot.ports.Cache`."""
        return self._cache.acquire_lease(name)


def _name_kind(key: str) -> str:
    """Return the kind of the value at a key, empty if it is a mark."""
    return next((kind for family, kind in _KINDS.items() if family.has_key(key)), "")
