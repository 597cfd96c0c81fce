"""Votes on Redis: one hash, without expiry."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from redis import Redis

from bot.domain.keyspace.keys import VOTES
from bot.platform.store.connection import pack_value, unpack_value
from bot.platform.store.errors import translate_redis_errors
from bot.platform.store.keyspace import UNPREFIXED, Keyspace


class RedisFeedbackStore:
    """``FeedbackStore`` on Redis."""

    def __init__(self, client: Redis, keys: Keyspace = UNPREFIXED) -> None:
        self._client = client
        self._keys = keys

    def put(self, name: str, vote: str) -> None:
        """Store a vote in place of an earlier one of that name."""
        with translate_redis_errors():
            self._client.hset(self._keys.add_prefix(VOTES.build_key()), name, pack_value(vote))

    def list_votes(self) -> Iterator[str]:
        """Yield all votes."""
        with translate_redis_errors():
            votes = cast(
                "Iterator[tuple[bytes, bytes]]", self._client.hscan_iter(self._keys.add_prefix(VOTES.build_key()))
            )
            yield from (unpack_value(vote) for _, vote in votes)
