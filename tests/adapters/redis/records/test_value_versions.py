"""Values of the store say their version, and those of a later version are not lost."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast
from zoneinfo import ZoneInfo

import pytest
from redis import Redis

from bot.adapters.redis.due_queue import RedisRunLog, RedisSubscriptionStore
from bot.domain.errors import StoreUnavailable
from bot.domain.operations.run import Run, RunOutcome
from bot.domain.subscriptions.models import Subscription, Timing
from tests.helpers.builders import NOON, REPOSITORY

SUBSCRIPTION = Subscription("C1", REPOSITORY, Timing(dt.time(9), ZoneInfo("Europe/Berlin"), weekdays=True))


@dataclass(frozen=True)
class Case:
    """A key, and how the value in it is read and written."""

    key: str
    value: Any
    read: Callable[[Redis], Any]
    write: Callable[[Redis, Any], None]

    def get_text(self, store: Redis) -> bytes:
        """Return the one text of the key."""
        if store.type(self.key) == b"list":
            return cast("bytes", store.lindex(self.key, 0))
        (text,) = cast("list[bytes]", store.hvals(self.key))
        return text

    def put_text(self, store: Redis, text: bytes) -> None:
        """Put a text in its place."""
        if store.type(self.key) == b"list":
            store.lset(self.key, 0, cast("str", text))
        else:
            (field,) = cast("list[str]", store.hkeys(self.key))
            store.hset(self.key, field, cast("str", text))


CASES = {
    "subscription": Case(
        "subscriptions",
        SUBSCRIPTION,
        lambda store: RedisSubscriptionStore(store).get(SUBSCRIPTION.id),
        lambda store, value: RedisSubscriptionStore(store).put(value),
    ),
    "run": Case(
        "journal",
        (Run(NOON, "digest:T:C:octo/engine:2026-02-28@-0800", RunOutcome.POSTED),),
        lambda store: RedisRunLog(store).list_recent(5),
        lambda store, value: RedisRunLog(store).add_run(value[0]),
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_value_is_written_with_its_version(store: Redis, case: Case) -> None:
    case.write(store, case.value)
    assert b'"version":1' in case.get_text(store)
    assert case.read(store) == case.value


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_value_of_a_later_version_is_not_taken_for_absent(store: Redis, case: Case) -> None:
    case.write(store, case.value)
    case.put_text(store, case.get_text(store).replace(b'"version":1', b'"version":2'))
    with pytest.raises(StoreUnavailable):
        case.read(store)


def test_a_subscription_of_a_later_version_keeps_nobody_from_theirs(store: Redis) -> None:
    subscriptions = RedisSubscriptionStore(store)
    subscriptions.put(SUBSCRIPTION)
    store.hset("subscriptions", "later", 'p{"version": 2, "channel": "C1"}')
    assert list(subscriptions.list_all()) == list(subscriptions.list_for_channel("C1")) == [SUBSCRIPTION]
