"""What is planned and what was done, on Redis: subscriptions, the agenda, the journal. None of it expires."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import cast

from pydantic import TypeAdapter
from redis import Redis

from bot.adapters.redis.connection import pack_value, unpack_value
from bot.adapters.redis.errors import translate_redis_errors
from bot.adapters.redis.keyspace import UNPREFIXED, Keyspace
from bot.domain.keyspace.keys import DUE_QUEUE, RUN_JOURNAL, SUBSCRIPTIONS
from bot.domain.operations.run import Run
from bot.domain.subscriptions.due_items import DueItem, format_item, parse_item
from bot.domain.subscriptions.models import Subscription
from bot.domain.text.strings import quote_input
from bot.ports.cached_json import load_or_none

log = logging.getLogger(__name__)

# a year of one digest a day, or a week of fifty channels; kilobytes
_MAX_RUNS = 400
_SUBSCRIPTION_ADAPTER = TypeAdapter(Subscription)
_RUN_ADAPTER = TypeAdapter(Run)
# whole seconds in both places: what is compared was written by us
_MOVE_SCRIPT = """
local moved = 0
for i = 1, #ARGV, 3 do
  if redis.call('ZSCORE', KEYS[1], ARGV[i]) == ARGV[i + 1] then
    redis.call('ZADD', KEYS[1], ARGV[i + 2], ARGV[i])
    moved = moved + 1
  end
end
return moved
"""


class RedisSubscriptionRepository:
    """``SubscriptionStore`` as a hash."""

    def __init__(self, client: Redis, keys: Keyspace = UNPREFIXED) -> None:
        self._client = client
        self._key = keys.add_prefix(SUBSCRIPTIONS.build_key())

    def list_all(self) -> Sequence[Subscription]:
        """Every one."""
        with translate_redis_errors():
            found = cast("dict[bytes, bytes]", self._client.hgetall(self._key))
        return tuple(each for value in found.values() if (each := _parse_subscription(value)))

    def get(self, name: str) -> Subscription | None:
        """The one of that id."""
        with translate_redis_errors():
            found = cast("bytes | None", self._client.hget(self._key, name))
        return _SUBSCRIPTION_ADAPTER.validate_json(unpack_value(found)) if found else None

    def get_many(self, names: Sequence[str]) -> Mapping[str, Subscription]:
        """The ones of these ids."""
        if not names:
            return {}
        with translate_redis_errors():
            found = cast("list[bytes | None]", self._client.hmget(self._key, list(names)))
        read = ((name, _parse_subscription(value)) for name, value in zip(names, found, strict=True) if value)
        return {name: subscription for name, subscription in read if subscription}

    def put(self, subscription: Subscription) -> None:
        """Keep it."""
        with translate_redis_errors():
            value = pack_value(_SUBSCRIPTION_ADAPTER.dump_json(subscription).decode())
            self._client.hset(self._key, subscription.id, cast("str", value))

    def remove(self, name: str) -> None:
        """Forget it."""
        with translate_redis_errors():
            self._client.hdel(self._key, name)


class RedisDueQueue:
    """``DueQueue`` as a sorted set, by seconds since 1970: one look finds what is due, however much is planned."""

    def __init__(self, client: Redis, keys: Keyspace = UNPREFIXED) -> None:
        self._client = client
        self._key = keys.add_prefix(DUE_QUEUE.build_key())
        self._move_script = client.register_script(_MOVE_SCRIPT)

    def list_due(self, now: datetime) -> Sequence[tuple[DueItem, datetime]]:
        """Return all that was to be done by now."""
        with translate_redis_errors():
            found = cast(
                "list[tuple[bytes, float]]",
                self._client.zrangebyscore(self._key, "-inf", _to_timestamp(now), withscores=True),
            )
        return [(item, _from_timestamp(score)) for member, score in found if (item := _parse_item(member))]

    def get_time(self, item: DueItem) -> datetime | None:
        """Return when it is to be done."""
        with translate_redis_errors():
            found = self._client.zscore(self._key, format_item(item))
        return None if found is None else _from_timestamp(found)

    def get_times(self, items: Sequence[DueItem]) -> Sequence[datetime | None]:
        """Return when each is to be done."""
        if not items:
            return ()
        with translate_redis_errors():
            found = self._client.zmscore(self._key, [format_item(item) for item in items])
        return [None if score is None else _from_timestamp(score) for score in found]

    def put(self, item: DueItem, instant: datetime) -> None:
        """Plan it."""
        with translate_redis_errors():
            self._client.zadd(self._key, {format_item(item): _to_timestamp(instant)})

    def add(self, item: DueItem, instant: datetime) -> None:
        """Plan it, unless it is there."""
        with translate_redis_errors():
            self._client.zadd(self._key, {format_item(item): _to_timestamp(instant)}, nx=True)

    def move(self, item: DueItem, before: datetime, after: datetime) -> bool:
        """Plan it for later, if nobody has moved it."""
        return bool(self._move_all([(item, before, after)]))

    def move_all(self, moves: Sequence[tuple[DueItem, datetime, datetime]]) -> None:
        """Do the same for many."""
        if moves:
            self._move_all(moves)

    def drop(self, item: DueItem) -> None:
        """Plan it no more."""
        with translate_redis_errors():
            self._client.zrem(self._key, format_item(item))

    def _move_all(self, moves: Sequence[tuple[DueItem, datetime, datetime]]) -> int:
        """Return how many were moved."""
        texts = [
            (format_item(item), str(_to_timestamp(before)), str(_to_timestamp(after)))
            for item, before, after in moves
        ]
        with translate_redis_errors():
            return cast("int", self._move_script(keys=[self._key], args=[text for move in texts for text in move]))


class RedisRunLog:
    """``RunLog`` as a list."""

    def __init__(self, client: Redis, keys: Keyspace = UNPREFIXED) -> None:
        self._client = client
        self._key = keys.add_prefix(RUN_JOURNAL.build_key())

    def add_run(self, run: Run) -> None:
        """Add a run."""
        with translate_redis_errors(), self._client.pipeline() as together:
            together.lpush(self._key, cast("str", pack_value(_RUN_ADAPTER.dump_json(run).decode())))
            together.ltrim(self._key, 0, _MAX_RUNS - 1)
            together.execute()

    def list_recent(self, count: int) -> Sequence[Run]:
        """The last ones, newest first."""
        with translate_redis_errors():
            found = cast("list[bytes]", self._client.lrange(self._key, 0, count - 1))
        return tuple(_RUN_ADAPTER.validate_json(unpack_value(line)) for line in found)


@lru_cache(maxsize=1_024)
def _parse_subscription(kept: bytes) -> Subscription | None:
    """One that can't be read, as of a zone that is not known here, keeps nobody from theirs.

    They are read each minute and seldom change.
    """
    found = load_or_none(_SUBSCRIPTION_ADAPTER, unpack_value(kept))
    if found is None:
        log.error("a subscription can't be read: %s", unpack_value(kept))
    return found


@lru_cache(maxsize=1_024)
def _parse_item(member: bytes) -> DueItem | None:
    """Leave alone what another version planned, or nobody; it stays due, and the log has it once."""
    text = member.decode(errors="replace")
    item = parse_item(text)
    if item is None:
        log.error("an item of the agenda is left alone, this version does not know it: %s", quote_input(text))
    return item


def _to_timestamp(instant: datetime) -> int:
    return int(instant.timestamp())


def _from_timestamp(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
