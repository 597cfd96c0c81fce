"""Questions that wait for their turn, and dollars that were spent, on Redis."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
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

_MICRODOLLARS = 1_000_000
# seconds
_HOLD_SECONDS = int(BUDGET_HOLDS.lifetime.total_seconds())
# KEYS: for each name the counter of what was spent, then for each its reservations by the end of their time, as a
# token, a colon and millionths of a dollar. ARGV: the reservation to add, its seconds, how many names; then for
# each cap the place of its name, and its millionths
_HOLD_SCRIPT = """
local now = tonumber(redis.call('TIME')[1])
local names = tonumber(ARGV[3])
local sums = {}
for i = 1, names do
  local held = KEYS[names + i]
  redis.call('ZREMRANGEBYSCORE', held, '-inf', now)
  sums[i] = tonumber(redis.call('GET', KEYS[i]) or '0')
  for _, each in ipairs(redis.call('ZRANGE', held, 0, -1)) do
    sums[i] = sums[i] + tonumber(string.match(each, ':(%d+)$'))
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


class RedisQuestionQueue:
    """``DiffLine`` as a sorted set for each thread, by the time of asking: who joins twice waits once."""

    def __init__(self, client: Redis, keys: Keyspace = UNPREFIXED) -> None:
        self._client = client
        self._keys = keys

    def add_question(self, place: str, question: Question) -> None:
        """Wait."""
        key = self._keys.add_prefix(_build_queue_name(place))
        with translate_redis_errors(), self._client.pipeline() as together:
            together.zadd(key, {_dump_question(question): float(question.ts)})
            together.expire(key, QUESTION_QUEUE.lifetime)
            together.execute()

    def get_first(self, place: str) -> Question | None:
        """Whose turn it is."""
        with translate_redis_errors():
            found = cast("list[bytes]", self._client.zrange(self._keys.add_prefix(_build_queue_name(place)), 0, 0))
        return _load_question(found[0]) if found else None

    def remove_question(self, place: str, question: Question) -> None:
        """This one has its answer.

        It goes by its time: what another version wrote of it has other fields, and would never be removed.
        """
        ts = float(question.ts)
        with translate_redis_errors():
            self._client.zremrangebyscore(self._keys.add_prefix(_build_queue_name(place)), ts, ts)

    @contextmanager
    def try_lock(self, place: str) -> Iterator[bool]:
        """Whether nobody else serves this line."""
        with (
            translate_redis_errors(),
            hold_lease(self._client, self._keys, _build_queue_name(place), patience=0) as held,
        ):
            yield held


class RedisSpendingStore:
    """``SpendingStore`` as counters of millionths of a dollar, with what is reserved in a "
    "sorted set beside each."""

    def __init__(self, client: Redis, keys: Keyspace = UNPREFIXED, held_seconds: int = _HOLD_SECONDS) -> None:
        self._client = client
        self._keys = keys
        self._hold_script = client.register_script(_HOLD_SCRIPT)
        self._held_seconds = held_seconds

    def get_spending(self, name: str) -> float:
        """All that was settled."""
        with translate_redis_errors():
            found = cast("bytes | None", self._client.get(self._build_spent_key(name)))
        return int(found or 0) / _MICRODOLLARS

    def reserve_budget(self, hold: BudgetHold, caps: Sequence[tuple[str, float]]) -> int | None:
        """Reserve dollars below all caps."""
        keys = [*map(self._build_spent_key, hold.names), *map(self._build_holds_key, hold.names)]
        placed = [(hold.names.index(name) + 1, round(dollars * _MICRODOLLARS)) for name, dollars in caps]
        said: list[str | int] = [_format_hold(hold), self._held_seconds, len(hold.names), *chain(*placed)]
        with translate_redis_errors():
            refused = int(cast("int", self._hold_script(keys, said)))
        return None if refused < 0 else refused

    def settle_hold(self, hold: BudgetHold, dollars: float) -> None:
        """Add what it was in the end, in the place of what was reserved."""
        with translate_redis_errors(), self._client.pipeline() as together:
            for name in hold.names:
                together.zrem(self._build_holds_key(name), _format_hold(hold))
                together.incrby(self._build_spent_key(name), round(dollars * _MICRODOLLARS))
                together.expire(self._build_spent_key(name), SPENDING.lifetime)
            together.execute()

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


def _load_question(found: bytes) -> Question:
    fields = json.loads(found)
    return Question(SlackRequest(**fields["visit"]), fields["text"], fields["ts"])
