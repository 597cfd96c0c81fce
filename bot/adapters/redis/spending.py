"""The counters of spent dollars, and the ledger of costs, on Redis."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import cast

from redis import Redis

from bot.domain.keyspace.family import ExpiringFamily
from bot.domain.keyspace.keys import BUDGET_HOLDS, COST_LEDGER, MONTHLY_SPENDING, SPENDING
from bot.domain.operations.budget import BudgetHold, is_month_name
from bot.domain.operations.ledger import MICRODOLLARS, LedgerEntry, to_microdollars
from bot.platform.store.errors import translate_redis_errors
from bot.platform.store.keyspace import UNPREFIXED, Keyspace

# the end of the mark that a reservation was settled, which counts as no dollars
_SETTLED = ":settled:0"
_HOLD_SECONDS = int(BUDGET_HOLDS.lifetime.total_seconds())
_LEDGER_SECONDS = int(COST_LEDGER.lifetime.total_seconds())
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
# KEYS: as above, and behind them the ledger of the day. ARGV: the reservation, the mark that replaces it, its
# seconds, the millionths that were spent, the seconds for which the ledger is kept, the number of names, for each
# name the seconds for which its counter is kept; then the names and amounts for the ledger. With the mark there,
# the command has come before: the client sends it again if the answer is late, and no call is paid for twice
_SETTLE_SCRIPT = """
local now = tonumber(redis.call('TIME')[1])
local names = tonumber(ARGV[6])
if redis.call('ZSCORE', KEYS[names + 1], ARGV[2]) then
  return 0
end
for i = 1, names do
  redis.call('ZREM', KEYS[names + i], ARGV[1])
  redis.call('ZADD', KEYS[names + i], now + tonumber(ARGV[3]), ARGV[2])
  redis.call('EXPIRE', KEYS[names + i], ARGV[3])
  redis.call('INCRBY', KEYS[i], ARGV[4])
  redis.call('EXPIRE', KEYS[i], ARGV[6 + i])
end
for i = 7 + names, #ARGV, 2 do
  redis.call('HINCRBY', KEYS[2 * names + 1], ARGV[i], ARGV[i + 1])
end
if #ARGV >= 7 + names then
  redis.call('EXPIRE', KEYS[2 * names + 1], ARGV[5])
end
return 1
"""


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
        return int(value or 0) / MICRODOLLARS

    def reserve_budget(self, hold: BudgetHold, caps: Sequence[tuple[str, float]]) -> int | None:
        """Reserve dollars if all sums are below their caps."""
        limits = [(hold.names.index(name) + 1, to_microdollars(dollars)) for name, dollars in caps]
        arguments: list[str | int] = [_format_hold(hold), self._hold_seconds, len(hold.names), *chain(*limits)]
        with translate_redis_errors():
            reached = int(cast("int", self._hold_script(self._list_keys(hold), arguments)))
        return None if reached < 0 else reached

    def settle_hold(self, hold: BudgetHold, dollars: float, entry: LedgerEntry | None = None) -> None:
        """Replace a reservation by the dollars that were really spent, once however often it is called."""
        ledger = [self._build_ledger_key(entry.date)] if entry else []
        arguments: list[str | int] = [
            _format_hold(hold),
            f"{hold.token}{_SETTLED}",
            self._hold_seconds,
            to_microdollars(dollars),
            _LEDGER_SECONDS,
            len(hold.names),
            *(int(_find_family(name).lifetime.total_seconds()) for name in hold.names),
            *(chain(*entry.amounts.items()) if entry else ()),
        ]
        with translate_redis_errors():
            self._settle_script([*self._list_keys(hold), *ledger], arguments)

    def _list_keys(self, hold: BudgetHold) -> list[str]:
        return [*map(self._build_spent_key, hold.names), *map(self._build_holds_key, hold.names)]

    def _build_spent_key(self, name: str) -> str:
        return self._keys.add_prefix(_find_family(name).build_key(name))

    def _build_holds_key(self, name: str) -> str:
        return self._keys.add_prefix(BUDGET_HOLDS.build_key(name))

    def _build_ledger_key(self, date: dt.date) -> str:
        return self._keys.add_prefix(COST_LEDGER.build_key(date))


class RedisCostLedger:
    """``CostLedger`` on Redis: a hash of whole numbers for each local date."""

    def __init__(self, client: Redis, keys: Keyspace = UNPREFIXED) -> None:
        self._client = client
        self._keys = keys

    def read_days(self, dates: Sequence[dt.date]) -> Sequence[Mapping[str, int]]:
        """Return the amounts of each date by name, in one call."""
        with translate_redis_errors(), self._client.pipeline(transaction=False) as pipeline:
            for date in dates:
                pipeline.hgetall(self._build_key(date))
            days = cast("list[dict[bytes, bytes]]", pipeline.execute())
        return [{name.decode(): int(amount) for name, amount in day.items()} for day in days]

    def _build_key(self, date: dt.date) -> str:
        return self._keys.add_prefix(COST_LEDGER.build_key(date))


def _find_family(name: str) -> ExpiringFamily:
    return MONTHLY_SPENDING if is_month_name(name) else SPENDING


def _format_hold(hold: BudgetHold) -> str:
    return f"{hold.token}:{to_microdollars(hold.dollars)}"
