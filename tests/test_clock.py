"""When a digest is due, and that it is enqueued once whatever the clocks do."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from typing import Any

import pytest
from redis import Redis

from bot.adapters.store import RedisCache, connect
from bot.clock import Clock
from bot.domain.days import zone_of
from bot.services.schedule import Schedule
from tests.support import REPOSITORY

PLAN = Schedule(REPOSITORY, "C0DIGEST", zone_of("America/Los_Angeles"), time(9, 0))


class Queue:
    """Records what is sent."""

    def __init__(self) -> None:
        self.sent: list[tuple[Any, ...]] = []

    def send(self, *arguments: Any) -> None:
        self.sent.append(arguments)


DUE = [
    pytest.param("2026-03-01T16:59:59+00:00", None, id="a second early"),
    pytest.param("2026-03-01T17:00:00+00:00", "2026-02-28", id="at nine"),
    pytest.param("2026-03-02T07:59:59+00:00", "2026-02-28", id="late, before midnight"),
    pytest.param("2026-03-02T08:00:00+00:00", None, id="the next day has begun"),
    pytest.param("2026-03-08T16:00:00+00:00", "2026-03-07", id="nine on the night the clocks went forward"),
    pytest.param("2026-11-01T16:59:59+00:00", None, id="not yet nine on the night they went back"),
    pytest.param("2026-11-01T17:00:00+00:00", "2026-10-31", id="nine on the night they went back"),
]


@pytest.mark.parametrize(("now", "date"), DUE)
def test_yesterdays_digest_is_due_from_its_time_until_midnight(now: str, date: str | None) -> None:
    due = PLAN.due(datetime.fromisoformat(now))
    assert (str(due.date) if due else None) == date


def test_a_time_that_is_skipped_or_doubled_comes_once_a_day() -> None:
    plan = replace(PLAN, post_at=time(1, 30))
    start = datetime(2026, 10, 31, 7, tzinfo=UTC)
    dates = {plan.due(start + timedelta(minutes=minute)) for minute in range(3 * 24 * 60)}
    assert sorted(str(day.date) for day in dates if day) == ["2026-10-30", "2026-10-31", "2026-11-01"]


def test_many_clocks_enqueue_a_digest_once(store: Redis, store_url: str) -> None:
    queue = Queue()
    now = datetime(2026, 3, 1, 18, tzinfo=UTC)

    def tick(skew: int) -> None:
        with connect(store_url) as client:
            clock = Clock(PLAN, queue, RedisCache(client), lambda: now + timedelta(seconds=skew))
            clock.tick()
            clock.tick()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(tick, range(4)))
    assert queue.sent == [("C0DIGEST", "octo/engine", "2026-02-28", "America/Los_Angeles")]


def test_a_clock_without_a_store_goes_on_ticking() -> None:
    with connect("redis://127.0.0.1:9") as nothing:
        queue = Queue()
        Clock(PLAN, queue, RedisCache(nothing), lambda: datetime(2026, 3, 1, 18, tzinfo=UTC)).tick()
    assert queue.sent == []
