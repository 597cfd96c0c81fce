from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest
from dramatiq import Message
from prometheus_client import CollectorRegistry
from redis import Redis

from bot.features.subscriptions.rules import Run, RunOutcome
from bot.monitoring import StoreCollector
from bot.platform.dramatiq.broker import make_broker
from bot.platform.jobs import QueueName
from bot.platform.store.connection import Keyspace, RedisCache, connect_server
from bot.platform.store.due_queue import DigestRepair, DueQueue, IncidentReport, NextDigest
from bot.platform.store.keys import LAST_TICK
from bot.platform.store.spending import BudgetHold, SpendingStore
from bot.platform.store.tables import Store
from bot.settings import Settings
from tests.helpers.apps import make_app
from tests.helpers.builders import DAY
from tests.helpers.checks import closed_port
from tests.helpers.subscriptions import RunLog

NOW = datetime(2026, 3, 1, 17, 20, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
KEYS = Keyspace("team-a")


def make_registry(store: Redis) -> CollectorRegistry:
    registry = CollectorRegistry()
    settings = Settings(prdigest_store_prefix=KEYS.prefix, prdigest_timezone=DAY.zone, prdigest_daily_budget=10)
    registry.register(
        StoreCollector(make_app(store, settings=settings, now=lambda: NOW, tables=Store(store, KEYS)))
    )
    return registry


def read(store: Redis, name: str, **labels: str) -> float | None:
    return make_registry(store).get_sample_value(f"prdigest_{name}", labels)


def test_a_new_store_has_nothing_due(store: Redis) -> None:
    assert read(store, "store_up") == 1
    assert read(store, "clock_last_tick_timestamp_seconds") is None
    assert [read(store, name) for name in ("digests_due", "digests_late", "digest_delay_seconds")] == [0, 0, 0]
    assert read(store, "last_run_timestamp_seconds", outcome="posted") is None
    assert read(store, "store_memory_bytes")


def test_digests_are_due_at_their_time_and_late_a_quarter_of_an_hour_after_it(store: Redis) -> None:
    queue = DueQueue(store, KEYS)
    for name, instant in {"soon": NOW + MINUTE, "due": NOW - 14 * MINUTE, "late": NOW - 15 * MINUTE}.items():
        queue.put(NextDigest(name), instant)
    queue.put(DigestRepair("digest:key"), NOW - 60 * MINUTE)
    assert [read(store, name) for name in ("digests_due", "digests_late", "digest_delay_seconds")] == [2, 1, 900]
    assert read(store, "incident_reports_due") == 0


def test_reports_that_wait_are_counted(store: Redis) -> None:
    DueQueue(store, KEYS).put(IncidentReport("digest:key#missing"), NOW)
    assert read(store, "incident_reports_due") == 1


def test_the_last_tick_and_the_last_run_of_each_outcome_have_their_time(store: Redis) -> None:
    RedisCache(store, KEYS).put(LAST_TICK.build_key(), NOW.isoformat(), LAST_TICK.lifetime)
    log = RunLog(store, KEYS)
    for minutes, outcome in ((9, RunOutcome.FAILED), (8, RunOutcome.POSTED), (7, RunOutcome.POSTED)):
        log.add_run(Run(NOW - minutes * MINUTE, "key", outcome))
    assert read(store, "clock_last_tick_timestamp_seconds") == NOW.timestamp()
    assert read(store, "last_run_timestamp_seconds", outcome="posted") == (NOW - 7 * MINUTE).timestamp()
    assert read(store, "last_run_timestamp_seconds", outcome="failed") == (NOW - 9 * MINUTE).timestamp()
    assert read(store, "last_run_timestamp_seconds", outcome="skipped") is None


def test_jobs_wait_on_their_queue_or_for_their_time(store: Redis) -> None:
    with closing(make_broker(store, lambda *_: None, KEYS)) as broker:
        broker.declare_queue(QueueName.LONG.value)
        for delay in (None, None, 60_000):
            broker.enqueue(Message(QueueName.LONG.value, "deliver", (), {}, {}), delay=delay)
    long = {"queue": QueueName.LONG.value}
    assert read(store, "queue_jobs", **long, state="waiting") == 2
    assert read(store, "queue_jobs", **long, state="delayed") == 1
    assert read(store, "queue_jobs", queue=QueueName.QUICK.value, state="waiting") == 0


def test_the_cost_is_that_of_the_local_day(store: Redis) -> None:
    spending = SpendingStore(store, KEYS)
    for date, dollars in (("2026-03-01", 2.5), ("2026-02-28", 4.0)):
        hold = BudgetHold(date, 1.0, (date,))
        assert spending.reserve_budget(hold, ()) is None
        spending.settle_hold(hold, dollars)
    assert read(store, "cost_today_dollars") == pytest.approx(2.5)
    assert read(store, "budget_dollars") == 10


@pytest.mark.slow
def test_without_the_store_that_alone_is_said(caplog: pytest.LogCaptureFixture) -> None:
    with connect_server(f"redis://127.0.0.1:{closed_port()}/0") as nothing:
        registry = make_registry(nothing)
        names = [sample.name for family in registry.collect() for sample in family.samples]
        assert names == ["prdigest_store_up"]
        assert registry.get_sample_value("prdigest_store_up") == 0
    assert "the metrics of the store can't be read" in caplog.text
