"""The clock process: puts what is due on the queues once a minute. It keeps no state of its own."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from bot.app import App
from bot.errors import PrdigestError
from bot.features.subscriptions.schedule import enqueue_due, plan_digests
from bot.platform import deadlines
from bot.platform.deadlines import ProcessShutdown, ShutdownSignal
from bot.platform.jobs import JobQueue

log = logging.getLogger(__name__)

_TICK_SECONDS = 60.0
# seconds; the next tick, a minute later, continues where this one was interrupted
_TICK_TIMEOUT = 50.0


class Clock:
    """The source of ticks; ``ending`` interrupts one. Several clocks, restarts and missed ticks change nothing."""

    def __init__(self, app: App, jobs: JobQueue, ending: ShutdownSignal | None = None) -> None:
        self._app = app
        self._jobs = jobs
        self._ending = ending or ShutdownSignal()
        self._is_planned = False

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

    @contextmanager
    def run(self, seconds: float = _TICK_SECONDS) -> Iterator[None]:
        """Tick in a thread, now and every so many seconds, until the end of the block and of its last tick."""
        stopped = threading.Event()
        thread = threading.Thread(target=self._tick_until, args=(stopped, seconds), daemon=True, name="clock")
        thread.start()
        try:
            yield
        finally:
            stopped.set()
            thread.join(_TICK_TIMEOUT)

    def _tick_until(self, stopped: threading.Event, seconds: float) -> None:
        pause = 0.0
        # the computer's clock may be set back: waits are in monotonic time
        while not stopped.wait(pause):
            began = time.monotonic()
            try:
                self.tick()
            except Exception:
                log.exception("a defect in a tick of the clock")
            pause = max(0.0, began + seconds - time.monotonic())
