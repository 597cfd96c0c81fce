"""The clock: once a minute it asks what is due and puts it on the queue. It keeps nothing in its head."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime, timedelta

from apscheduler.schedulers.background import BackgroundScheduler

from bot.domain.errors import StoreUnavailable
from bot.ports import Cache, Queue
from bot.services.schedule import Schedule

log = logging.getLogger(__name__)

# a job that was lost is put on the queue again after that long; one that was done does nothing the second time
_AGAIN = timedelta(hours=1)


class Clock:
    """Enqueues what is due. Several clocks, restarts and missed ticks change nothing."""

    def __init__(self, schedule: Schedule, digests: Queue, cache: Cache, now: Callable[[], datetime]) -> None:
        self._schedule = schedule
        self._digests = digests
        self._cache = cache
        self._now = now

    def tick(self) -> None:
        """Enqueue the digest that is due, unless this was done within the hour."""
        day = self._schedule.due(self._now())
        if day is None:
            return
        plan = self._schedule
        key = f"enqueued:{plan.channel}:{plan.repository}:{day.date}"
        try:
            with self._cache.lease(key):
                if self._cache.get(key) is None:
                    self._digests.send(plan.channel, str(plan.repository), str(day.date), str(day.zone))
                    self._cache.put(key, "1", _AGAIN)
        except StoreUnavailable as error:
            log.warning("the clock missed a minute: %s", error)

    def start(self) -> BackgroundScheduler:
        """Tick at once and then every minute, in a thread of the scheduler."""
        scheduler = BackgroundScheduler(timezone="UTC")
        scheduler.add_job(
            self.tick,
            "interval",
            minutes=1,
            next_run_time=self._now(),
            coalesce=True,
            misfire_grace_time=None,
            max_instances=1,
        )
        scheduler.start()
        return scheduler
