"""Hits of profiles and what people said about them, on Redis: two hashes a profile, without expiry."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from typing import TypeVar, cast

from redis import Redis

from bot.domain.keyspace.keys import TOUCH_DECISIONS, TOUCH_HITS
from bot.domain.touches.decisions import ShownHit, TouchDecision
from bot.platform.store.connection import pack_value, unpack_value
from bot.platform.store.errors import translate_redis_errors
from bot.platform.store.keyspace import UNPREFIXED, Keyspace
from bot.ports.codecs.versioned_json import VersionedJson

_HIT_JSON = VersionedJson(ShownHit, 1)
_DECISION_JSON = VersionedJson(TouchDecision, 1)
T = TypeVar("T")


class RedisTouchStore:
    """``TouchStore`` on Redis."""

    def __init__(self, client: Redis, keys: Keyspace = UNPREFIXED) -> None:
        self._client = client
        self._keys = keys

    def add_hits(self, profile: str, hits: Iterable[ShownHit]) -> None:
        """Add hits, all or none. One that is there already keeps the time at which it was first shown."""
        key = self._keys.add_prefix(TOUCH_HITS.build_key(profile))
        with translate_redis_errors(), self._client.pipeline() as pipeline:
            for hit in hits:
                pipeline.hsetnx(key, str(hit.key), cast("str", pack_value(_HIT_JSON.dump_text(hit))))
            pipeline.execute()

    def list_hits(self, profile: str) -> Sequence[ShownHit]:
        """List all hits that were shown."""
        return self._list_values(TOUCH_HITS.build_key(profile), _HIT_JSON)

    def put_decision(self, profile: str, decision: TouchDecision) -> None:
        """Store what was said about a hit."""
        key = self._keys.add_prefix(TOUCH_DECISIONS.build_key(profile))
        with translate_redis_errors():
            value = pack_value(_DECISION_JSON.dump_text(decision))
            self._client.hset(key, str(decision.key), cast("str", value))

    def list_decisions(self, profile: str) -> Sequence[TouchDecision]:
        """List what was said about each hit."""
        return self._list_values(TOUCH_DECISIONS.build_key(profile), _DECISION_JSON)

    def remove_all(self, profile: str) -> None:
        """Remove both hashes."""
        names = (TOUCH_HITS.build_key(profile), TOUCH_DECISIONS.build_key(profile))
        with translate_redis_errors():
            self._client.delete(*map(self._keys.add_prefix, names))

    def _list_values(self, key: str, codec: VersionedJson[T]) -> Sequence[T]:
        with translate_redis_errors():
            values = cast("dict[bytes, bytes]", self._client.hgetall(self._keys.add_prefix(key)))
        return [value for packed in values.values() if (value := _load_value(codec, packed)) is not None]


def _load_value(codec: VersionedJson[T], packed: bytes) -> T | None:
    """Return a stored value, None if it is unreadable. Raises StoreUnavailable for one of a later version."""
    try:
        return codec.load_or_none(unpack_value(packed))
    except (zlib.error, UnicodeDecodeError):
        return None
