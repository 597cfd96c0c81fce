"""States of threads, on Redis: a string for each, without expiry."""

from __future__ import annotations

from redis import Redis

from bot.platform.store.connection import RedisCache, pack_value
from bot.platform.store.errors import translate_redis_errors
from bot.platform.store.keyspace import UNPREFIXED, Keyspace


class RedisThreadStateStore:
    """``ThreadStateStore`` on Redis."""

    def __init__(self, client: Redis, keys: Keyspace = UNPREFIXED) -> None:
        self._client = client
        self._keys = keys
        self._cache = RedisCache(client, keys)

    def get(self, key: str) -> str | None:
        """Return the state of a key, None if there is none or it is unreadable: Slack still has the thread."""
        return self._cache.get(key)

    def put(self, key: str, text: str) -> None:
        """Store a state."""
        with translate_redis_errors():
            self._client.set(self._keys.add_prefix(key), pack_value(text))
