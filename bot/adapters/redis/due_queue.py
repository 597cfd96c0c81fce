"""Subscriptions, the queue of due items, and the log of runs, on Redis. None of them expires."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import cast

from pydantic_core import to_json
from redis import Redis

from bot.domain.errors import StoreUnavailable
from bot.domain.keyspace.keys import DUE_QUEUE, RUN_JOURNAL, SUBSCRIPTIONS
from bot.domain.operations.run import Run
from bot.domain.subscriptions.due_items import DueItem, format_item, parse_item
from bot.domain.subscriptions.models import Subscription
from bot.domain.text.strings import quote_input
from bot.platform.store.connection import pack_value, unpack_value
from bot.platform.store.errors import translate_redis_errors
from bot.platform.store.keyspace import UNPREFIXED, Keyspace
from bot.ports.codecs.versioned_json import VersionedJson

log = logging.getLogger(__name__)

# a year of one digest a day, or a week of fifty channels; this takes kilobytes
_MAX_RUNS = 400
_SUBSCRIPTION_JSON = VersionedJson(Subscription, 1)
_RUN_JSON = VersionedJson(Run, 1)
# scores and arguments are whole seconds, so that they compare as equal texts
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


class RedisSubscriptionStore:
    """``SubscriptionStore`` on Redis, as a hash."""

    def __init__(self, client: Redis, keys: Keyspace = UNPREFIXED) -> None:
        self._client = client
        self._key = keys.add_prefix(SUBSCRIPTIONS.build_key())

    def list_all(self) -> Sequence[Subscription]:
        """List all subscriptions."""
        with translate_redis_errors():
            values = cast("dict[bytes, bytes]", self._client.hgetall(self._key))
        return tuple(subscription for value in values.values() if (subscription := _parse_subscription(value)))

    def list_for_channel(self, channel: str) -> Sequence[Subscription]:
        """List the subscriptions of a channel.

        Only values that contain its id are parsed: each digest and each command asks for this, and parsing takes
        many times as long as a look at the text.
        """
        quoted = to_json(channel).decode()
        with translate_redis_errors():
            values = cast("list[bytes]", self._client.hvals(self._key))
        parsed = (_parse_subscription(value) for value in values if quoted in unpack_value(value))
        return tuple(each for each in parsed if each and each.channel == channel)

    def get(self, name: str) -> Subscription | None:
        """Return the subscription of an id. Raises ValueError or StoreUnavailable if it is unreadable."""
        with translate_redis_errors():
            value = cast("bytes | None", self._client.hget(self._key, name))
        return _SUBSCRIPTION_JSON.load_text(unpack_value(value)) if value else None

    def get_many(self, names: Sequence[str]) -> Mapping[str, Subscription]:
        """Return the subscriptions of these ids by id."""
        if not names:
            return {}
        with translate_redis_errors():
            values = cast("list[bytes | None]", self._client.hmget(self._key, list(names)))
        parsed = ((name, _parse_subscription(value)) for name, value in zip(names, values, strict=True) if value)
        return {name: subscription for name, subscription in parsed if subscription}

    def put(self, subscription: Subscription) -> None:
        """Store a subscription."""
        with translate_redis_errors():
            value = pack_value(_SUBSCRIPTION_JSON.dump_text(subscription))
            self._client.hset(self._key, subscription.id, cast("str", value))

    def remove(self, name: str) -> None:
        """Remove a subscription."""
        with translate_redis_errors():
            self._client.hdel(self._key, name)


class RedisDueQueue:
    """``DueQueue`` on Redis, as a sorted set by seconds since 1970.

    One call finds all due items, however many are planned.
    """

    def __init__(self, client: Redis, keys: Keyspace = UNPREFIXED) -> None:
        self._client = client
        self._key = keys.add_prefix(DUE_QUEUE.build_key())
        self._move_script = client.register_script(_MOVE_SCRIPT)

    def list_due(self, now: datetime) -> Sequence[tuple[DueItem, datetime]]:
        """List the items that are due by ``now``."""
        with translate_redis_errors():
            scores = cast(
                "list[tuple[bytes, float]]",
                self._client.zrangebyscore(self._key, "-inf", _to_timestamp(now), withscores=True),
            )
        return [(item, _from_timestamp(score)) for member, score in scores if (item := _parse_item(member))]

    def get_time(self, item: DueItem) -> datetime | None:
        """Return when an item is due."""
        with translate_redis_errors():
            score = self._client.zscore(self._key, format_item(item))
        return None if score is None else _from_timestamp(score)

    def get_times(self, items: Sequence[DueItem]) -> Sequence[datetime | None]:
        """Return when each item is due."""
        if not items:
            return ()
        with translate_redis_errors():
            scores = self._client.zmscore(self._key, [format_item(item) for item in items])
        return [None if score is None else _from_timestamp(score) for score in scores]

    def put(self, item: DueItem, instant: datetime) -> None:
        """Plan an item for an instant."""
        with translate_redis_errors():
            self._client.zadd(self._key, {format_item(item): _to_timestamp(instant)})

    def add(self, item: DueItem, instant: datetime) -> None:
        """Plan an item unless it is planned already."""
        with translate_redis_errors():
            self._client.zadd(self._key, {format_item(item): _to_timestamp(instant)}, nx=True)

    def move(self, item: DueItem, before: datetime, after: datetime) -> bool:
        """Plan an item for ``after`` unless somebody else has moved it."""
        return bool(self._move_all([(item, before, after)]))

    def move_all(self, moves: Sequence[tuple[DueItem, datetime, datetime]]) -> None:
        """Move many items in one call."""
        if moves:
            self._move_all(moves)

    def drop(self, item: DueItem) -> None:
        """Remove an item."""
        with translate_redis_errors():
            self._client.zrem(self._key, format_item(item))

    def _move_all(self, moves: Sequence[tuple[DueItem, datetime, datetime]]) -> int:
        """Move items, and return how many were moved."""
        texts = [
            (format_item(item), str(_to_timestamp(before)), str(_to_timestamp(after)))
            for item, before, after in moves
        ]
        with translate_redis_errors():
            return cast("int", self._move_script(keys=[self._key], args=[text for move in texts for text in move]))


class RedisRunLog:
    """``RunLog`` on Redis, as a list."""

    def __init__(self, client: Redis, keys: Keyspace = UNPREFIXED) -> None:
        self._client = client
        self._key = keys.add_prefix(RUN_JOURNAL.build_key())

    def add_run(self, run: Run) -> None:
        """Add a run."""
        with translate_redis_errors(), self._client.pipeline() as pipeline:
            pipeline.lpush(self._key, cast("str", pack_value(_RUN_JSON.dump_text(run))))
            pipeline.ltrim(self._key, 0, _MAX_RUNS - 1)
            pipeline.execute()

    def list_recent(self, count: int) -> Sequence[Run]:
        """List the last runs, newest first."""
        with translate_redis_errors():
            lines = cast("list[bytes]", self._client.lrange(self._key, 0, count - 1))
        return tuple(_RUN_JSON.load_text(unpack_value(line)) for line in lines)


@lru_cache(maxsize=1_024)
def _parse_subscription(value: bytes) -> Subscription | None:
    """Return a subscription, None if it is unreadable, such as one of a later version or with an unknown zone.

    An unreadable one keeps nobody else from theirs. Subscriptions are read each minute and seldom change.
    """
    try:
        subscription = _SUBSCRIPTION_JSON.load_or_none(unpack_value(value))
    except StoreUnavailable:
        subscription = None
    if subscription is None:
        log.error("a subscription can't be read: %s", unpack_value(value))
    return subscription


@lru_cache(maxsize=1_024)
def _parse_item(member: bytes) -> DueItem | None:
    """Return the item of a member of the set, None for one that this version does not know.

    An unknown item stays due, and the log has it once.
    """
    text = member.decode(errors="replace")
    item = parse_item(text)
    if item is None:
        log.error("an item of the agenda is left alone, this version does not know it: %s", quote_input(text))
    return item


def _to_timestamp(instant: datetime) -> int:
    return int(instant.timestamp())


def _from_timestamp(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
