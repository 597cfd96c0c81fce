"""The queues of a store, with an actor for each kind of job."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

from dramatiq import Actor, BrokerError, Worker
from redis import Redis

from bot.app import App
from bot.errors import StoreUnavailable, UsageError
from bot.jobs import asker_jobs, lost_jobs  # noqa: F401 (they declare their jobs)
from bot.jobs.observer import JobObserver, read_asker
from bot.platform import deadlines
from bot.platform.costs import bill_to, name_payer
from bot.platform.deadlines import ShutdownSignal
from bot.platform.dramatiq.broker import make_broker
from bot.platform.dramatiq.retries import wrap_job
from bot.platform.jobs import JOBS, Job, QueueName
from bot.platform.metrics import Instruments
from bot.platform.store.errors import translate_redis_errors
from bot.platform.store.keyspace import Keyspace
from bot.usage import BudgetRefusal

# days of a busy repository that were never read take minutes; such jobs don't keep the quick ones waiting
_LONG_THREADS = 2
# milliseconds between two looks of a thread whether it is to end, and whether a job that waits is due
_POLL_MILLISECONDS = 200


@dataclass(frozen=True, slots=True)
class JobTimeLimits:
    """Time limits for one attempt of a job, in seconds.

    The asker of a ``quick`` job is told its result within that time. A day of a busy repository that was never
    read takes a minute, and an overview has up to fourteen days (``long``). Each question in a thread has a time
    limit of its own, so their job has none. A job with a delay begins after ``delay_factor`` times that delay.
    """

    quick: float = 120.0
    long: float = 1_200.0
    delay_factor: float = 1.0

    def get_time_limit(self, lane: QueueName) -> float:
        """Return the time limit of the jobs on a queue."""
        return {QueueName.QUICK: self.quick, QueueName.LONG: self.long, QueueName.TALK: math.inf}[lane]


class DramatiqJobQueue:
    """``JobQueue`` on a store, with an actor for each kind of job that is declared by now. Workers run the jobs.

    ``app`` does the jobs; a process that only sends has none here. ``shutdown`` interrupts running jobs, which go
    back to their queues. ``instruments`` count them.
    """

    def __init__(
        self,
        store: Redis,
        keyspace: Keyspace,
        app: App | None = None,
        shutdown: ShutdownSignal | None = None,
        times: JobTimeLimits = JobTimeLimits(),
        instruments: Instruments | None = None,
    ) -> None:
        self._app = app
        self._shutdown = shutdown or ShutdownSignal()
        self._times = times
        report = partial(lost_jobs.enqueue_loss_report, self)
        self._brokers = {
            lane: make_broker(store, report, keyspace, JobObserver(instruments)) for lane in QueueName
        }
        if app:
            # what a job enqueues goes on the same queues
            app.jobs = self
        self._actors = {each.name: self._make_actor(each) for each in JOBS}

    def send(self, job: Job[Any], payload: dict[str, Any]) -> None:
        """Enqueue a job. Raises StoreUnavailable."""
        delay = round(job.delay * self._times.delay_factor) or None
        try:
            with translate_redis_errors():
                self._actors[job.name].send_with_options(args=(job.encode(payload),), delay=delay)
        except BrokerError as error:
            raise StoreUnavailable("The store does not accept jobs: start Redis or check REDIS_URL.") from error

    def make_workers(self, threads: int) -> tuple[Worker, ...]:
        """Create the workers: ``threads`` for quick jobs, as many for questions, two for long jobs."""
        counts = {QueueName.QUICK: threads, QueueName.TALK: threads, QueueName.LONG: _LONG_THREADS}
        return tuple(
            Worker(self._brokers[lane], worker_threads=count, worker_timeout=_POLL_MILLISECONDS)
            for lane, count in counts.items()
        )

    def close(self) -> None:
        """Close the brokers."""
        for broker in self._brokers.values():
            broker.close()

    def _make_actor(self, kind: Job[Any]) -> Actor[Any, None]:
        def work(*arguments: Any) -> None:
            if self._app is None:
                raise RuntimeError("this process has nothing to run jobs with")
            asker = read_asker(arguments)
            # at the cost of the asker or, without one, of the bot; a spent budget is told once a day
            with bill_to(name_payer(asker) if asker else "") as account:
                try:
                    kind.run(self._app, **kind.decode(arguments))
                except UsageError as error:
                    # the settings allowed it when it was enqueued, and no longer do
                    if asker is None:
                        raise
                    self._app.replies.tell_asker(asker, str(error))
            if asker and BudgetRefusal.PERSON_USED in account.refusals:
                self._app.replies.report_spent_budget(asker, self._app.get_today())

        work.__name__ = kind.name
        # Dramatiq's own time limit does not work in workers that share a process, and can't interrupt a thread
        # that waits for another one
        limit_time = partial(
            deadlines.bound_work, self._times.get_time_limit(kind.lane), self._shutdown, deadlines.MAX_WAITS
        )
        retries = {"max_retries": kind.retries.max_retries, "min_backoff": kind.retries.first_pause}
        if kind.retries.longest_pause is not None:
            retries["max_backoff"] = kind.retries.longest_pause
        return Actor(
            wrap_job(work, limit_time),
            broker=self._brokers[kind.lane],
            actor_name=kind.name,
            queue_name=kind.lane.value,
            priority=0,
            options=retries,
        )
