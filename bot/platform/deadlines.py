"""Deadlines of work: every call, wait and sleep in it keeps to them, and to the end of the process.

Both are passed on with the work: through every call, and into the threads of an executor
(:mod:`bot.platform.worker_threads`). Seconds are those of a clock that never goes back.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

# seconds that services may make one attempt of a job wait in all; for a longer wait the job is tried again later
MAX_WAITS = 60.0
# what an asker reads when the time is up
TOO_LONG = "That took too long, so I stopped: try again in a few minutes. I keep what I have read so far."


class ProcessShutdown(BaseException):
    """Signal that the process ends: another has to do the work. It is no failure, and is reported to nobody."""


class WorkStopped(ProcessShutdown):
    """Signal that who asked for the work wants no more of it."""


class ShutdownSignal:
    """The end of a process, or of one piece of its work. It comes once, and interrupts everything that waits.

    Work ends with its ``process``, too. If it alone ends, WorkStopped takes the place of ``ProcessShutdown``.
    """

    def __init__(self, process: ShutdownSignal | None = None) -> None:
        self._process = process
        self._event = threading.Event()
        self._callbacks: set[Callable[[], None]] = set()
        self._lock = threading.Lock()

    def trigger(self) -> None:
        """End the pauses and calls of all work that has this signal. They raise ``ProcessShutdown``."""
        with self._lock:
            self._event.set()
            callbacks = tuple(self._callbacks)
        for callback in callbacks:
            callback()

    @property
    def is_triggered(self) -> bool:
        return self._event.is_set()

    def build_error(self) -> ProcessShutdown:
        return ProcessShutdown() if self._process is None or self._process.is_triggered else WorkStopped()

    def raise_if_triggered(self) -> None:
        if self.is_triggered:
            raise self.build_error()

    def wait(self, seconds: float) -> None:
        """Pause for seconds. Raise ``ProcessShutdown`` as soon as the process ends."""
        if self._event.wait(seconds):
            raise self.build_error()

    @contextmanager
    def call_on_trigger(self, callback: Callable[[], None]) -> Iterator[None]:
        """Call ``callback`` if the process ends during the block. Raises ``ProcessShutdown`` if it has."""
        with self._lock:
            self.raise_if_triggered()
            self._callbacks.add(callback)
        try:
            yield
        finally:
            with self._lock:
                self._callbacks.discard(callback)


class WaitAllowance:
    """The seconds that services may make one piece of work wait. Simultaneous waits of its threads count once."""

    def __init__(self, seconds: float) -> None:
        self._left = seconds
        self._until = -math.inf
        self._lock = threading.Lock()

    def has_room_for(self, seconds: float) -> bool:
        with self._lock:
            return self._compute_extra(seconds) <= self._left

    def count_wait(self, seconds: float) -> None:
        with self._lock:
            self._left -= self._compute_extra(seconds)
            self._until = max(self._until, time.monotonic() + seconds)

    def _compute_extra(self, seconds: float) -> float:
        now = time.monotonic()
        return max(0.0, now + seconds - max(now, self._until))


@dataclass(frozen=True, slots=True)
class Limit:
    """Limits of a piece of work: its deadline (``time.monotonic``), the shutdown signal, and its waits."""

    end: float
    ending: ShutdownSignal
    waits: WaitAllowance = field(default_factory=lambda: WaitAllowance(math.inf))


_NO_LIMIT = Limit(math.inf, ShutdownSignal())
_CURRENT_LIMIT: ContextVar[Limit | None] = ContextVar("limit", default=None)


def get_limit() -> Limit:
    """Return the limit of the current work; without one, a limit that never ends."""
    return _CURRENT_LIMIT.get() or _NO_LIMIT


@contextmanager
def bound_work(
    seconds: float, shutdown: ShutdownSignal | None = None, waits: float | None = None
) -> Iterator[None]:
    """Limit the block to ``seconds``, and the ``waits`` of services in it. ``shutdown`` interrupts it."""
    outer = get_limit()
    end = min(outer.end, time.monotonic() + seconds)
    allowed = outer.waits if waits is None else WaitAllowance(waits)
    token = _CURRENT_LIMIT.set(Limit(end, shutdown or outer.ending, allowed))
    try:
        yield
    finally:
        _CURRENT_LIMIT.reset(token)


@contextmanager
def reserve_time(seconds: float) -> Iterator[None]:
    """Limit the work of the block so that ``seconds`` are left after it to report the result."""
    with bound_work(get_seconds_left() - seconds):
        yield


def get_seconds_left() -> float:
    """Return the seconds that the current work may still take, at least 0; infinite without a deadline."""
    return max(0.0, get_limit().end - time.monotonic())


def can_wait(seconds: float) -> bool:
    """Return whether the current work has time for a pause that a service asks for."""
    return seconds <= get_seconds_left() and get_limit().waits.has_room_for(seconds)


def sleep(seconds: float) -> None:
    """Pause, but not past the deadline. Raise ``ProcessShutdown`` as soon as the process ends."""
    get_limit().ending.wait(min(seconds, get_seconds_left()))
