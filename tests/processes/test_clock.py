"""The clock ticks at once and each minute, whatever a tick ends in, and never two ticks at a time."""

from __future__ import annotations

import datetime as dt
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest
from apscheduler.events import EVENT_JOB_ERROR, EVENT_JOB_EXECUTED, EVENT_JOB_MAX_INSTANCES
from redis import Redis

from bot.adapters.redis.due_queue import RedisDueQueue, RedisRunLog, RedisSubscriptionStore
from bot.clock import Clock
from bot.domain.errors import PrdigestError, SlackCallRefused, SlackUnavailable, StoreUnavailable
from bot.domain.subscriptions.models import Subscription, Timing
from bot.features.digest.tables import DigestRecords
from bot.platform.jobs import JobQueue
from bot.platform.store.connection import RedisCache, connect_server
from bot.services.scheduled_jobs import deliver_digest
from bot.services.subscriptions.incidents import IncidentReporter
from bot.services.subscriptions.repository import SubscriptionRepository
from bot.services.subscriptions.scheduler import DigestScheduler
from tests.helpers.builders import DAY, REPOSITORY
from tests.helpers.checks import closed_port, eventually
from tests.helpers.records import digest_store, report_store
from tests.services.digest.posting import MemoryMessenger
from tests.services.doubles import Outbox

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
FIXED = Subscription("C0DIGEST", REPOSITORY, Timing(dt.time(9), DAY.zone))
DUE = FIXED.timing.get_due_time(dt.date(2026, 3, 1))


@dataclass
class Ticks:
    """A schedule that counts when it was asked, and how many ticks ran at a time; ``act`` is each tick."""

    act: Callable[[], object] = lambda: None
    seen: list[datetime] = field(default_factory=list)
    queues: list[JobQueue] = field(default_factory=list)
    inside: int = 0
    peak: int = 0

    def tick(self, now: datetime, jobs: JobQueue) -> None:
        self.inside += 1
        self.peak = max(self.peak, self.inside)
        self.seen.append(now)
        self.queues.append(jobs)
        try:
            self.act()
        finally:
            self.inside -= 1


def clock_of(ticks: Ticks) -> Clock:
    return Clock(cast("DigestScheduler", ticks), Outbox(), lambda: datetime.now(UTC))


@dataclass
class Running:
    """A clock that was started, whose minutes can be hurried. Nothing ticks before it is watched."""

    ticks: Ticks
    ended: int = 0
    left_out: int = 0

    @contextmanager
    def start_clock(self) -> Iterator[Running]:
        act, is_watched = self.ticks.act, threading.Event()
        self.ticks.act = lambda: (is_watched.wait(30), act())
        self._scheduler = clock_of(self.ticks).start()
        self._scheduler.add_listener(self._hear, EVENT_JOB_EXECUTED | EVENT_JOB_ERROR | EVENT_JOB_MAX_INSTANCES)
        is_watched.set()
        try:
            yield self
        finally:
            self._scheduler.shutdown()

    @property
    def planned(self) -> datetime:
        """When it ticks next."""
        return cast("datetime", self._scheduler.get_jobs()[0].next_run_time)

    def hurry(self, by: timedelta = timedelta(0)) -> None:
        """The next tick is due now, or was some time ago."""
        self._scheduler.get_jobs()[0].modify(next_run_time=datetime.now(UTC) - by)

    def is_through(self, count: int) -> bool:
        """Waits until so many ticks have ended."""
        return bool(eventually(lambda: self.ended >= count)) and self.ended == len(self.ticks.seen) == count

    def _hear(self, event: Any) -> None:
        if event.code == EVENT_JOB_MAX_INSTANCES:
            self.left_out += 1
        else:
            self.ended += 1


def raise_later(error: BaseException) -> Callable[[], object]:
    def act() -> None:
        raise error

    return act


def test_a_tick_tells_the_schedule_the_time_and_where_the_jobs_go() -> None:
    ticks, jobs = Ticks(), Outbox()
    Clock(cast("DigestScheduler", ticks), jobs, lambda: DUE).tick()
    assert ticks.seen == [DUE]
    assert [each is jobs for each in ticks.queues] == [True]


@pytest.mark.parametrize(
    "error",
    [
        StoreUnavailable("The store does not answer."),
        SlackUnavailable("Slack does not answer."),
        SlackCallRefused("Slack refuses the token.", "invalid_auth"),
    ],
    ids=["store", "slack", "token"],
)
def test_what_is_away_costs_a_minute_and_is_a_warning(
    error: PrdigestError, caplog: pytest.LogCaptureFixture
) -> None:
    clock_of(Ticks(raise_later(error))).tick()
    assert [(each.levelno, each.getMessage()) for each in caplog.records] == [
        (logging.WARNING, f"the clock missed a minute: {error}")
    ]


def test_it_ticks_at_once_and_then_each_minute() -> None:
    before = datetime.now(UTC)
    with Running(Ticks()).start_clock() as running:
        assert running.is_through(1)
        first = running.planned
        assert MINUTE <= first - before < MINUTE + timedelta(seconds=30)
        running.hurry()
        assert running.is_through(2)
        assert MINUTE - timedelta(seconds=1) < running.planned - running.ticks.seen[1] < MINUTE * 2


@pytest.mark.parametrize(
    "error",
    [StoreUnavailable("away"), SlackUnavailable("away"), KeyError("a defect")],
    ids=["store", "slack", "defect"],
)
def test_it_goes_on_after_a_tick_that_failed(error: Exception) -> None:
    with Running(Ticks(raise_later(error))).start_clock() as running:
        for count in (1, 2, 3):
            assert running.is_through(count)
            running.hurry()
        assert running.is_through(4)


def test_a_minute_that_comes_while_a_tick_is_running_is_left_out() -> None:
    go_on = threading.Event()
    ticks = Ticks(lambda: go_on.wait(30))
    with Running(ticks).start_clock() as running:
        assert eventually(lambda: ticks.inside)
        running.hurry()
        assert eventually(lambda: running.left_out)
        assert len(ticks.seen) == 1
        go_on.set()
        assert running.is_through(1)
        running.hurry()
        assert running.is_through(2)
    assert ticks.peak == 1


def test_the_minutes_of_a_machine_that_slept_are_one_tick() -> None:
    with Running(Ticks()).start_clock() as running:
        assert running.is_through(1)
        running.hurry(by=3 * HOUR)
        assert running.is_through(2)
        assert running.planned > datetime.now(UTC)


def test_it_goes_on_where_the_clock_of_the_computer_is_set_back(caplog: pytest.LogCaptureFixture) -> None:
    """What it planned is two hours ahead then."""
    with Running(Ticks()).start_clock() as running:
        assert running.is_through(1)
        running.hurry(by=-2 * HOUR)
        assert running.is_through(2)
        assert running.planned < datetime.now(UTC) + 2 * MINUTE
    assert "was set back" in caplog.text


def test_a_clock_that_is_stopped_ends_its_tick_first() -> None:
    go_on = threading.Event()
    ticks = Ticks(lambda: go_on.wait(30))
    with Running(ticks).start_clock():
        assert eventually(lambda: ticks.inside)
        threading.Timer(0.1, go_on.set).start()
    assert (ticks.inside, go_on.is_set()) == (0, True)


def schedule(store: Redis) -> DigestScheduler:
    agenda, cache, records = RedisDueQueue(store), RedisCache(store), digest_store(store)
    return DigestScheduler(
        SubscriptionRepository(RedisSubscriptionStore(store), FIXED),
        agenda,
        DigestRecords(records, lambda: "T0TEAM"),
        cache,
        RedisRunLog(store),
        IncidentReporter(agenda, cache, report_store(store), lambda _: False, MemoryMessenger(), ""),
        timedelta(hours=24),
    )


def test_two_clocks_and_a_restart_send_a_digest_once(store: Redis) -> None:
    jobs = Outbox()

    def tick(clock: DigestScheduler, skew: timedelta) -> None:
        Clock(clock, jobs, lambda: DUE + skew).tick()

    one, other = schedule(store), schedule(store)
    tick(one, -MINUTE)
    tick(other, timedelta(seconds=70))
    tick(one, timedelta(0))
    tick(schedule(store), MINUTE)
    assert jobs == [(deliver_digest, {"name": FIXED.id, "due": DUE})]


@pytest.mark.slow
def test_a_store_that_comes_back_finds_the_clock_ticking(store: Redis, caplog: pytest.LogCaptureFixture) -> None:
    """What was due meanwhile is sent then."""
    jobs = Outbox()
    with connect_server(f"redis://127.0.0.1:{closed_port()}/0") as nothing:
        Clock(schedule(nothing), jobs, lambda: DUE).tick()
    assert "missed a minute" in caplog.text
    Clock(schedule(store), jobs, lambda: DUE + MINUTE).tick()
    assert jobs == [(deliver_digest, {"name": FIXED.id, "due": DUE})]
