import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast
from zoneinfo import ZoneInfo

import pytest
from redis import Redis

from bot.errors import StoreUnavailable
from bot.features.subscriptions.rules import Run, RunOutcome, Subscription, Timing
from tests.helpers.builders import NOON, REPOSITORY
from tests.helpers.subscriptions import RunLog, StoredSubscriptions

SUBSCRIPTION = Subscription("C1", REPOSITORY, Timing(dt.time(9), ZoneInfo("Europe/Berlin"), weekdays=True))


@dataclass(frozen=True)
class Case:
    key: str
    value: Any
    read: Callable[[Redis], Any]
    write: Callable[[Redis, Any], None]

    def get_text(self, store: Redis) -> bytes:
        if store.type(self.key) == b"list":
            return cast("bytes", store.lindex(self.key, 0))
        (text,) = cast("list[bytes]", store.hvals(self.key))
        return text

    def put_text(self, store: Redis, text: bytes) -> None:
        if store.type(self.key) == b"list":
            store.lset(self.key, 0, cast("str", text))
        else:
            (field,) = cast("list[str]", store.hkeys(self.key))
            store.hset(self.key, field, cast("str", text))


CASES = {
    "subscription": Case(
        "subscriptions",
        SUBSCRIPTION,
        lambda store: StoredSubscriptions(store).get(SUBSCRIPTION.id),
        lambda store, value: StoredSubscriptions(store).put(value),
    ),
    "run": Case(
        "journal",
        (Run(NOON, "digest:T:C:octo/engine:2026-02-28@-0800", RunOutcome.POSTED),),
        lambda store: RunLog(store).list_recent(5),
        lambda store, value: RunLog(store).add_run(value[0]),
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
