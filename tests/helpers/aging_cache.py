"""Caches for tests that set the time: a server's own go by the real one."""

from collections.abc import Callable
from datetime import datetime, timedelta

from redis import Redis

from bot.platform.store.connection import RedisCache
from tests.helpers.doubles import MemoryCache


class AgingCache(RedisCache):
    """The real cache, whose values run out by the time that a test sets."""

    def __init__(self, client: Redis, now: Callable[[], datetime]) -> None:
        super().__init__(client)
        self._store = client
        self._now = now
        self._ends: dict[str, datetime] = {}

    def get(self, key: str) -> str | None:
        self._age(key)
        return super().get(key)

    def put(self, key: str, value: str, lifetime: timedelta) -> None:
        self._ends[key] = self._now() + lifetime
        super().put(key, value, timedelta(days=1))

    def add(self, key: str, value: str, lifetime: timedelta) -> bool:
        self._age(key)
        is_new = super().add(key, value, timedelta(days=1))
        if is_new:
            self._ends[key] = self._now() + lifetime
        return is_new

    def _age(self, key: str) -> None:
        if key in self._ends and self._ends[key] <= self._now():
            del self._ends[key]
            self._store.delete(key)


class DatedCache(MemoryCache):
    """The same in a dictionary, for simulations of a hundred thousand digests."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        super().__init__()
        self._now = now
        self._ends: dict[str, datetime] = {}

    def get(self, key: str) -> str | None:
        return super().get(key) if self._now() < self._ends.get(key, self._now()) else None

    def put(self, key: str, value: str, lifetime: timedelta) -> None:
        self.values[key] = value
        self._ends[key] = self._now() + lifetime

    def add(self, key: str, value: str, lifetime: timedelta) -> bool:
        is_new = self.get(key) is None
        if is_new:
            self.put(key, value, lifetime)
        return is_new
