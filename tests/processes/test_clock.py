from __future__ import annotations

import datetime as dt
import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
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

MINUTE = timedelta(minutes=1)
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


@contextmanager
def running(store: Redis, ticks: Ticks, seconds: float = 0.05) -> Iterator[Ticks]:
    with clock_of(store, ticks).run(seconds):
        yield ticks


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
    with clock_of(store, ticks := Ticks(store)).run():
        assert eventually(lambda: ticks.seen)
        time.sleep(0.3)
    assert len(ticks.seen) == 1
    with running(store, Ticks(store), 0.5) as hurried:
        assert eventually(lambda: len(hurried.seen) == 4)
    pauses = [after - before for before, after in pairwise(hurried.seen)]
    assert all(timedelta(seconds=0.45) < pause < timedelta(seconds=2) for pause in pauses)


@pytest.mark.parametrize(
    "error",
    [StoreUnavailable("away"), SlackUnavailable("away"), KeyError("a defect")],
    ids=["store", "slack", "defect"],
)
def test_it_goes_on_after_a_tick_that_failed(store: Redis, error: Exception) -> None:
    with running(store, Ticks(store, raise_later(error))) as failing:
        assert eventually(lambda: len(failing.seen) >= 4)


def test_the_minutes_that_come_while_a_tick_is_running_are_one_tick(store: Redis) -> None:
    go_on = threading.Event()
    with running(store, Ticks(store, lambda: go_on.wait(30)), 0.2) as ticks:
        assert eventually(lambda: ticks.inside)
        time.sleep(1.0)
        assert len(ticks.seen) == 1
        go_on.set()
        assert eventually(lambda: len(ticks.seen) >= 2)
        assert len(ticks.seen) <= 4
    assert ticks.peak == 1


@pytest.mark.parametrize("hours", [-2, 2], ids=["back", "forth"])
def test_it_goes_on_where_the_clock_of_the_computer_is_set(store: Redis, hours: int) -> None:
    now = [datetime.now(UTC)]
    app = make_app(store, now=lambda: now[0], cache=RedisCache(store), due_queue=(ticks := Ticks(store)))
    with Clock(app, Outbox()).run(0.1):
        assert eventually(lambda: ticks.seen)
        now[0] += timedelta(hours=hours)
        assert eventually(lambda: now[0] in ticks.seen)


def test_a_clock_that_is_stopped_ends_its_tick_first(store: Redis) -> None:
    go_on = threading.Event()
    with running(store, Ticks(store, lambda: go_on.wait(30))) as ticks:
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
