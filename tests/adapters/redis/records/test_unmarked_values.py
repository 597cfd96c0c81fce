"""Values of the store from before they had a version are read, and those of a later version are not lost.

The texts are as the version before wrote them.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast
from zoneinfo import ZoneInfo

import pytest
from redis import Redis

from bot.adapters.redis.due_queue import RedisRunLog, RedisSubscriptionStore
from bot.adapters.redis.records.history import RedisBackfillLog
from bot.adapters.redis.records.profiles import RedisProfileStore
from bot.adapters.redis.records.touches import RedisTouchStore
from bot.domain.contract.models import ChangeKind
from bot.domain.errors import StoreUnavailable
from bot.domain.history.backfill import BackfillRecord
from bot.domain.operations.run import Run, RunOutcome
from bot.domain.profile.entries import ProfileEntry
from bot.domain.pull_requests.reference import Reference
from bot.domain.subscriptions.models import Subscription, Timing
from bot.domain.touches.decisions import HitKey, ShownHit, TouchDecision, TouchVerdict
from bot.domain.touches.models import TouchLevel
from tests.helpers.builders import DAY, NOON, REPOSITORY

NAME = str(REPOSITORY)
HIT = HitKey(Reference(REPOSITORY, 7), "0123456789ab")
_KEY = '{"reference":{"repository":{"owner":"octo","name":"engine"},"number":7},"change":"0123456789ab"}'
_AT = '"2026-02-28T20:00:00Z"'
SUBSCRIPTION = Subscription("C1", REPOSITORY, Timing(dt.time(9), ZoneInfo("Europe/Berlin"), weekdays=True))


@dataclass(frozen=True)
class Case:
    """A key with the old text in it (a field of a hash, a value or a line), and how it is read and written."""

    key: str
    type: str
    text: str
    value: Any
    read: Callable[[Redis], Any]
    write: Callable[[Redis, Any], None]
    field: str = "x"

    def plant(self, store: Redis, text: str) -> None:
        value = f"p{text}"
        match self.type:
            case "hash":
                store.hset(self.key, self.field, value)
            case "list":
                store.rpush(self.key, value)
            case _:
                store.set(self.key, value)

    def read_raw(self, store: Redis) -> bytes:
        """Return the one text of the key."""
        raw: Any
        match self.type:
            case "hash":
                raw = store.hget(self.key, self.field) or next(iter(cast("list[bytes]", store.hvals(self.key))))
            case "list":
                raw = store.lindex(self.key, 0)
            case _:
                raw = store.get(self.key)
        return cast("bytes", raw)


CASES = {
    "hit": Case(
        "hits:ascend",
        "hash",
        f'{{"key":{_KEY},"level":1,"kind":"removed","name":"engine.run","shown_at":{_AT}}}',
        [ShownHit(HIT, TouchLevel.TOUCHES, ChangeKind.REMOVED, "engine.run", NOON)],
        lambda store: RedisTouchStore(store).list_hits("ascend"),
        lambda store, value: RedisTouchStore(store).add_hits("ascend", value),
    ),
    "decision": Case(
        "decisions:ascend",
        "hash",
        f'{{"key":{_KEY},"verdict":"done","by":"U0ADA","at":{_AT}}}',
        [TouchDecision(HIT, TouchVerdict.DONE, "U0ADA", NOON)],
        lambda store: RedisTouchStore(store).list_decisions("ascend"),
        lambda store, value: RedisTouchStore(store).put_decision("ascend", value[0]),
    ),
    "profile": Case(
        "profiles",
        "hash",
        '{"name":"ascend","upstream":{"owner":"octo","name":"engine"},"packages":["engine"],'
        f'"refreshed_at":{_AT}}}',
        ProfileEntry("ascend", REPOSITORY, ("engine",), refreshed_at=NOON),
        lambda store: RedisProfileStore(store).get_entry("ascend"),
        lambda store, value: RedisProfileStore(store).put(value),
        "ascend",
    ),
    "subscription": Case(
        "subscriptions",
        "hash",
        '{"channel":"C1","repository":{"owner":"octo","name":"engine"},"timing":{"at":"09:00:00",'
        '"zone":"Europe/Berlin","weekdays":true},"view":{"filters":{"paths":[],"authors":[],"labels":[],'
        '"not_authors":[]},"only":"","profile":""},"by":"","follows":"","is_paused":false,"is_open":false}',
        SUBSCRIPTION,
        lambda store: RedisSubscriptionStore(store).get(SUBSCRIPTION.id),
        lambda store, value: RedisSubscriptionStore(store).put(value),
        SUBSCRIPTION.id,
    ),
    "run": Case(
        "journal",
        "list",
        f'{{"at":{_AT},"key":"digest:T:C:octo/engine:2026-02-28","outcome":"posted","detail":""}}',
        (Run(NOON, "digest:T:C:octo/engine:2026-02-28", RunOutcome.POSTED),),
        lambda store: RedisRunLog(store).list_recent(5),
        lambda store, value: RedisRunLog(store).add_run(value[0]),
    ),
    "backfill": Case(
        f"backfilled:{NAME}:{DAY.zone}",
        "hash",
        f'{{"at":{_AT},"model":"claude"}}',
        BackfillRecord(NOON, "claude"),
        lambda store: RedisBackfillLog(store).get(REPOSITORY, DAY),
        lambda store, value: RedisBackfillLog(store).put(REPOSITORY, DAY, value),
        str(DAY.date),
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_value_without_a_version_is_read(store: Redis, case: Case) -> None:
    case.plant(store, case.text)
    assert case.read(store) == case.value


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_value_is_written_with_its_version(store: Redis, case: Case) -> None:
    case.write(store, case.value)
    assert b'"version":1' in case.read_raw(store)
    assert case.read(store) == case.value


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_value_of_a_later_version_is_not_taken_for_absent(store: Redis, case: Case) -> None:
    case.plant(store, '{"version":2,' + case.text[1:])
    with pytest.raises(StoreUnavailable):
        case.read(store)


def test_a_subscription_of_a_later_version_keeps_nobody_from_theirs(store: Redis) -> None:
    subscriptions = RedisSubscriptionStore(store)
    subscriptions.put(SUBSCRIPTION)
    store.hset("subscriptions", "later", 'p{"version": 2, "channel": "C1"}')
    assert list(subscriptions.list_all()) == list(subscriptions.list_for_channel("C1")) == [SUBSCRIPTION]
