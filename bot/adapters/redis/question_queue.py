"""Queues of questions on Redis."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import cast

from redis import Redis

from bot.domain.conversations.thread import Question
from bot.domain.keyspace.keys import QUESTION_QUEUE
from bot.platform.store.errors import translate_redis_errors
from bot.platform.store.keyspace import UNPREFIXED, Keyspace
from bot.platform.store.leases import hold_lease
from bot.ports.codecs.versioned_json import VersionedJson

# a question may wait for a worker over a weekend
_LONGEST_WAIT = timedelta(days=3)
_QUESTION_JSON = VersionedJson(Question, 1)


class RedisQuestionQueue:
    """``QuestionQueue`` on Redis: a sorted set for each thread, by the time of asking, so nobody waits twice."""

    def __init__(self, client: Redis, keys: Keyspace = UNPREFIXED) -> None:
        self._client = client
        self._keys = keys

    def add_question(self, place: str, question: Question) -> None:
        """Add a question, and remove those that have waited for days: nobody expects their answer any more."""
        key, asked = self._keys.add_prefix(_build_queue_name(place)), float(question.ts)
        with translate_redis_errors(), self._client.pipeline() as pipeline:
            pipeline.zremrangebyscore(key, "-inf", asked - _LONGEST_WAIT.total_seconds())
            pipeline.zadd(key, {_QUESTION_JSON.dump_text(question): asked})
            pipeline.execute()

    def get_first(self, place: str) -> Question | None:
        """Return the question whose turn it is, None if none waits."""
        with translate_redis_errors():
            first = cast("list[bytes]", self._client.zrange(self._keys.add_prefix(_build_queue_name(place)), 0, 0))
        return _QUESTION_JSON.load_text(first[0].decode()) if first else None

    def remove_question(self, place: str, question: Question) -> None:
        """Remove a question that is answered, by its time."""
        ts = float(question.ts)
        with translate_redis_errors():
            self._client.zremrangebyscore(self._keys.add_prefix(_build_queue_name(place)), ts, ts)

    @contextmanager
    def try_lock(self, place: str, seconds: float = 0.0) -> Iterator[bool]:
        """Lock the queue of a thread, and yield whether that succeeded within ``seconds``."""
        with (
            translate_redis_errors(),
            hold_lease(self._client, self._keys, _build_queue_name(place), timeout=seconds) as is_held,
        ):
            yield is_held


def _build_queue_name(place: str) -> str:
    return QUESTION_QUEUE.build_key(place)
