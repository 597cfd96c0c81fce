"""What the store keeps: a feature declares each kind of value once, and loads and saves it by that declaration."""

from __future__ import annotations

import logging
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar, cast

from redis import Redis

from bot.errors import StoreUnavailable, TimeLimitExceeded
from bot.platform import deadlines
from bot.platform.store.codecs import VersionedJson
from bot.platform.store.connection import UNPREFIXED, Keyspace, pack_value, translate_redis_errors, unpack_value
from bot.platform.store.keys import DurableFamily, ExpiringFamily, KeyFamily, RedisType
from bot.platform.store.leases import hold_lease

log = logging.getLogger(__name__)

T = TypeVar("T")


class Table(Generic[T]):
    """Values of one shape, each under a key of its own; most arguments are those of :class:`KeyFamily`.

    Without ``days`` a value does not expire. Raise ``version`` when the shape changes: a value of another version
    is refused, so that no process loses what a later one wrote. What is made again if it is missing is
    ``counted_as`` the name of a cache: monitoring shows how often it was there.
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
        outlives_message: bool = False,
        counted_as: str = "",
    ) -> None:
        flags = {"survives_reset": survives_reset, "outlives_message": outlives_message}
        self.family: KeyFamily
        if days is None:
            self.family = DurableFamily(pattern, self.kind, content, **flags)
        else:
            self.family = ExpiringFamily(pattern, self.kind, content, **flags, lifetime=timedelta(days=days))
        self.lifetime = self.family.lifetime
        self.counted_as = counted_as
        self.codec = VersionedJson(shape, version)


class Map(Table[T]):
    """Values of one shape as the fields of hashes, whose keys have the ``pattern``.

    The fields don't expire; with ``days`` a whole hash does, so long after a field was last put.
    """

    kind: RedisType = "hash"


class Queue(Table[T]):
    """Values of one shape that wait in a sorted set, the one with the lowest score first; equal ones wait once."""

    kind: RedisType = "zset"


class Index:
    """Texts by an instant, as the members of one sorted set for each key of the ``pattern``. They don't expire."""

    def __init__(self, pattern: str, content: str) -> None:
        self.family = DurableFamily(pattern, "zset", content)


class Log(Table[T]):
    """Values of one shape as a list, of which the last ``length`` are kept, for ``days`` after the last one."""

    kind: RedisType = "list"

    def __init__(
        self, pattern: str, shape: type[T], content: str, *, length: int, days: float | None = None
    ) -> None:
        super().__init__(pattern, shape, content, days=days)
        self.length = length


class Store:
    """Typed values on Redis. Every method may raise StoreUnavailable; what can't be read counts as absent.

    ``count_read`` is called with the name of a cache, and whether a value was there.
    """

    def __init__(
        self, client: Redis, keys: Keyspace = UNPREFIXED, count_read: Callable[[str, bool], None] | None = None
    ) -> None:
        self._client = client
        self._keys = keys
        self._count_read = count_read

    def get(self, table: Table[T], *parts: object) -> T | None:
        return self.get_each(table, [parts])[0]

    def get_each(self, table: Table[T], keys: Sequence[tuple[object, ...]]) -> list[T | None]:
        """Return the values of some keys, in their order, in one call."""
        if not keys:
            return []
        with translate_redis_errors():
            values = cast("list[bytes | None]", self._client.mget([self._name(table, parts) for parts in keys]))
        if self._count_read and table.counted_as:
            for value in values:
                self._count_read(table.counted_as, value is not None)
        return [_load(table, value) for value in values]

    def put(self, table: Table[T], value: T, *parts: object) -> None:
        with translate_redis_errors():
            self._client.set(self._name(table, parts), _dump(table, value), ex=table.lifetime)

    def add(self, table: Table[T], value: T, *parts: object) -> bool:
        with translate_redis_errors():
            is_new = self._client.set(self._name(table, parts), _dump(table, value), ex=table.lifetime, nx=True)
        return bool(is_new)

    def remember(
        self, table: Table[T], make: Callable[[], T], *parts: object, keeps: Callable[[T], object] | None = None
    ) -> T:
        """Return the value of a key. If there is none, ``make`` makes it, once for all who ask meanwhile.

        A value for which ``keeps`` says no is not stored.
        """
        value = self.get(table, *parts)
        if value is not None:
            return value
        with self.hold_lease(table, *parts):
            value = self.get(table, *parts)
            if value is None:
                value = make()
                if keeps is None or keeps(value):
                    self.put(table, value, *parts)
        return value

    @contextmanager
    def hold_lease(self, table: Table[Any], *parts: object) -> Iterator[None]:
        """Wait for the lease of a key, and hold it during the block. Raises TimeLimitExceeded at the deadline."""
        with self.try_lease(table, *parts) as is_held:
            if not is_held:
                raise TimeLimitExceeded(deadlines.TOO_LONG)
            yield

    @contextmanager
    def try_lease(self, table: Table[Any], *parts: object, seconds: float | None = None) -> Iterator[bool]:
        """Hold the lease of a key during the block, and yield whether it was free within some seconds."""
        name = table.family.build_key(*parts)
        with translate_redis_errors(), hold_lease(self._client, self._keys, name, timeout=seconds) as is_held:
            yield is_held

    def remove(self, table: Table[Any], *parts: object) -> None:
        with translate_redis_errors():
            self._client.delete(self._name(table, parts))

    def get_field(self, table: Map[T], field: str, *parts: object) -> T | None:
        with translate_redis_errors():
            return _load(table, cast("bytes | None", self._client.hget(self._name(table, parts), field)))

    def put_field(self, table: Map[T], field: str, value: T, *parts: object) -> None:
        with translate_redis_errors(), self._client.pipeline() as pipeline:
            pipeline.hset(self._name(table, parts), field, cast("str", _dump(table, value)))
            if table.lifetime:
                pipeline.expire(self._name(table, parts), table.lifetime)
            pipeline.execute()

    def add_fields(self, table: Map[T], values: Mapping[str, T], *parts: object) -> None:
        """Store values, all or none, but for fields that have one."""
        with translate_redis_errors(), self._client.pipeline() as pipeline:
            for field, value in values.items():
                pipeline.hsetnx(self._name(table, parts), field, cast("str", _dump(table, value)))
            pipeline.execute()

    def remove_field(self, table: Map[Any], field: str, *parts: object) -> None:
        with translate_redis_errors():
            self._client.hdel(self._name(table, parts), field)

    def list_fields(self, table: Map[T], *parts: object, skips_later: bool = False) -> dict[str, T]:
        """Return all fields that can be read; with ``skips_later``, none is refused for its later version."""
        with translate_redis_errors():
            fields = cast("dict[bytes, bytes]", self._client.hgetall(self._name(table, parts)))
        loaded: dict[str, T] = {}
        for name, packed in fields.items():
            try:
                value = _load(table, packed)
            except StoreUnavailable as error:
                if not skips_later:
                    raise
                log.warning("one of %s is left out: %s", table.family.pattern, error)
                continue
            if value is not None:
                loaded[name.decode()] = value
        return loaded

    def iterate_fields(self, table: Map[T], *parts: object) -> Iterator[tuple[str, T | None]]:
        """Yield all fields, of which there may be more than fit into memory; None for what can't be read."""
        with translate_redis_errors():
            for name, value in self._client.hscan_iter(self._name(table, parts)):
                yield name.decode(), _load(table, value)

    def list_keys(self, family: KeyFamily) -> list[tuple[str, ...]]:
        """Return what stands in place of the fields of the pattern in each key that exists."""
        prefix = family.prefix
        with translate_redis_errors():
            names = sorted(set(self._keys.iterate_names(self._client, f"{prefix}*")))
        return [tuple(name.removeprefix(prefix).split(":")) for name in names]

    def enqueue(self, table: Queue[T], value: T, score: float, *parts: object, least: float) -> None:
        """Add a value to a queue, and drop those whose score is at most ``least``."""
        name = self._name(table, parts)
        with translate_redis_errors(), self._client.pipeline() as pipeline:
            pipeline.zremrangebyscore(name, "-inf", least)
            pipeline.zadd(name, {table.codec.dump_text(value): score})
            pipeline.execute()

    def get_first(self, table: Queue[T], *parts: object) -> T | None:
        """Return the first value of a queue. Raises ValueError if it can't be read: nobody may pass it."""
        with translate_redis_errors():
            first = cast("list[bytes]", self._client.zrange(self._name(table, parts), 0, 0))
        return table.codec.load_text(first[0].decode()) if first else None

    def remove_score(self, table: Queue[Any], score: float, *parts: object) -> None:
        with translate_redis_errors():
            self._client.zremrangebyscore(self._name(table, parts), score, score)

    def add_member(self, index: Index, member: str, at: datetime, *parts: object) -> None:
        """Add a text to a set; one that is there gets the instant (aware) ``at``, in whole seconds."""
        with translate_redis_errors():
            self._client.zadd(self._name(index, parts), {member: int(at.timestamp())})

    def list_members(self, index: Index, since: datetime, until: datetime, *parts: object) -> Sequence[str]:
        """Return the texts from one instant (aware) to another, both included, the earliest first."""
        first, last = int(since.timestamp()), int(until.timestamp())
        with translate_redis_errors():
            members = cast("list[bytes]", self._client.zrangebyscore(self._name(index, parts), first, last))
        return tuple(member.decode() for member in members)

    def read_fields(self, table: Map[Any], names: Sequence[str] | None = None) -> dict[str, str]:
        """Return the fields as texts, whatever they hold: all, or those of the ``names`` that exist."""
        with translate_redis_errors():
            if names is None:
                fields = cast("dict[bytes, bytes]", self._client.hgetall(self._name(table, ())))
                return {name.decode(): unpack_value(value) for name, value in fields.items()}
            if not names:
                return {}
            values = cast("list[bytes | None]", self._client.hmget(self._name(table, ()), list(names)))
        return {name: unpack_value(value) for name, value in zip(names, values, strict=True) if value is not None}

    def append(self, table: Log[T], value: T) -> None:
        """Add a value to a list, whose oldest are dropped."""
        with translate_redis_errors(), self._client.pipeline() as pipeline:
            pipeline.lpush(self._name(table, ()), cast("str", _dump(table, value)))
            pipeline.ltrim(self._name(table, ()), 0, table.length - 1)
            if table.lifetime:
                pipeline.expire(self._name(table, ()), table.lifetime)
            pipeline.execute()

    def list_recent(self, table: Log[T], count: int) -> Sequence[T]:
        """Return the last values of a list that can be read, newest first."""
        with translate_redis_errors():
            values = cast("list[bytes]", self._client.lrange(self._name(table, ()), 0, count - 1))
        return tuple(value for each in values if (value := _load(table, each)) is not None)

    def _name(self, table: Table[Any] | Index, parts: tuple[object, ...]) -> str:
        return self._keys.add_prefix(table.family.build_key(*parts))


def _dump(table: Table[T], value: T) -> bytes:
    return pack_value(table.codec.dump_text(value))


def _load(table: Table[T], value: bytes | None) -> T | None:
    try:
        return table.codec.load_or_none(None if value is None else unpack_value(value))
    except (zlib.error, UnicodeDecodeError):
        return None
