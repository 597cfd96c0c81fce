"""How long work may take: a deadline that all it calls, waits and sleeps keeps, and the end of the process.

Both belong to a piece of work, not to a service, so they travel with it: through every call, and into the threads
of a :class:`bot.services.operations.worker_threads.Crew`. Seconds are those of a clock that only goes up.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

# seconds that services may make one try of a job wait, in all; what they want beyond that, it comes back for
MOST_WAITS = 60.0
# what an asker reads where the time is up
TOO_LONG = "That took too long, so I gave up: try again in a few minutes. What I have read by now is kept."


class Stopping(BaseException):
    """The process ends, so the work is to be done by another one. No failure of the work: nobody is told of it."""


class Ending:
    """The end of a process: it comes once, and interrupts whoever waits."""

    def __init__(self) -> None:
        self._is_here = threading.Event()
        self._acts: set[Callable[[], None]] = set()
        self._lock = threading.Lock()

    def end(self) -> None:
        """End the pauses and calls of all work that knows of this end; what they are part of raises Stopping."""
        with self._lock:
            self._is_here.set()
            acts = tuple(self._acts)
        for act in acts:
            act()

    @property
    def is_here(self) -> bool:
        """Whether it has come."""
        return self._is_here.is_set()

    def check(self) -> None:
        """Raises Stopping once it is here."""
        if self.is_here:
            raise Stopping

    def wait(self, seconds: float) -> None:
        """Pause. Raises Stopping, at once."""
        if self._is_here.wait(seconds):
            raise Stopping

    @contextmanager
    def interrupts(self, act: Callable[[], None]) -> Iterator[None]:
        """While the block runs, the end calls ``act``. Raises Stopping where it is here already."""
        with self._lock:
            self.check()
            self._acts.add(act)
        try:
            yield
        finally:
            with self._lock:
                self._acts.discard(act)


class Waits:
    """The seconds that services may make one piece of work wait. Threads that wait at the same time count once."""

    def __init__(self, seconds: float) -> None:
        self._left = seconds
        self._until = -math.inf
        self._lock = threading.Lock()

    def allow(self, seconds: float) -> bool:
        """Tell whether a wait that begins now is not too much."""
        with self._lock:
            return self._more(seconds) <= self._left

    def count(self, seconds: float) -> None:
        """Note a wait that begins now."""
        with self._lock:
            self._left -= self._more(seconds)
            self._until = max(self._until, time.monotonic() + seconds)

    def _more(self, seconds: float) -> float:
        """What it adds to those that are under way."""
        now = time.monotonic()
        return max(0.0, now + seconds - max(now, self._until))


@dataclass(frozen=True, slots=True)
class Limit:
    """When work has to be through, by ``time.monotonic``, the end that interrupts it, and what it may wait."""

    end: float
    ending: Ending
    waits: Waits = field(default_factory=lambda: Waits(math.inf))


_LIMIT: ContextVar[Limit | None] = ContextVar("limit", default=None)


def limit() -> Limit:
    """That of the work at hand; one that never comes where there is none."""
    return _LIMIT.get() or Limit(math.inf, Ending())


@contextmanager
def within(seconds: float, ending: Ending | None = None, waits: float | None = None) -> Iterator[None]:
    """Bound the work of the block, within what bounds it already. ``ending`` interrupts it.

    ``waits`` is how many seconds of it services may ask to be left in peace, all together.
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
    """Bound the work of the block so that this much is left after it, to say what became of it."""
    with within(left() - seconds):
        yield


def left() -> float:
    """Seconds that the work at hand may still take; infinite where nothing bounds it, never negative."""
    return max(0.0, limit().end - time.monotonic())


def allow_wait(seconds: float) -> bool:
    """Tell whether the work at hand has time for a wait that a service asks for."""
    return seconds <= left() and limit().waits.allow(seconds)


def sleep(seconds: float) -> None:
    """Pause, but not past the deadline. Raises Stopping as soon as the process ends."""
    limit().ending.wait(min(seconds, left()))
