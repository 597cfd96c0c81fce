"""Limit on how often a person may ask, counted on Redis for all processes."""

from __future__ import annotations

from dramatiq.rate_limits import WindowRateLimiter
from dramatiq.rate_limits.backends import RedisBackend
from redis import Redis

from bot.platform.store.errors import translate_redis_errors
from bot.platform.store.keys import REQUEST_RATE
from bot.platform.store.keyspace import UNPREFIXED, Keyspace


class RateLimiter:
    def __init__(self, client: Redis, limit: int, keys: Keyspace = UNPREFIXED) -> None:
        self._backend = RedisBackend(client=client)
        self._limit = limit
        self._keys = keys

    def try_acquire(self, name: str) -> bool:
        """Count a request, and return whether it is within the limit. A refused one does not count."""
        key = self._keys.add_prefix(REQUEST_RATE.build_key(name))
        seconds = int(REQUEST_RATE.lifetime.total_seconds())
        window = WindowRateLimiter(self._backend, key, limit=self._limit, window=seconds)  # type: ignore[no-untyped-call]
        with translate_redis_errors(), window.acquire(raise_on_failure=False) as admitted:
            return bool(admitted)
