"""The cost of the clock: a minute in which nothing is due, and one in which very many digests are."""

from __future__ import annotations

import datetime as dt
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

from redis import Redis

from benchmarks.table import Table
from bot.app import App
from bot.clock import Clock
from bot.features.digest.posts import DigestRecords
from bot.features.subscriptions.rules import Subscription, Timing
from bot.features.subscriptions.tables import list_subscriptions, put_subscription
from bot.platform.jobs import Job
from bot.platform.store.connection import RedisCache, connect_server
from bot.platform.store.embedded.server import start_embedded_url
from impact.repository import Repository
from tests.features.digest.posting import MemoryMessenger
from tests.helpers.apps import make_app
from tests.helpers.records import digest_store

P = TypeVar("P")
SUBSCRIPTIONS, DUE = 10_000, 1_000
ZONE = ZoneInfo("America/Los_Angeles")
BEFORE = datetime(2026, 3, 2, 16, 58, tzinfo=UTC)
# seconds: a minute has sixty, and App Home uses the same store
MAX_IDLE, MAX_BUSY = 0.05, 10.0
# each digest looks once, and each command while Slack waits
MAX_LOOK = 0.1


@dataclass
class CountingQueue:
    """A queue that only keeps its jobs."""

    jobs: list[object] = field(default_factory=list)

    def send(self, job: Job[Any], payload: dict[str, Any]) -> None:
        self.jobs.append(payload)


def time_ticks(table: Table) -> None:
    """Time a tick among ten thousand subscriptions, when nothing is due and when a thousand are."""
    with _open_store() as store:
        app, queue, now = _make_app(store), CountingQueue(), BEFORE
        app.now = lambda: now
        clock = Clock(app, queue)
        clock.tick()
        now = BEFORE + timedelta(minutes=1)
        idle = _time_call(clock.tick)
        assert not queue.jobs
        now = BEFORE + timedelta(minutes=2)
        busy = _time_call(clock.tick)
        assert len(queue.jobs) == DUE
        looked = _time_call(lambda: list_subscriptions(app, "C000007"))
    table.print_row(
        f"a tick of the clock, {SUBSCRIPTIONS:,} subscriptions, none due", 1_000 * idle, 1_000 * MAX_IDLE, "ms"
    )
    table.print_row(f"the same, {DUE:,} due in one minute", busy, MAX_BUSY, "s")
    table.print_row("the subscriptions of one channel among them", 1_000 * looked, 1_000 * MAX_LOOK, "ms")


def _make_app(store: Redis) -> App:
    """Return an app: a thousand subscriptions are due at nine, all others an hour later."""
    app = make_app(
        store,
        cache=RedisCache(store),
        messenger=MemoryMessenger(),
        digest_records=DigestRecords(digest_store(store), lambda: "T0TEAM"),
    )
    for number in range(SUBSCRIPTIONS):
        timing = Timing(dt.time(9 if number < DUE else 10), ZONE)
        put_subscription(app, Subscription(f"C{number:06d}", Repository("octo", "engine"), timing, by="U0ADA"))
    return app


def _time_call(act: Callable[[], object]) -> float:
    begin = time.perf_counter()
    act()
    return time.perf_counter() - begin


@contextmanager
def _open_store() -> Iterator[Redis]:
    with tempfile.TemporaryDirectory() as folder, connect_server(start_embedded_url(Path(folder))) as store:
        store.ping()
        yield store
