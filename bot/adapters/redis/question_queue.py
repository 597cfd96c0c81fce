"""Queues of questions, and the counters of spent dollars, on Redis."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import timedelta
from itertools import chain
from typing import cast

from redis import Redis

from bot.adapters.redis.errors import translate_redis_errors
from bot.adapters.redis.keyspace import UNPREFIXED, Keyspace
from bot.adapters.redis.leases import hold_lease
from bot.domain.conversations.slack_request import SlackRequest
from bot.domain.conversations.thread import Question
from bot.domain.keyspace.keys import BUDGET_HOLDS, QUESTION_QUEUE, SPENDING
from bot.domain.operations.budget import BudgetHold

log = logging.getLogger(__name__)

# a question may wait for a worker over a weekend
_LONGEST_WAIT = timedelta(days=3)
_MICRODOLLARS = 1_000_000
# the end of the mark that a reservation was settled, which counts as no dollars
_SETTLED = ":settled:0"
_HOLD_SECONDS = int(BUDGET_HOLDS.lifetime.total_seconds())
# KEYS: for each name the counter of spent millionths, then for each name its reservations by the time at which
# they expire, as a token, a colon and millionths of a dollar. ARGV: the reservation to add, its seconds, the
# number of names; then for each cap the position of its name, and its millionths
_HOLD_SCRIPT = """
local now = tonumber(redis.call('TIME')[1])
local names = tonumber(ARGV[3])
local sums = {}
for i = 1, names do
  local held = KEYS[names + i]
  redis.call('ZREMRANGEBYSCORE', held, '-inf', now)
  sums[i] = tonumber(redis.call('GET', KEYS[i]) or '0')
  for _, each in ipairs(redis.call('ZRANGE', held, 0, -1)) do
    -- the client sends a command again if the answer is late: the reservation may be there
    if each ~= ARGV[1] then
      sums[i] = sums[i] + tonumber(string.match(each, ':(%d+)$'))
    end
  end
end
for i = 4, #ARGV, 2 do
  if sums[tonumber(ARGV[i])] >= tonumber(ARGV[i + 1]) then
    return (i - 4) / 2
  end
end
for i = 1, names do
  redis.call('ZADD', KEYS[names + i], now + tonumber(ARGV[2]), ARGV[1])
  redis.call('EXPIRE', KEYS[names + i], ARGV[2])
end
return -1
"""
# KEYS: as above. ARGV: the reservation, the mark that replaces it, its seconds, the millionths that were spent,
# and the seconds for which a counter is kept. With the mark there, the command has come before: the client sends
# it again if the answer is late, and a call must not be paid for twice
_SETTLE_SCRIPT = """
local now = tonumber(redis.call('TIME')[1])
local names = #KEYS / 2
if redis.call('ZSCORE', KEYS[names + 1], ARGV[2]) then
  return 0
end
for i = 1, names do
  redis.call('ZREM', KEYS[names + i], ARGV[1])
  redis.call('ZADD', KEYS[names + i], now + tonumber(ARGV[3]), ARGV[2])
  redis.call('EXPIRE', KEYS[names + i], ARGV[3])
  redis.call('INCRBY', KEYS[i], ARGV[4])
  redis.call('EXPIRE', KEYS[i], ARGV[5])
end
return 1
"""


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
            pipeline.zadd(key, {_dump_question(question): asked})
            # an earlier version let it expire
            pipeline.persist(key)
            pipeline.execute()

    def get_first(self, place: str) -> Question | None:
        """Return the question whose turn it is, None if none waits."""
        with translate_redis_errors():
            first = cast("list[bytes]", self._client.zrange(self._keys.add_prefix(_build_queue_name(place)), 0, 0))
        return _load_question(first[0]) if first else None

    def remove_question(self, place: str, question: Question) -> None:
        """Remove a question that is answered.

        It is found by its time: the fields that another version wrote differ, so it would never be removed by
        them.
        """
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


class RedisSpendingStore:
    """``SpendingStore`` on Redis: counters of millionths of a dollar, each with a sorted set of reservations."""

    def __init__(self, client: Redis, keys: Keyspace = UNPREFIXED, hold_seconds: int = _HOLD_SECONDS) -> None:
        self._client = client
        self._keys = keys
        self._hold_script = client.register_script(_HOLD_SCRIPT)
        self._settle_script = client.register_script(_SETTLE_SCRIPT)
        self._hold_seconds = hold_seconds

    def get_spending(self, name: str) -> float:
        """Return the settled dollars of a name."""
        with translate_redis_errors():
            value = cast("bytes | None", self._client.get(self._build_spent_key(name)))
        return int(value or 0) / _MICRODOLLARS

    def reserve_budget(self, hold: BudgetHold, caps: Sequence[tuple[str, float]]) -> int | None:
        """Reserve dollars if all sums are below their caps."""
        limits = [(hold.names.index(name) + 1, round(dollars * _MICRODOLLARS)) for name, dollars in caps]
        arguments: list[str | int] = [_format_hold(hold), self._hold_seconds, len(hold.names), *chain(*limits)]
        with translate_redis_errors():
            reached = int(cast("int", self._hold_script(self._list_keys(hold), arguments)))
        return None if reached < 0 else reached

    def settle_hold(self, hold: BudgetHold, dollars: float) -> None:
        """Replace a reservation by the dollars that were really spent, once however often it is called."""
        arguments: list[str | int] = [
            _format_hold(hold),
            f"{hold.token}{_SETTLED}",
            self._hold_seconds,
            round(dollars * _MICRODOLLARS),
            int(SPENDING.lifetime.total_seconds()),
        ]
        with translate_redis_errors():
            self._settle_script(self._list_keys(hold), arguments)

    def _list_keys(self, hold: BudgetHold) -> list[str]:
        return [*map(self._build_spent_key, hold.names), *map(self._build_holds_key, hold.names)]

    def _build_spent_key(self, name: str) -> str:
        return self._keys.add_prefix(SPENDING.build_key(name))

    def _build_holds_key(self, name: str) -> str:
        return self._keys.add_prefix(BUDGET_HOLDS.build_key(name))


def _format_hold(hold: BudgetHold) -> str:
    return f"{hold.token}:{round(hold.dollars * _MICRODOLLARS)}"


def _build_queue_name(place: str) -> str:
    return QUESTION_QUEUE.build_key(place)


def _dump_question(question: Question) -> str:
    return json.dumps(asdict(question), sort_keys=True)


def _load_question(data: bytes) -> Question:
    fields = json.loads(data)
    return Question(SlackRequest(**fields["visit"]), fields["text"], fields["ts"])
