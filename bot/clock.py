"""The clock: once a minute it looks at what is due. It keeps nothing in its head."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime

from apscheduler.schedulers.background import BackgroundScheduler

from bot.domain.errors import PrdigestError
from bot.ports import Queue
from bot.services.schedule import Schedule

log = logging.getLogger(__name__)


class Clock:
    """Ticks. Several clocks, restarts and missed ticks change nothing."""

    def __init__(
        self, schedule: Schedule, digests: Queue, mends: Queue, watches: Queue, now: Callable[[], datetime]
    ) -> None:
        self._schedule = schedule
        self._digests = digests
        self._mends = mends
        self._watches = watches
        self._now = now

    def tick(self) -> None:
        """Put what is due on the queues; while a service is away, the next minute is waited for."""
        try:
            self._schedule.tick(self._now(), self._digests, self._mends, self._watches)
        except PrdigestError as error:
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
