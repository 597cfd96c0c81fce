"""Questions that wait for their turn, and dollars that were spent, on Redis."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import timedelta
from typing import cast

from redis import Redis

from bot.adapters.keyspace import WHOLE, Keyspace
from bot.adapters.leases import lease
from bot.adapters.store_errors import in_words
from bot.domain.talk import Question
from bot.domain.visits import Visit

log = logging.getLogger(__name__)

# a question may wait for a worker over a weekend
_WAITING = timedelta(days=3)
_COUNTED = timedelta(days=2)
_MICRO = 1_000_000


class RedisLine:
    """``Line`` as a sorted set for each thread, by the time of asking: who joins twice waits once."""

    def __init__(self, client: Redis, keys: Keyspace = WHOLE) -> None:
        self._client = client
        self._keys = keys

    def join(self, place: str, question: Question) -> None:
        """Wait."""
        key = self._keys.make(_name(place))
        with in_words(), self._client.pipeline() as together:
            together.zadd(key, {_dumped(question): float(question.ts)})
            together.expire(key, _WAITING)
            together.execute()

    def first(self, place: str) -> Question | None:
        """Whose turn it is."""
        with in_words():
            found = cast("list[bytes]", self._client.zrange(self._keys.make(_name(place)), 0, 0))
        return _loaded(found[0]) if found else None

    def leave(self, place: str, question: Question) -> None:
        """This one has its answer."""
        with in_words():
            self._client.zrem(self._keys.make(_name(place)), _dumped(question))

    @contextmanager
    def serve(self, place: str) -> Iterator[bool]:
        """Whether nobody else serves this line."""
        with in_words(), lease(self._client, self._keys, _name(place), patience=0) as held:
            yield held


class RedisSpending:
    """``Spending`` as counters of millionths of a dollar."""

    def __init__(self, client: Redis, keys: Keyspace = WHOLE) -> None:
        self._client = client
        self._keys = keys

    def spent(self, name: str) -> float:
        """All that was added."""
        with in_words():
            found = cast("bytes | None", self._client.get(self._spent(name)))
        return int(found or 0) / _MICRO

    def add(self, dollars: float, *names: str) -> None:
        """Add to each of the names."""
        with in_words(), self._client.pipeline() as together:
            for name in names:
                together.incrby(self._spent(name), round(dollars * _MICRO))
                together.expire(self._spent(name), _COUNTED)
            together.execute()

    def _spent(self, name: str) -> str:
        return self._keys.make(f"spent:{name}")


def _name(place: str) -> str:
    return f"waiting:{place}"


def _dumped(question: Question) -> str:
    return json.dumps(asdict(question), sort_keys=True)


def _loaded(found: bytes) -> Question:
    fields = json.loads(found)
    return Question(Visit(**fields["visit"]), fields["text"], fields["ts"])
