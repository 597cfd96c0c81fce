"""Votes on Redis: one hash, without expiry."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from redis import Redis

from bot.adapters.keyspace import WHOLE, Keyspace
from bot.adapters.store import packed, unpacked
from bot.adapters.store_errors import in_words

_NAME = "votes"


class RedisBallot:
    """``Ballot`` on Redis."""

    def __init__(self, client: Redis, keys: Keyspace = WHOLE) -> None:
        self._client = client
        self._keys = keys

    def put(self, name: str, vote: str) -> None:
        """Keep a vote, in place of the one of that name."""
        with in_words():
            self._client.hset(self._keys.make(_NAME), name, packed(vote))

    def all(self) -> Iterator[str]:
        """Every vote."""
        with in_words():
            found = cast("Iterator[tuple[bytes, bytes]]", self._client.hscan_iter(self._keys.make(_NAME)))
            yield from (unpacked(vote) for _, vote in found)
