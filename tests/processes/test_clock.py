from __future__ import annotations

import datetime as dt
import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest
from apscheduler.events import EVENT_JOB_ERROR, EVENT_JOB_EXECUTED, EVENT_JOB_MAX_INSTANCES
from redis import Redis

from bot.clock import Clock
from bot.errors import PrdigestError, SlackCallRefused, SlackUnavailable, StoreUnavailable
from bot.features.digest.posts import DigestRecords
from bot.features.subscriptions.rules import Subscription, Timing
from bot.features.subscriptions.schedule import deliver_digest
from bot.platform.store.connection import RedisCache, connect_server
from bot.platform.store.due_queue import DueItem, DueQueue
from bot.settings import load_settings
from tests.helpers.apps import make_app
from tests.helpers.builders import DAY, REPOSITORY
from tests.helpers.checks import closed_port, eventually
from tests.helpers.doubles import Outbox
from tests.helpers.records import digest_store

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
FIXED = Subscription("C0DIGEST", REPOSITORY, Timing(dt.time(9), DAY.zone))
DUE = FIXED.timing.get_due_time(dt.date(2026, 3, 1))


class Ticks(DueQueue):
    """A queue that counts when it was asked what is due, and by how many ticks at a time; ``act`` is each tick."""

    def __init__(self, store: Redis, act: Callable[[], object] = lambda: None) -> None:
        super().__init__(store)
        self.act = act
        self.seen: list[datetime] = []
        self.inside = self.peak = 0

    def list_due(self, now: datetime) -> Sequence[tuple[DueItem[Any], datetime]]:
        self.inside += 1
        self.peak = max(self.peak, self.inside)
        self.seen.append(now)
        try:
            self.act()
        finally:
            self.inside -= 1
        return []


def clock_of(store: Redis, ticks: Ticks) -> Clock:
    app = make_app(store, now=lambda: datetime.now(UTC), cache=RedisCache(store), due_queue=ticks)
    return Clock(app, Outbox())


@dataclass
class Running:
    """A clock that was started, whose minutes can be hurried. Nothing ticks before it is watched."""

    store: Redis
    ticks: Ticks
    ended: int = 0
    left_out: int = 0

    @contextmanager
    def start_clock(self) -> Iterator[Running]:
        act, is_watched = self.ticks.act, threading.Event()
        self.ticks.act = lambda: (is_watched.wait(30), act())
        self._scheduler = clock_of(self.store, self.ticks).start()
        self._scheduler.add_listener(self._hear, EVENT_JOB_EXECUTED | EVENT_JOB_ERROR | EVENT_JOB_MAX_INSTANCES)
        is_watched.set()
        try:
            yield self
        finally:
            self._scheduler.shutdown()

    @property
    def planned(self) -> datetime:
        return cast("datetime", self._scheduler.get_jobs()[0].next_run_time)

    def hurry(self, by: timedelta = timedelta(0)) -> None:
        """The next tick is due now, or was some time ago."""
        self._scheduler.get_jobs()[0].modify(next_run_time=datetime.now(UTC) - by)

    def is_through(self, count: int) -> bool:
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
    store: Redis, error: PrdigestError, caplog: pytest.LogCaptureFixture
) -> None:
    clock_of(store, Ticks(store, raise_later(error))).tick()
    assert [(each.levelno, each.getMessage()) for each in caplog.records] == [
        (logging.WARNING, f"the clock missed a minute: {error}")
    ]


def test_it_ticks_at_once_and_then_each_minute(store: Redis) -> None:
    before = datetime.now(UTC)
    with Running(store, Ticks(store)).start_clock() as running:
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
def test_it_goes_on_after_a_tick_that_failed(store: Redis, error: Exception) -> None:
    with Running(store, Ticks(store, raise_later(error))).start_clock() as running:
        for count in (1, 2, 3):
            assert running.is_through(count)
            running.hurry()
        assert running.is_through(4)


def test_a_minute_that_comes_while_a_tick_is_running_is_left_out(store: Redis) -> None:
    go_on = threading.Event()
    ticks = Ticks(store, lambda: go_on.wait(30))
    with Running(store, ticks).start_clock() as running:
        assert eventually(lambda: ticks.inside)
        running.hurry()
        assert eventually(lambda: running.left_out)
        assert len(ticks.seen) == 1
        go_on.set()
        assert running.is_through(1)
        running.hurry()
        assert running.is_through(2)
    assert ticks.peak == 1


def test_the_minutes_of_a_machine_that_slept_are_one_tick(store: Redis) -> None:
    with Running(store, Ticks(store)).start_clock() as running:
        assert running.is_through(1)
        running.hurry(by=3 * HOUR)
        assert running.is_through(2)
        assert running.planned > datetime.now(UTC)


def test_it_goes_on_where_the_clock_of_the_computer_is_set_back(
    store: Redis, caplog: pytest.LogCaptureFixture
) -> None:
    """What it planned is two hours ahead then."""
    with Running(store, Ticks(store)).start_clock() as running:
        assert running.is_through(1)
        running.hurry(by=-2 * HOUR)
        assert running.is_through(2)
        assert running.planned < datetime.now(UTC) + 2 * MINUTE
    assert "was set back" in caplog.text


def test_a_clock_that_is_stopped_ends_its_tick_first(store: Redis) -> None:
    go_on = threading.Event()
    ticks = Ticks(store, lambda: go_on.wait(30))
    with Running(store, ticks).start_clock():
        assert eventually(lambda: ticks.inside)
        threading.Timer(0.1, go_on.set).start()
    assert (ticks.inside, go_on.is_set()) == (0, True)


def open_clock(store: Redis, jobs: Outbox, now: datetime) -> Clock:
    parts = {
        "prdigest_repo": REPOSITORY,
        "prdigest_channel": FIXED.channel,
        "prdigest_post_at": FIXED.timing.at,
        "prdigest_timezone": DAY.zone,
    }
    return Clock(
        make_app(
            store,
            now=lambda: now,
            settings=load_settings().model_copy(update=parts),
            cache=RedisCache(store),
            digest_records=DigestRecords(digest_store(store), lambda: "T0TEAM"),
        ),
        jobs,
    )


def test_two_clocks_and_a_restart_send_a_digest_once(store: Redis) -> None:
    jobs = Outbox()
    for skew in (-MINUTE, timedelta(seconds=70), timedelta(0), MINUTE):
        open_clock(store, jobs, DUE + skew).tick()
    assert jobs == [(deliver_digest, {"name": FIXED.id, "due": DUE})]


@pytest.mark.slow
def test_a_store_that_comes_back_finds_the_clock_ticking(store: Redis, caplog: pytest.LogCaptureFixture) -> None:
    """What was due meanwhile is sent then."""
    jobs = Outbox()
    with connect_server(f"redis://127.0.0.1:{closed_port()}/0") as nothing:
        open_clock(nothing, jobs, DUE).tick()
    assert "missed a minute" in caplog.text
    open_clock(store, jobs, DUE + MINUTE).tick()
    assert jobs == [(deliver_digest, {"name": FIXED.id, "due": DUE})]
