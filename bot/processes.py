"""The three processes of the Procfile, each until SIGTERM or Ctrl-C: web, worker and clock."""

from __future__ import annotations

import logging
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime

import waitress
from dramatiq import Worker

from bot.clock import Clock
from bot.config import Settings
from bot.domain.errors import StoreUnavailable, UsageError
from bot.jobs import Jobs
from bot.services.schedule import Schedule
from bot.web import bolt_app, web_app
from bot.wiring import Wiring, required
from handlers import Commands

log = logging.getLogger(__name__)

# milliseconds that a worker has to finish what it runs; what is left goes back to the queue
_LAST_WORK = 25_000


def schedule_of(settings: Settings) -> Schedule:
    """The one daily post that the environment describes.

    Raises:
        UsageError: the repository or the channel is not set.
    """
    if settings.prdigest_repo is None or settings.prdigest_channel is None:
        raise UsageError("Set PRDIGEST_REPO to owner/name and PRDIGEST_CHANNEL to the id of a channel.")
    return Schedule(
        repository=settings.prdigest_repo,
        channel=settings.prdigest_channel,
        name=settings.prdigest_name or settings.prdigest_repo.name,
        zone=settings.prdigest_timezone,
        post_at=settings.prdigest_post_at,
    )


def run_clock(settings: Settings, wiring: Wiring, now: Callable[[], datetime]) -> None:
    """Enqueue what is due, every minute."""
    schedule = schedule_of(settings)
    with _until_told_to_stop("clock") as stopped:
        scheduler = Clock(schedule, Jobs(wiring).digest, wiring.cache, now).start()
        stopped.wait()
        scheduler.shutdown()


def run_worker(settings: Settings, wiring: Wiring) -> None:
    """Run jobs. What runs at SIGTERM is finished; what does not finish in time is run again by another worker."""
    with _until_told_to_stop("worker") as stopped:
        jobs = Jobs(wiring)
        worker = Worker(jobs.broker, worker_threads=settings.prdigest_worker_threads)
        worker.start()
        stopped.wait()
        worker.stop(timeout=_LAST_WORK)
        jobs.broker.close()


def run_web(settings: Settings, wiring: Wiring, now: Callable[[], datetime]) -> None:
    """Serve Slack's requests on PORT."""
    jobs = Jobs(wiring)
    secret = required(settings.slack_signing_secret, "SLACK_SIGNING_SECRET", "the app's signing secret")
    commands = Commands(jobs.summary, jobs.risks, jobs.digest, schedule_of(settings), now)
    server = waitress.create_server(
        web_app(bolt_app(wiring.slack, secret, commands), lambda: _answers(wiring)),
        host="0.0.0.0",  # noqa: S104 (a web process of a Procfile serves the world; Slack's signature guards it)
        port=settings.port,
        threads=8,
        connection_limit=1_000,
    )
    with _until_told_to_stop("web") as stopped:
        # Bolt asks Slack who it is on the first request, and loses that request if the token is bad
        wiring.messenger.team()
        threading.Thread(target=server.run, daemon=True, name="web").start()
        log.info("listening on port %s", server.effective_port)
        stopped.wait()
        server.close()


def _answers(wiring: Wiring) -> bool:
    try:
        wiring.cache.get("ready")
    except StoreUnavailable:
        return False
    return True


@contextmanager
def _until_told_to_stop(name: str) -> Iterator[threading.Event]:
    stopped = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopped.set())
    log.info("%s started", name)
    yield stopped
    log.info("%s stopped", name)
