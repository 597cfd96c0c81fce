"""The clock process: puts what is due on the queues once a minute. It keeps no state of its own."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from apscheduler.schedulers.background import BackgroundScheduler

from bot.app import App
from bot.errors import PrdigestError
from bot.features.subscriptions.schedule import enqueue_due, plan_digests
from bot.platform import deadlines
from bot.platform.deadlines import ProcessShutdown, ShutdownSignal
from bot.platform.jobs import JobQueue

log = logging.getLogger(__name__)

_TICK_INTERVAL = timedelta(minutes=1)
# seconds; the next tick, a minute later, continues where this one was interrupted
_TICK_TIMEOUT = 50.0


class _ClockResetScheduler(BackgroundScheduler):  # type: ignore[misc]
    """A scheduler that keeps running when the computer's clock is set back.

    The library waits in monotonic time and plans by the computer's clock: after the clock is set back by two
    hours, it would do nothing for two hours.
    """

    def _process_jobs(self) -> float | None:
        """Run what is due; make a job due at once if its next run is further away than the interval."""
        now = datetime.now(UTC)
        for job in self.get_jobs():
            if job.next_run_time > now + _TICK_INTERVAL:
                log.warning("the computer's clock was set back to %s", now.isoformat(timespec="seconds"))
                job.modify(next_run_time=now)
        return super()._process_jobs()  # type: ignore[no-any-return]


@dataclass
class Clock:
    """The source of ticks; ``ending`` interrupts one. Several clocks, restarts and missed ticks change nothing."""

    _app: App
    _jobs: JobQueue
    _ending: ShutdownSignal = field(default_factory=ShutdownSignal)
    _is_planned: bool = field(default=False, init=False)

    def tick(self) -> None:
        """Put what is due on the queues. If a service is unavailable, leave it to the next minute's tick."""
        try:
            with deadlines.bound_work(_TICK_TIMEOUT, self._ending):
                if not self._is_planned:
                    plan_digests(self._app)
                    self._is_planned = True
                enqueue_due(self._app, self._jobs)
        except ProcessShutdown:
            log.info("the clock stops in the middle of a tick; the next one goes on from there")
        except PrdigestError as error:
            log.warning("the clock missed a minute: %s", error)

    def start(self) -> BackgroundScheduler:
        defaults = {"coalesce": True, "misfire_grace_time": None, "max_instances": 1}
        scheduler = _ClockResetScheduler(timezone="UTC", job_defaults=defaults)
        first, seconds = self._app.now(), _TICK_INTERVAL.total_seconds()
        scheduler.add_job(self.tick, "interval", seconds=seconds, next_run_time=first)
        scheduler.start()
        return scheduler
