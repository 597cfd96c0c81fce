"""Deadlines of work: all that it calls, waits and sleeps keeps to them, and to the end of the process.

Both belong to a piece of work, not to a service, so they are passed on with it: through every call, and into the
threads of a :class:`bot.services.operations.worker_threads.Crew`.

Seconds are those of a clock that never goes back.
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
MOST_WAITS = 60.0
# what an asker reads when the time is up
TOO_LONG = "That took too long, so I gave up: try again in a few minutes. What I have read by now is kept."


class Stopping(BaseException):
    """Signal that the process ends, so that another process has to do the work.

    This is not a failure of the work, and is reported to nobody.
    """


class Ending:
    """The end of a process. It comes once, and interrupts everything that waits."""

    def __init__(self) -> None:
        self._is_here = threading.Event()
        self._acts: set[Callable[[], None]] = set()
        self._lock = threading.Lock()

    def end(self) -> None:
        """End the pauses and calls of all work that has this signal. They raise ``Stopping``."""
        with self._lock:
            self._is_here.set()
            acts = tuple(self._acts)
        for act in acts:
            act()

    @property
    def is_here(self) -> bool:
        """Whether the process is ending."""
        return self._is_here.is_set()

    def check(self) -> None:
        """Raise ``Stopping`` if the process is ending."""
        if self.is_here:
            raise Stopping

    def wait(self, seconds: float) -> None:
        """Pause for seconds. Raise ``Stopping`` as soon as the process ends."""
        if self._is_here.wait(seconds):
            raise Stopping

    @contextmanager
    def interrupts(self, act: Callable[[], None]) -> Iterator[None]:
        """Call ``act`` if the process ends while the block runs. Raise ``Stopping`` if it ends already."""
        with self._lock:
            self.check()
            self._acts.add(act)
        try:
            yield
        finally:
            with self._lock:
                self._acts.discard(act)


class Waits:
    """The seconds that services may make one piece of work wait.

    Simultaneous waits of several threads count once.
    """

    def __init__(self, seconds: float) -> None:
        self._left = seconds
        self._until = -math.inf
        self._lock = threading.Lock()

    def allow(self, seconds: float) -> bool:
        """Return whether a wait that begins now is still allowed."""
        with self._lock:
            return self._more(seconds) <= self._left

    def count(self, seconds: float) -> None:
        """Count a wait that begins now."""
        with self._lock:
            self._left -= self._more(seconds)
            self._until = max(self._until, time.monotonic() + seconds)

    def _more(self, seconds: float) -> float:
        """Return the seconds that a wait adds to those in progress."""
        now = time.monotonic()
        return max(0.0, now + seconds - max(now, self._until))


@dataclass(frozen=True, slots=True)
class Limit:
    """Limits of a piece of work: its deadline (``time.monotonic``), the shutdown signal, and its waits."""

    end: float
    ending: Ending
    waits: Waits = field(default_factory=lambda: Waits(math.inf))


_LIMIT: ContextVar[Limit | None] = ContextVar("limit", default=None)


def limit() -> Limit:
    """Return the limit of the current work; without one, a limit that never ends."""
    return _LIMIT.get() or Limit(math.inf, Ending())


@contextmanager
def within(seconds: float, ending: Ending | None = None, waits: float | None = None) -> Iterator[None]:
    """Limit the work of the block to ``seconds``, within the limits that it already has. ``ending`` interrupts it.

    ``waits`` is how many seconds services may make it wait in all.
    """
    before = limit()
    end = min(before.end, time.monotonic() + seconds)
    allowed = before.waits if waits is None else Waits(waits)
    token = _LIMIT.set(Limit(end, ending or before.ending, allowed))
    try:
        yield
    finally:
        _LIMIT.reset(token)


@contextmanager
def sparing(seconds: float) -> Iterator[None]:
    """Limit the work of the block so that ``seconds`` are left after it to report the result."""
    with within(left() - seconds):
        yield


def left() -> float:
    """Return the seconds that the current work may still take, at least 0; infinite without a deadline."""
    return max(0.0, limit().end - time.monotonic())


def allow_wait(seconds: float) -> bool:
    """Return whether the current work has time for a pause that a service asks for."""
    return seconds <= left() and limit().waits.allow(seconds)


def sleep(seconds: float) -> None:
    """Pause, but not past the deadline. Raise ``Stopping`` as soon as the process ends."""
    limit().ending.wait(min(seconds, left()))
