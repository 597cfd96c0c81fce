"""Records on Redis: what was posted, answered and reported."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Generic, TypeVar, cast

from redis import Redis

from bot.adapters.redis.connection import packed, unpacked
from bot.adapters.redis.errors import translate_redis_errors
from bot.adapters.redis.keyspace import WHOLE, Keyspace
from bot.adapters.redis.leases import LIFETIME, lease
from bot.domain.errors import PostingInProgress
from bot.ports.record_codec import Record, RecordCodec

_ELSEWHERE = "Another process is posting this now: look at the channel soon."
R = TypeVar("R", bound=Record)


class RedisRecordStore(Generic[R]):
    """``RecordStore`` on Redis: one hash under each key, without expiry unless there is a ``lifetime``."""

    def __init__(
        self, client: Redis, codec: RecordCodec[R], lifetime: timedelta | None = None, keys: Keyspace = WHOLE
    ) -> None:
        self._client = client
        self._codec = codec
        self._keys = keys
        self._lifetime = lifetime

    def load(self, key: str) -> R:
        """Return the record."""
        with translate_redis_errors():
            hashed = cast("dict[bytes, bytes]", self._client.hgetall(self._keys.make(key)))
        return self._read(hashed)

    def load_each(self, keys: Sequence[str]) -> Sequence[R]:
        """Return the record of each key."""
        with translate_redis_errors(), self._client.pipeline(transaction=False) as together:
            for key in keys:
                together.hgetall(self._keys.make(key))
            hashes = cast("list[dict[bytes, bytes]]", together.execute())
        return [self._read(hashed) for hashed in hashes]

    def save(self, key: str, before: R, after: R) -> R:
        """Write what differs, all or none."""
        changes = self._codec.changes(before, after)
        if changes:
            with translate_redis_errors(), self._client.pipeline() as together:
                together.hset(
                    self._keys.make(key), mapping={name: packed(value) for name, value in changes.items()}
                )
                self._limit(together, key)
                together.execute()
        return after

    def claim(self, key: str, before: R, after: R) -> R:
        """Write what differs where nobody has."""
        with translate_redis_errors(), self._client.pipeline() as together:
            for name, value in self._codec.claims(before, after).items():
                together.hsetnx(self._keys.make(key), name, packed(value))
            count = len(together)
            self._limit(together, key)
            if not all(together.execute()[:count]):
                raise PostingInProgress(_ELSEWHERE)
        return after

    def _limit(self, together: Redis, key: str) -> None:
        if self._lifetime:
            together.expire(self._keys.make(key), self._lifetime)

    def _read(self, hashed: dict[bytes, bytes]) -> R:
        return self._codec.load({name.decode(): unpacked(value) for name, value in hashed.items()})

    @contextmanager
    def exclusive(self, key: str) -> Iterator[None]:
        """Hold the right to go on with it; waits long enough to inherit it from a process that died."""
        with translate_redis_errors(), lease(self._client, self._keys, key, patience=2 * LIFETIME) as held:
            if not held:
                raise PostingInProgress(_ELSEWHERE)
            yield
