"""Records and states by key, which don't expire."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Generic, TypeVar, cast

from redis import Redis

from bot.errors import PostingInProgress
from bot.platform.store.codecs import RecordCodec
from bot.platform.store.connection import UNPREFIXED, Keyspace, pack_value, translate_redis_errors, unpack_value
from bot.platform.store.leases import LEASE_SECONDS, hold_lease

_POSTING_ELSEWHERE = "Another process is posting this now: check the channel soon."
R = TypeVar("R")


class RecordStore(Generic[R]):
    """Records of one kind: one hash for each key, without expiry unless there is a ``lifetime``."""

    def __init__(
        self, client: Redis, codec: RecordCodec[R], lifetime: timedelta | None = None, keys: Keyspace = UNPREFIXED
    ) -> None:
        self._client = client
        self._codec = codec
        self._keys = keys
        self._lifetime = lifetime

    def load(self, key: str) -> R:
        with translate_redis_errors():
            hashed = cast("dict[bytes, bytes]", self._client.hgetall(self._keys.add_prefix(key)))
        return self._load_record(hashed)

    def load_each(self, keys: Sequence[str]) -> Sequence[R]:
        with translate_redis_errors(), self._client.pipeline(transaction=False) as pipeline:
            for key in keys:
                pipeline.hgetall(self._keys.add_prefix(key))
            hashes = cast("list[dict[bytes, bytes]]", pipeline.execute())
        return [self._load_record(hashed) for hashed in hashes]

    def save(self, key: str, before: R, after: R) -> R:
        changes = self._codec.dump_changes(before, after)
        if changes:
            with translate_redis_errors(), self._client.pipeline() as pipeline:
                self._write(pipeline, key, self._codec.mark | changes)
                pipeline.execute()
        return after

    def claim(self, key: str, before: R, after: R) -> R:
        """Write the fields that differ if nobody has written them."""
        with translate_redis_errors(), self._client.pipeline() as pipeline:
            for name, value in self._codec.dump_changes(before, after).items():
                pipeline.hsetnx(self._keys.add_prefix(key), name, pack_value(value))
            count = len(pipeline)
            self._write(pipeline, key, self._codec.mark)
            if not all(pipeline.execute()[:count]):
                raise PostingInProgress(_POSTING_ELSEWHERE)
        return after

    def _write(self, pipeline: Redis, key: str, fields: Mapping[str, str]) -> None:
        name = self._keys.add_prefix(key)
        pipeline.hset(name, mapping={field: pack_value(value) for field, value in fields.items()})
        if self._lifetime:
            pipeline.expire(name, self._lifetime)

    def _load_record(self, hashed: dict[bytes, bytes]) -> R:
        return self._codec.load({name.decode(): unpack_value(value) for name, value in hashed.items()})

    @contextmanager
    def hold_lock(self, key: str) -> Iterator[None]:
        """Hold the lock of a record. Wait long enough to get it from a process that died."""
        lease = hold_lease(self._client, self._keys, key, timeout=2 * LEASE_SECONDS)
        with translate_redis_errors(), lease as is_held:
            if not is_held:
                raise PostingInProgress(_POSTING_ELSEWHERE)
            yield
