"""Connections to Redis, and the cache, in which every key expires."""

from __future__ import annotations

import logging
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

from redis import BlockingConnectionPool, Redis
from redis.backoff import ExponentialBackoff
from redis.exceptions import RedisError, ResponseError
from redis.retry import Retry

from bot.errors import StoreUnavailable, TimeLimitExceeded
from bot.platform import deadlines
from bot.platform.store.embedded import get_socket_path, start_embedded
from bot.platform.store.errors import CLUSTER_UNSUPPORTED, describe_redis_error, translate_redis_errors
from bot.platform.store.keyspace import UNPREFIXED, Keyspace
from bot.platform.store.leases import hold_lease
from bot.platform.store.restarting_connection import RestartingConnection, StoreRestarter

log = logging.getLogger(__name__)

# the first 160 characters of a summary compress little; a hundred kilobytes of patches compress five times
_MIN_COMPRESSED_BYTES = 1_000
_MAX_CONNECTIONS = 32
_PLAIN_TAG, _ZLIB_TAG = b"p", b"z"


@dataclass(frozen=True, slots=True)
class RedisTimeouts:
    """Timeouts for a server: seconds to connect and to wait for an answer, and the number of retries."""

    connect: float = 5.0
    answer: float = 15.0
    retries: int = 3


# Slack allows three seconds for an answer; a person who waits behind it is better asked to try again
SHORT_TIMEOUTS = RedisTimeouts(connect=0.5, answer=0.9, retries=1)


def connect_server(url: str, *, timeouts: RedisTimeouts = RedisTimeouts()) -> Redis:
    """Create a client of a Redis or Valkey server: ``redis://``, ``rediss://`` or ``unix://``.

    It connects when it is first used.

    Raises:
        StoreUnavailable: the address is not one.
    """
    try:
        pool = BlockingConnectionPool.from_url(
            url, max_connections=_MAX_CONNECTIONS, **_build_pool_options(timeouts)
        )
    except ValueError as error:
        raise StoreUnavailable("REDIS_URL is not an address: write it as redis://host:6379/0.") from error
    return Redis.from_pool(pool)


def _build_pool_options(timeouts: RedisTimeouts) -> dict[str, Any]:
    """Return the timeouts as options of a pool and its connections."""
    return {
        "timeout": timeouts.connect + timeouts.answer,
        "socket_timeout": timeouts.answer,
        "socket_connect_timeout": timeouts.connect,
        "retry": Retry(ExponentialBackoff(cap=1.0, base=0.05), timeouts.retries),
    }


def connect_embedded(state: Path, timeouts: RedisTimeouts = RedisTimeouts()) -> Redis:
    """Connect a client to the embedded store, which runs as long as it has clients.

    If the store is killed, a new connection starts it again.

    Raises:
        StoreUnavailable: it can't be started, or says that it is of no use, as with a full disk.
    """
    start_embedded(state)
    pool = BlockingConnectionPool(  # type: ignore[no-untyped-call]
        connection_class=RestartingConnection,
        path=os.fspath(get_socket_path(state)),
        restarter=StoreRestarter(lambda: start_embedded(state), timeouts.connect),
        **_build_pool_options(timeouts),
    )
    client = Redis.from_pool(pool)
    try:
        client.ping()
    except ResponseError as error:
        client.close()
        raise StoreUnavailable(describe_redis_error(error)) from error
    except RedisError as error:
        client.close()
        message = "The embedded store stops right after it starts: set REDIS_URL to a server."
        raise StoreUnavailable(message) from error
    return client


def require_single_server(client: Redis) -> None:
    """Refuse a cluster: keys that are written together would be on several servers.

    Raises:
        StoreUnavailable: it is a cluster, or does not answer.
    """
    with translate_redis_errors():
        if client.info("cluster").get("cluster_enabled"):
            raise StoreUnavailable(CLUSTER_UNSUPPORTED)


def require_durable(client: Redis) -> None:
    """Refuse a server that may drop keys without an expiry when it is full: records would be lost silently.

    Raises:
        StoreUnavailable: its ``maxmemory-policy`` is one of ``allkeys-…``, it is a cluster, or it does not answer.
    """
    require_single_server(client)
    with translate_redis_errors():
        memory = cast("dict[str, str]", client.info("memory"))
    policy = memory.get("maxmemory_policy", "noeviction")
    if policy.startswith("allkeys"):
        raise StoreUnavailable(
            f"The store may evict records (maxmemory-policy {policy}): set it to noeviction or volatile-lru."
        )


class RedisCache:
    """``Cache`` on Redis. Every key expires."""

    def __init__(self, client: Redis, keys: Keyspace = UNPREFIXED) -> None:
        self._client = client
        self._keys = keys

    def get(self, key: str) -> str | None:
        """Return the value of a key, None if there is none or it is unreadable."""
        with translate_redis_errors():
            data = self._client.get(self._keys.add_prefix(key))
        try:
            return unpack_value(data) if isinstance(data, bytes) else None
        except (zlib.error, UnicodeDecodeError):
            log.warning("what the cache holds of %s can't be read, it is made again", key)
            return None

    def put(self, key: str, value: str, lifetime: timedelta) -> None:
        """Store a value for a time."""
        with translate_redis_errors():
            self._client.set(self._keys.add_prefix(key), pack_value(value), ex=lifetime)

    def add(self, key: str, value: str, lifetime: timedelta) -> bool:
        """Store a value for a time unless the key has one; return whether it was stored."""
        with translate_redis_errors():
            return bool(self._client.set(self._keys.add_prefix(key), pack_value(value), ex=lifetime, nx=True))

    @contextmanager
    def acquire_lease(self, name: str) -> Iterator[None]:
        """Wait for the lease of that name and hold it. Raises TimeLimitExceeded if it is not free in time."""
        with translate_redis_errors(), hold_lease(self._client, self._keys, name) as is_held:
            if not is_held:
                raise TimeLimitExceeded(deadlines.TOO_LONG)
            yield


def pack_value(value: str) -> bytes:
    """Return a text as stored bytes: compressed if it is long, after a tag that says so."""
    data = value.encode()
    return _ZLIB_TAG + zlib.compress(data) if len(data) >= _MIN_COMPRESSED_BYTES else _PLAIN_TAG + data


def unpack_value(data: bytes) -> str:
    """Return the text of stored bytes. Raises zlib.error or UnicodeDecodeError for what is not packed."""
    return (zlib.decompress(data[1:]) if data[:1] == _ZLIB_TAG else data[1:]).decode()
