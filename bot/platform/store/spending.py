"""The counters of spent dollars with their reservations, and the ledger of costs by day.

Amounts are whole numbers, so that any number of processes can add to them: tokens, counts, millionths of a dollar.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from datetime import timedelta
from itertools import chain
from types import MappingProxyType
from typing import NamedTuple, cast

from redis import Redis

from bot.platform.store.connection import UNPREFIXED, Keyspace, translate_redis_errors
from bot.platform.store.keys import ExpiringFamily

MICRODOLLARS = 1_000_000
NOTHING: Mapping[str, int] = MappingProxyType({})
SPENDING = ExpiringFamily(
    "spent:{account}", "string", "millionths of a dollar of a day", lifetime=timedelta(days=2), survives_reset=True
)
MONTHLY_SPENDING = ExpiringFamily(
    "month:{account}",
    "string",
    "millionths of a dollar of a month",
    lifetime=timedelta(days=40),  # so that it is there on the last day of the month
    survives_reset=True,
)
COST_LEDGER = ExpiringFamily(
    "cost:{date}",
    "hash",
    "calls, tokens and millionths of a dollar of a local date, by what they were for",
    lifetime=timedelta(days=400),  # a month can be compared with that of a year before
    survives_reset=True,
)
# after this time, the reservation of a dead process is free again; no call takes half as long
BUDGET_HOLDS = ExpiringFamily(
    "held:{account}", "zset", "reservations, by their end", lifetime=timedelta(minutes=10)
)
_MONTH_NAME = re.compile(r"\d{4}-\d\d(?!-)", re.A)
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


class BudgetHold(NamedTuple):
    """US dollars reserved for a call under several names. ``token`` is unique."""

    token: str
    dollars: float
    names: tuple[str, ...]

    @property
    def text(self) -> str:
        return f"{self.token}:{to_microdollars(self.dollars)}"


class SpendingStore:
    """US dollars by name, such as those of a person on a day. Every method may raise StoreUnavailable."""

    def __init__(self, client: Redis, keys: Keyspace = UNPREFIXED, hold_seconds: int = _HOLD_SECONDS) -> None:
        self._client = client
        self._keys = keys
        self._hold_script = client.register_script(_HOLD_SCRIPT)
        self._settle_script = client.register_script(_SETTLE_SCRIPT)
        self._hold_seconds = hold_seconds

    def get_spending(self, name: str) -> float:
        """Return all that was settled under a name as long as its counter is kept, in dollars."""
        with translate_redis_errors():
            value = cast("bytes | None", self._client.get(self._build_key(_find_family(name), name)))
        return int(value or 0) / MICRODOLLARS

    def reserve_budget(self, hold: BudgetHold, caps: Sequence[tuple[str, float]]) -> int | None:
        """Reserve dollars if the settled and reserved sums are below all caps, in one step.

        ``caps`` are names with dollars. Return None, or the index of the first cap that is reached; then nothing
        is reserved. A reservation that is not settled expires after some minutes.
        """
        limits = [(hold.names.index(name) + 1, to_microdollars(dollars)) for name, dollars in caps]
        arguments: list[str | int] = [hold.text, self._hold_seconds, len(hold.names), *chain(*limits)]
        with translate_redis_errors():
            reached = int(cast("int", self._hold_script(self._list_keys(hold), arguments)))
        return None if reached < 0 else reached

    def settle_hold(
        self, hold: BudgetHold, dollars: float, date: dt.date | None = None, amounts: Mapping[str, int] = NOTHING
    ) -> None:
        """Replace a reservation by the dollars that were really spent, in one step.

        Amounts by name are added to the ledger of a local date. Settling a reservation again changes nothing.
        """
        ledger = [self._build_key(COST_LEDGER, date)] if date else []
        arguments: list[str | int] = [
            hold.text,
            f"{hold.token}{_SETTLED}",
            self._hold_seconds,
            to_microdollars(dollars),
            int(COST_LEDGER.lifetime.total_seconds()),
            len(hold.names),
            *(int(_find_family(name).lifetime.total_seconds()) for name in hold.names),
            *(part for pair in amounts.items() for part in pair),
        ]
        with translate_redis_errors():
            self._settle_script([*self._list_keys(hold), *ledger], arguments)

    def read_ledger(self, dates: Sequence[dt.date]) -> list[dict[str, int]]:
        """Return the amounts of each local date by name, in one call; none for a date without any."""
        with translate_redis_errors(), self._client.pipeline(transaction=False) as pipeline:
            for date in dates:
                pipeline.hgetall(self._build_key(COST_LEDGER, date))
            days = cast("list[dict[bytes, bytes]]", pipeline.execute())
        return [{name.decode(): int(amount) for name, amount in day.items()} for day in days]

    def _list_keys(self, hold: BudgetHold) -> list[str]:
        counters = [self._build_key(_find_family(name), name) for name in hold.names]
        return [*counters, *(self._build_key(BUDGET_HOLDS, name) for name in hold.names)]

    def _build_key(self, family: ExpiringFamily, part: object) -> str:
        return self._keys.add_prefix(family.build_key(part))


def to_microdollars(dollars: float) -> int:
    """Return millionths of a US dollar, rounded: exact in sums."""
    return round(dollars * MICRODOLLARS)


def _find_family(name: str) -> ExpiringFamily:
    return MONTHLY_SPENDING if _MONTH_NAME.match(name) else SPENDING
