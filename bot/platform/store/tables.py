"""What the store keeps: a feature declares each kind of value once, and loads and saves it by that declaration."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from datetime import timedelta
from typing import Any, Generic, TypeVar, cast

from redis import Redis

from bot.domain.keyspace.family import DurableFamily, ExpiringFamily, KeyFamily, RedisType
from bot.platform.store.connection import RedisCache, pack_value, unpack_value
from bot.platform.store.errors import translate_redis_errors
from bot.platform.store.keyspace import UNPREFIXED, Keyspace
from bot.ports.codecs.versioned_json import VersionedJson

T = TypeVar("T")


class Table(Generic[T]):
    """Values of one shape, each under a key of its own, in whose ``pattern`` ``{field}`` stands for a text.

    ``content`` says what they are, for who reads the list of keys. Without ``days`` a value does not expire. Raise
    ``version`` when the shape changes: a value of another version is refused, so that no process loses what a
    later one wrote. ``survives_reset``: the value is the same in every Slack.
    """

    kind: RedisType = "string"

    def __init__(
        self,
        pattern: str,
        shape: type[T],
        content: str,
        *,
        days: float | None = None,
        version: int = 1,
        survives_reset: bool = False,
    ) -> None:
        self.family = _declare_family(pattern, self.kind, content, days, survives_reset=survives_reset)
        self.codec = VersionedJson(shape, version)

    @property
    def lifetime(self) -> timedelta | None:
        return self.family.lifetime


class Map(Table[T]):
    """Values of one shape as the fields of one hash, whose key is the ``pattern``. Its fields don't expire."""

    kind: RedisType = "hash"


class Store:
    """Typed values on Redis. Every method may raise StoreUnavailable; what can't be read counts as absent."""

    def __init__(self, client: Redis, keys: Keyspace = UNPREFIXED) -> None:
        self._client = client
        self._keys = keys

    def get(self, table: Table[T], *parts: object) -> T | None:
        return self.get_each(table, [parts])[0]

    def get_each(self, table: Table[T], keys: Sequence[tuple[object, ...]]) -> list[T | None]:
        """Return the values of some keys, in their order, in one call."""
        if not keys:
            return []
        with translate_redis_errors():
            values = cast("list[bytes | None]", self._client.mget([self._name(table, parts) for parts in keys]))
        return [_load(table, value) for value in values]

    def put(self, table: Table[T], value: T, *parts: object) -> None:
        with translate_redis_errors():
            self._client.set(self._name(table, parts), _dump(table, value), ex=table.lifetime)

    def add(self, table: Table[T], value: T, *parts: object) -> bool:
        """Store a value unless there is one; return whether it was stored."""
        with translate_redis_errors():
            is_new = self._client.set(self._name(table, parts), _dump(table, value), ex=table.lifetime, nx=True)
        return bool(is_new)

    def remember(self, table: Table[T], make: Callable[[], T], *parts: object) -> T:
        """Return the value of a key. If there is none, ``make`` makes it, once for all who ask meanwhile."""
        value = self.get(table, *parts)
        if value is not None:
            return value
        with self.hold_lease(table, *parts):
            value = self.get(table, *parts)
            if value is None:
                value = make()
                self.put(table, value, *parts)
        return value

    def hold_lease(self, table: Table[Any], *parts: object) -> AbstractContextManager[None]:
        """Wait until nobody else, in any process, holds the lease of a key, then hold it during the block.

        Raises TimeLimitExceeded if it is not free in time.
        """
        return RedisCache(self._client, self._keys).acquire_lease(table.family.build_key(*parts))

    def get_field(self, table: Map[T], field: str) -> T | None:
        with translate_redis_errors():
            return _load(table, cast("bytes | None", self._client.hget(self._name(table, ()), field)))

    def put_field(self, table: Map[T], field: str, value: T) -> None:
        with translate_redis_errors():
            self._client.hset(self._name(table, ()), field, cast("str", _dump(table, value)))

    def list_fields(self, table: Map[T]) -> dict[str, T]:
        """Return all fields that can be read."""
        with translate_redis_errors():
            fields = cast("dict[bytes, bytes]", self._client.hgetall(self._name(table, ())))
        loaded = {name.decode(): _load(table, value) for name, value in fields.items()}
        return {name: value for name, value in loaded.items() if value is not None}

    def _name(self, table: Table[Any], parts: tuple[object, ...]) -> str:
        return self._keys.add_prefix(table.family.build_key(*parts))


def _declare_family(
    pattern: str, kind: RedisType, content: str, days: float | None, *, survives_reset: bool
) -> KeyFamily:
    if days is None:
        return DurableFamily(pattern=pattern, type=kind, content=content, survives_reset=survives_reset)
    lifetime = timedelta(days=days)
    return ExpiringFamily(
        pattern=pattern, type=kind, content=content, survives_reset=survives_reset, lifetime=lifetime
    )


def _dump(table: Table[T], value: T) -> bytes:
    return pack_value(table.codec.dump_text(value))


def _load(table: Table[T], value: bytes | None) -> T | None:
    try:
        return table.codec.load_or_none(None if value is None else unpack_value(value))
    except (zlib.error, UnicodeDecodeError):
        return None
