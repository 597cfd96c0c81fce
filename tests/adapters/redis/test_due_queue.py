"""Subscriptions, the agenda and the journal, on a real server."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import cast

import pytest
from redis import Redis

from bot.adapters.redis.due_queue import RedisDueQueue, RedisRunLog, RedisSubscriptionStore
from bot.domain.digest.view import DigestView, ViewLevel
from bot.domain.errors import StoreUnavailable
from bot.domain.keyspace.keys import DUE_QUEUE, SUBSCRIPTIONS
from bot.domain.operations.run import Run, RunOutcome
from bot.domain.pull_requests.filters import Filters
from bot.domain.pull_requests.models import Repository
from bot.domain.subscriptions.due_items import (
    DigestRepair,
    DueItem,
    IncidentReport,
    NextDigest,
    OutcomeCheck,
    ReportUpdate,
)
from bot.domain.subscriptions.models import Subscription, Timing
from bot.domain.time.day import parse_zone
from bot.platform.store.connection import RedisTimeouts, connect_server, pack_value, unpack_value
from tests.helpers.builders import REPOSITORY
from tests.helpers.checks import closed_port, is_one_sentence

NINE = datetime(2026, 3, 1, 9, tzinfo=UTC)
SECOND, HOUR = timedelta(seconds=1), timedelta(hours=1)
DAILY = Subscription("C0DIGEST", REPOSITORY, Timing(dt.time(9), parse_zone("Europe/Berlin")), by="U0ASKER")
FULL = Subscription(
    "D0ASKER",
    Repository("acme", "web.app"),
    Timing(dt.time(23, 59, 30), parse_zone("Asia/Kathmandu"), weekdays=True),
    DigestView(Filters(("csrc/**",), ("Ädä",), ("good first issue",), ("bots",)), ViewLevel.RISKY),
    by="U1",
    follows="U2",
    is_paused=True,
    is_open=True,
)


@pytest.fixture
def subscription_store(store: Redis) -> RedisSubscriptionStore:
    return RedisSubscriptionStore(store)


@pytest.fixture
def agenda(store: Redis) -> RedisDueQueue:
    return RedisDueQueue(store)


@pytest.fixture
def journal(store: Redis) -> RedisRunLog:
    return RedisRunLog(store)


def read_subscription(store: Redis, subscription: Subscription) -> str:
    return unpack_value(cast("bytes", store.hget(SUBSCRIPTIONS.build_key(), subscription.id)))


def write(store: Redis, subscription: Subscription, text: str) -> None:
    store.hset(SUBSCRIPTIONS.build_key(), subscription.id, cast("str", pack_value(text)))


class TestSubscriptions:
    @pytest.mark.parametrize("made", [DAILY, FULL], ids=["plain", "full"])
    def test_what_is_kept_comes_back(self, subscription_store: RedisSubscriptionStore, made: Subscription) -> None:
        subscription_store.put(made)
        assert subscription_store.get(made.id) == made
        assert list(subscription_store.list_all()) == [made]
        assert subscription_store.get_many([made.id]) == {made.id: made}

    def test_of_the_same_id_the_last_is_kept(self, subscription_store: RedisSubscriptionStore) -> None:
        paused = replace(DAILY, is_paused=True)
        subscription_store.put(DAILY)
        subscription_store.put(paused)
        assert list(subscription_store.list_all()) == [paused]

    def test_what_is_removed_is_gone_and_may_be_removed_again(
        self, subscription_store: RedisSubscriptionStore
    ) -> None:
        subscription_store.put(DAILY)
        subscription_store.put(FULL)
        for _ in range(2):
            subscription_store.remove(DAILY.id)
        assert subscription_store.get(DAILY.id) is None
        assert list(subscription_store.list_all()) == [FULL]

    def test_those_that_there_are_come_by_their_ids(self, subscription_store: RedisSubscriptionStore) -> None:
        subscription_store.put(DAILY)
        subscription_store.put(FULL)
        assert subscription_store.get_many([FULL.id, "nothing", DAILY.id]) == {FULL.id: FULL, DAILY.id: DAILY}
        assert subscription_store.get_many([]) == {}

    def test_one_of_another_version_is_read_as_far_as_it_is_known(
        self, subscription_store: RedisSubscriptionStore, store: Redis
    ) -> None:
        subscription_store.put(DAILY)
        value = json.loads(read_subscription(store, DAILY))
        assert {"is_open", "follows"}.isdisjoint(value)
        write(store, DAILY, json.dumps({**value, "mood": "cheerful"}))
        assert subscription_store.get(DAILY.id) == DAILY

    def test_one_that_cant_be_read_keeps_no_other_from_being_found(
        self, subscription_store: RedisSubscriptionStore, store: Redis, caplog: pytest.LogCaptureFixture
    ) -> None:
        subscription_store.put(DAILY)
        subscription_store.put(FULL)
        write(store, FULL, read_subscription(store, FULL).replace("Asia/Kathmandu", "Asia/Atlantis"))
        assert list(subscription_store.list_all()) == [DAILY]
        assert subscription_store.get_many([FULL.id, DAILY.id]) == {DAILY.id: DAILY}
        assert "Asia/Atlantis" in caplog.text


A, B, C = NextDigest("a"), DigestRepair("digest:b"), OutcomeCheck(Repository("octo", "engine"))
OLD, NOTHING = IncidentReport("digest:b#missing"), ReportUpdate("digest:b#missing")
# as they are stored, with what they are
WRITTEN: dict[str, DueItem] = {
    "5d2cea88": NextDigest("5d2cea88"),
    "mend:digest:T0TEAM:C0GAPS:octo/engine:2026-02-28": DigestRepair(
        "digest:T0TEAM:C0GAPS:octo/engine:2026-02-28"
    ),
    "tell:digest:T0TEAM:C0NEXT:octo/engine:2026-02-28#missing": IncidentReport(
        "digest:T0TEAM:C0NEXT:octo/engine:2026-02-28#missing"
    ),
    "settle:digest:T0TEAM:C0MENDED:octo/engine:2026-02-28#missing": ReportUpdate(
        "digest:T0TEAM:C0MENDED:octo/engine:2026-02-28#missing"
    ),
    "watch:octo/engine": OutcomeCheck(Repository("octo", "engine")),
}


class TestAgenda:
    def test_what_is_stored_is_read_moved_and_dropped(self, agenda: RedisDueQueue, store: Redis) -> None:
        store.zadd(DUE_QUEUE.build_key(), {member: NINE.timestamp() + n for n, member in enumerate(WRITTEN)})
        due_items = agenda.list_due(NINE + HOUR)
        assert [item for item, _ in due_items] == list(WRITTEN.values())
        for item, at in due_items:
            agenda.add(item, NINE - HOUR)
            assert agenda.move(item, at, NINE + 2 * HOUR)
        assert store.zcard(DUE_QUEUE.build_key()) == len(WRITTEN)
        for item, _ in due_items:
            agenda.drop(item)
        assert store.zcard(DUE_QUEUE.build_key()) == 0

    def test_what_another_version_planned_is_left_alone(
        self, agenda: RedisDueQueue, store: Redis, caplog: pytest.LogCaptureFixture
    ) -> None:
        store.zadd(DUE_QUEUE.build_key(), {"2;watch:octo/engine": NINE.timestamp(), "a": NINE.timestamp()})
        for _ in range(2):
            assert agenda.list_due(NINE) == [(A, NINE)]
        assert store.zcard(DUE_QUEUE.build_key()) == 2
        assert caplog.text.count("2;watch:octo/engine") == 1

    def test_what_is_due_comes_oldest_first_and_what_is_not_does_not(self, agenda: RedisDueQueue) -> None:
        for item, hours in ((NextDigest("later"), 1), (B, 0), (OLD, -30), (A, -1)):
            agenda.put(item, NINE + hours * HOUR)
        assert agenda.list_due(NINE) == [(OLD, NINE - 30 * HOUR), (A, NINE - HOUR), (B, NINE)]
        assert agenda.list_due(NINE - SECOND) == [(OLD, NINE - 30 * HOUR), (A, NINE - HOUR)]

    def test_it_is_known_when_something_is_to_be_done(self, agenda: RedisDueQueue) -> None:
        agenda.put(A, NINE.astimezone(parse_zone("Asia/Kathmandu")))
        assert agenda.get_time(A) == NINE
        assert agenda.get_time(NOTHING) is None
        assert agenda.get_times([NOTHING, A]) == [None, NINE]
        assert agenda.get_times([]) == ()

    def test_put_plans_anew_and_add_only_what_is_not_planned(self, agenda: RedisDueQueue) -> None:
        agenda.add(A, NINE)
        agenda.add(A, NINE + HOUR)
        assert agenda.get_time(A) == NINE
        agenda.put(A, NINE + HOUR)
        assert agenda.get_time(A) == NINE + HOUR

    def test_what_is_dropped_is_gone_and_may_be_dropped_again(self, agenda: RedisDueQueue) -> None:
        agenda.put(A, NINE)
        for _ in range(2):
            agenda.drop(A)
        assert agenda.list_due(NINE) == []

    @pytest.mark.parametrize(
        ("planned", "moved"),
        [
            pytest.param(NINE, True, id="as-planned"),
            pytest.param(NINE + SECOND, False, id="moved-by-another"),
            pytest.param(None, False, id="dropped-by-another"),
        ],
    )
    def test_only_what_stands_as_it_was_seen_is_moved(
        self, agenda: RedisDueQueue, planned: datetime | None, moved: bool
    ) -> None:
        if planned:
            agenda.put(A, planned)
        assert agenda.move(A, NINE, NINE + 24 * HOUR) is moved
        assert agenda.get_time(A) == (NINE + 24 * HOUR if moved else planned)

    def test_of_many_those_are_moved_that_stand_as_they_were_seen(self, agenda: RedisDueQueue) -> None:
        agenda.put(A, NINE)
        agenda.put(B, NINE + HOUR)
        agenda.put(C, NINE)
        agenda.move_all([(item, NINE, NINE + 24 * HOUR) for item in (A, B, C, NOTHING)])
        agenda.move_all([])
        assert agenda.get_times([A, B, C, NOTHING]) == [NINE + 24 * HOUR, NINE + HOUR, NINE + 24 * HOUR, None]

    def test_of_many_who_move_the_same_one_does(self, store_url: str, agenda: RedisDueQueue) -> None:
        agenda.put(A, NINE)

        def move(hours: int) -> bool:
            with connect_server(store_url) as client:
                return RedisDueQueue(client).move(A, NINE, NINE + hours * HOUR)

        with ThreadPoolExecutor(8) as pool:
            assert sorted(pool.map(move, range(1, 9))) == [False] * 7 + [True]

    def test_instants_are_kept_to_the_second(self, agenda: RedisDueQueue) -> None:
        agenda.put(A, NINE + SECOND * 0.9)
        assert agenda.list_due(NINE) == [(A, NINE)]
        assert agenda.list_due(NINE - SECOND * 0.1) == []
        assert agenda.move(A, NINE + SECOND * 0.5, NINE + HOUR)


class TestJournal:
    def test_the_newest_comes_first(self, journal: RedisRunLog) -> None:
        runs = [Run(NINE + n * HOUR, f"digest:{n}", outcome, "Größe") for n, outcome in enumerate(RunOutcome)]
        for run in runs:
            journal.add_run(run)
        assert list(journal.list_recent(10)) == runs[::-1]
        assert list(journal.list_recent(2)) == runs[:-3:-1]

    def test_the_oldest_are_forgotten(self, journal: RedisRunLog, store: Redis) -> None:
        for n in range(410):
            journal.add_run(Run(NINE, str(n), RunOutcome.POSTED))
        assert [run.key for run in journal.list_recent(1_000)] == [str(n) for n in range(409, 9, -1)]


def test_none_of_it_expires(
    subscription_store: RedisSubscriptionStore, agenda: RedisDueQueue, journal: RedisRunLog, store: Redis
) -> None:
    subscription_store.put(DAILY)
    agenda.put(A, NINE)
    agenda.move(A, NINE, NINE + HOUR)
    journal.add_run(Run(NINE, "digest:1", RunOutcome.POSTED))
    assert [store.ttl(key) for key in ("subscriptions", "agenda", "journal")] == [-1, -1, -1]


AWAY: dict[str, Callable[[Redis], object]] = {
    "all": lambda client: RedisSubscriptionStore(client).list_all(),
    "get": lambda client: RedisSubscriptionStore(client).get("a"),
    "those": lambda client: RedisSubscriptionStore(client).get_many(["a"]),
    "keep": lambda client: RedisSubscriptionStore(client).put(DAILY),
    "remove": lambda client: RedisSubscriptionStore(client).remove("a"),
    "due": lambda client: RedisDueQueue(client).list_due(NINE),
    "at": lambda client: RedisDueQueue(client).get_time(A),
    "at each": lambda client: RedisDueQueue(client).get_times([A]),
    "put": lambda client: RedisDueQueue(client).put(A, NINE),
    "add": lambda client: RedisDueQueue(client).add(A, NINE),
    "move": lambda client: RedisDueQueue(client).move(A, NINE, NINE),
    "move each": lambda client: RedisDueQueue(client).move_all([(A, NINE, NINE)]),
    "drop": lambda client: RedisDueQueue(client).drop(A),
    "note": lambda client: RedisRunLog(client).add_run(Run(NINE, "a", RunOutcome.POSTED)),
    "recent": lambda client: RedisRunLog(client).list_recent(1),
}


def test_a_store_that_is_away_is_told_in_one_sentence() -> None:
    url = f"redis://127.0.0.1:{closed_port()}/0"
    for name, act in AWAY.items():
        with (
            connect_server(url, timeouts=RedisTimeouts(retries=0)) as client,
            pytest.raises(StoreUnavailable) as caught,
        ):
            act(client)
        assert is_one_sentence(str(caught.value)), name
