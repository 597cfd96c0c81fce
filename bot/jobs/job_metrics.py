"""Metrics of the jobs that a worker runs."""

from __future__ import annotations

import logging
import time
from threading import get_ident
from typing import Any

from dramatiq import Actor, Broker, MessageProxy
from dramatiq.common import current_millis
from dramatiq.middleware import Middleware

from bot.adapters.redis import JobInterruption, JobPostponement
from bot.platform.metrics import Instruments

log = logging.getLogger(__name__)

_LOST = "lost"


class JobMetrics(Middleware):
    """Middleware that counts the attempts of jobs by their result, and measures their time."""

    def __init__(self, instruments: Instruments) -> None:
        self._instruments = instruments
        # by thread, not by message: a job that is put back may begin in another thread before it ends in this one
        self._began: dict[int, float] = {}

    def after_declare_actor(self, broker: Broker, actor: Actor[Any, Any]) -> None:
        """Begin to count the lost jobs of a kind at zero: the first one is an increase that an alarm sees."""
        self._instruments.jobs.labels(actor.actor_name, _LOST)

    def before_process_message(self, broker: Broker, message: MessageProxy) -> None:
        """Note when an attempt begins; of a new job also how long it waited."""
        self._began[get_ident()] = time.monotonic()
        self._instruments.jobs_running.labels(message.queue_name).inc()
        if not message.options.keys() & {"eta", "retries"}:
            # another machine may have enqueued it, whose clock may be ahead
            waited = max(0, current_millis() - message.message_timestamp)
            self._instruments.job_wait_seconds.labels(message.queue_name).observe(waited / 1_000)

    def after_process_message(
        self, broker: Broker, message: MessageProxy, *, result: Any = None, exception: BaseException | None = None
    ) -> None:
        """Count an attempt when all is decided about its job."""
        self._instruments.jobs_running.labels(message.queue_name).dec()
        seconds = time.monotonic() - self._began.pop(get_ident(), time.monotonic())
        self._instruments.job_seconds.labels(message.actor_name).observe(seconds)
        outcome = _name_result(message, exception)
        self._instruments.jobs.labels(message.actor_name, outcome).inc()
        log.info("job %s: %s after %.1f s", message.actor_name, outcome, seconds)


def _name_result(message: MessageProxy, exception: BaseException | None) -> str:
    """Return what became of a job in this attempt."""
    if message.failed:
        return _LOST
    match exception:
        case None:
            return "done"
        case JobInterruption():
            return "interrupted"
        case JobPostponement():
            return "postponed"
        case _:
            return "retried"
