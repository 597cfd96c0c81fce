"""A cache whose lookups are counted."""

from __future__ import annotations

from contextlib import AbstractContextManager
from datetime import timedelta

from bot.adapters.metrics.instruments import Instruments
from bot.domain.keyspace.keys import find_family
from bot.ports import Cache

_UNKNOWN = "other"


class ObservedCache:
    """A ``Cache`` that counts hits and misses by the kind of the value, which is the first word of its key."""

    def __init__(self, cache: Cache, instruments: Instruments) -> None:
        self._cache = cache
        self._reads = instruments.cache_reads

    def get(self, key: str) -> str | None:
        """Return the value of a key, None if there is none. Raises StoreUnavailable."""
        value = self._cache.get(key)
        self._reads.labels(_name_kind(key), "miss" if value is None else "hit").inc()
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
    """Return the kind of the value at a key: one of the declared families."""
    family = find_family(key)
    return family.pattern.partition(":")[0] if family else _UNKNOWN
