"""The processes of the Procfile, each until SIGTERM or Ctrl-C: web, worker, clock, or all of them in one."""

from __future__ import annotations

import logging
import math
import signal
import threading
from _thread import start_new_thread
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial

from bot.app import App, prepare_clock, prepare_listeners, prepare_worker
from bot.clock import Clock
from bot.errors import GitHubUnavailable, RateLimited, SlackUnavailable
from bot.features.renames import follow_renames
from bot.http_server import serve_app
from bot.jobs.queues import DramatiqJobQueue, JobTimeLimits
from bot.monitoring import monitor_process
from bot.platform import deadlines
from bot.platform.deadlines import ProcessShutdown, ShutdownSignal
from bot.platform.dramatiq.broker import stop_workers
from bot.settings import ListenAddress, Process, require_secret
from bot.web import MAX_REQUEST_BYTES, add_events_route, connect_socket_mode, create_bolt_app, create_web_app
from handlers import COMMANDS
from handlers.declaration import Commands

log = logging.getLogger(__name__)

# seconds that running jobs have after SIGTERM; then they are interrupted and return to their queue
_JOB_GRACE = 12.0
_JOB_TIMES = JobTimeLimits()
# seconds for that return. With those for the threads that fetch jobs the sum stays below the twenty of a process
_REQUEUE_TIME = 2.0
# seconds; the system may hand a signal to any thread, as after a freeze, and Python runs the handler in the main
# thread alone, which has to wake up for it
_SIGNAL_POLL_INTERVAL = 1.0
# seconds between two calls to a Slack that does not answer
_SLACK_RETRY_INTERVAL = 5.0
_SIGNING_SECRET_HINT = "the app's signing secret, or SLACK_APP_TOKEN for Socket Mode"  # noqa: S105 (what it is)


def run_clock(app: App) -> None:
    _run_process(app, "clock", Process.CLOCK, partial(_start_clock, app))


def run_worker(app: App) -> None:
    """Run jobs: one that runs at SIGTERM is finished, or returns to its queue if it takes too long."""
    _run_process(app, "worker", Process.WORKER, partial(_start_workers, app))


def run_web(app: App) -> None:
    """Receive Slack's requests over Socket Mode if there is an app token, else on PORT."""
    _run_process(app, "web", Process.WEB, lambda _: _serve_web(app), app.settings.web_address)


def run_all(app: App, times: JobTimeLimits = _JOB_TIMES) -> None:
    """Run all of them in this process; ``times`` are those of the jobs."""
    _run_process(app, "prdigest", Process.WEB, partial(run_processes, app, times=times), app.settings.web_address)


def _run_process(
    app: App,
    name: str,
    process: Process,
    start: Callable[[ShutdownSignal], AbstractContextManager[object]],
    address: ListenAddress | None = None,
) -> None:
    stop_event = listen_for_stop_signals()
    with limit_shutdown(stop_event) as ending:
        _claim_store(app, stop_event, address)
        with monitor_process(app, process), start(ending):
            log.info("%s started", name)
            wait_for_signal(stop_event)
            log.info("%s stops", name)


def _claim_store(app: App, stop_event: threading.Event, address: ListenAddress | None) -> None:
    """Check that the store is this workspace's before anything in it changes, and follow renames; wait for both.

    Meanwhile ``address`` answers health checks with "not ready". Raises ConfigurationError for another
    workspace's store, and ProcessShutdown.
    """
    with ExitStack() as parts:
        while True:
            try:
                app.claim_store()
                follow_renames(app)
            except SlackUnavailable as error:
                log.warning("waiting for Slack, which has to say whose bot this is: %s", error)
            except (GitHubUnavailable, RateLimited) as error:
                log.warning("waiting for GitHub, which has to say what was renamed: %s", error)
            else:
                return
            if address is not None:
                web = create_web_app(lambda: False)
                parts.enter_context(serve_app(web, address.host, address.port, MAX_REQUEST_BYTES))
                address = None
            if stop_event.wait(_SLACK_RETRY_INTERVAL):
                raise ProcessShutdown


@contextmanager
def limit_shutdown(stop_event: threading.Event, last_work: float = _JOB_GRACE) -> Iterator[ShutdownSignal]:
    """Yield an ending that comes ``last_work`` seconds after ``stop_event`` is set.

    It also applies to the block itself.

    At that moment the block ends without an error, and running jobs are interrupted, whatever they wait for.
    """
    ending, is_through = ShutdownSignal(), threading.Event()

    def wait() -> None:
        stop_event.wait()
        if not is_through.wait(last_work):
            log.info("what is not done goes back")
            ending.trigger()

    threading.Thread(target=wait, daemon=True, name="ending").start()
    try:
        with deadlines.bound_work(math.inf, ending):
            yield ending
    except ProcessShutdown:
        log.info("stopped before it was ready")
    finally:
        is_through.set()
        stop_event.set()


@contextmanager
def run_processes(
    app: App,
    ending: ShutdownSignal,
    host: str = "",
    last_work: float = _JOB_GRACE,
    commands: Commands = COMMANDS,
    times: JobTimeLimits = _JOB_TIMES,
) -> Iterator[int]:
    """Run all of them in this process until the end of the block; yield the port of the web process on ``host``.

    ``last_work`` is the number of seconds that running jobs have at the end; ``ending`` interrupts them then.
    """
    with ExitStack() as parts:
        parts.enter_context(_start_workers(app, ending, last_work, times))
        port = parts.enter_context(_serve_web(app, commands, host))
        # last: who reads its first digest can press a button of it
        parts.enter_context(_start_clock(app, ending))
        yield port


@contextmanager
def _start_clock(app: App, ending: ShutdownSignal) -> Iterator[None]:
    prepare_clock(app)
    jobs = DramatiqJobQueue(app.store, app.keyspace)
    ticking = Clock(app, jobs, ending).start()
    try:
        yield
    finally:
        ticking.shutdown()
        jobs.close()


@contextmanager
def _start_workers(
    app: App, ending: ShutdownSignal, last_work: float = _JOB_GRACE, times: JobTimeLimits = _JOB_TIMES
) -> Iterator[None]:
    # the first job would wait for it
    app.sources.open_sources()
    prepare_worker(app)
    jobs = DramatiqJobQueue(app.store, app.keyspace, app, ending, times, instruments=app.instruments)
    workers = jobs.make_workers(app.settings.prdigest_worker_threads)
    for worker in workers:
        worker.start()
    try:
        yield
    finally:
        stop_workers(workers, last_work + _REQUEUE_TIME)
        jobs.close()


@contextmanager
def _serve_web(app: App, commands: Commands = COMMANDS, host: str = "") -> Iterator[int]:
    app = app.hurry()
    settings = app.settings
    address = settings.web_address
    host = host or address.host
    prepare_listeners(app)
    app.jobs = DramatiqJobQueue(app.store, app.keyspace)
    bolt = create_bolt_app(app.slack, app, commands)
    if settings.slack_app_token is None:
        secret = require_secret(settings.slack_signing_secret, "SLACK_SIGNING_SECRET", _SIGNING_SECRET_HINT)
        web = create_web_app(app.is_store_writable)
        add_events_route(web, bolt, secret, app.instruments)
        with serve_app(web, host, address.port, MAX_REQUEST_BYTES) as port:
            yield port
        return
    token = settings.slack_app_token.get_secret_value()
    with connect_socket_mode(bolt, token, app.instruments) as is_connected:
        log.info("connected in Socket Mode")
        web = create_web_app(lambda: is_connected() and app.is_store_writable())
        with serve_app(web, host, address.port, MAX_REQUEST_BYTES) as port:
            yield port


def listen_for_stop_signals() -> threading.Event:
    """Return an event that SIGTERM, Ctrl-C or SIGHUP sets; an ignored SIGHUP, as under nohup, stays ignored."""
    stop_event = threading.Event()
    numbers = [signal.SIGTERM, signal.SIGINT]
    # Windows has no SIGHUP
    hangup = getattr(signal, "SIGHUP", None)
    if hangup and signal.getsignal(hangup) != signal.SIG_IGN:
        numbers.append(hangup)
    for number in numbers:
        # by a thread: a second signal may come while the first one is about to set it, and would wait for itself
        signal.signal(number, lambda *_: start_new_thread(stop_event.set, ()))
    return stop_event


def wait_for_signal(stop_event: threading.Event) -> None:
    """Wait in the main thread for the event of ``listen_for_stop_signals``."""
    while not stop_event.wait(_SIGNAL_POLL_INTERVAL):
        pass
