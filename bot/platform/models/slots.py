"""Slots for the threads of one piece of work that ask the model at the same time, passed on as its deadline is.

Threads without a slot load from GitHub what they will ask about.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from bot.platform import deadlines


class WorkAbandoned(BaseException):
    """Signal to a thread that nobody waits any more for the work of which it does a part."""


@dataclass
class _ModelSlots:
    free: threading.Semaphore
    is_closed: bool = False


_CURRENT_SLOTS: ContextVar[_ModelSlots | None] = ContextVar("model_slots", default=None)


@contextmanager
def limit_model_calls(count: int) -> Iterator[None]:
    """Let at most ``count`` threads of the work ask at once; those that come later end with ``WorkAbandoned``."""
    slots = _ModelSlots(threading.Semaphore(count))
    token = _CURRENT_SLOTS.set(slots)
    try:
        yield
    finally:
        _CURRENT_SLOTS.reset(token)
        slots.is_closed = True
        # one waiting thread wakes, and each that wakes passes its slot to the next
        slots.free.release()


@contextmanager
def hold_model_slot() -> Iterator[None]:
    """Wait for a slot of the current work, and hold it while the block runs. Without a limit, begin at once.

    At the deadline of the work the block begins without a slot: its calls fail then by themselves. Raises
    WorkAbandoned if the block of :func:`limit_model_calls` has ended.
    """
    slots = _CURRENT_SLOTS.get()
    if slots is None:
        yield
        return
    left = deadlines.get_seconds_left()
    is_held = slots.free.acquire(timeout=None if left == math.inf else left)
    try:
        if slots.is_closed:
            raise WorkAbandoned
        yield
    finally:
        if is_held:
            slots.free.release()


_FIRST_CALLS = 2
_MOST_CALLS = 64


class CallLimit:
    """A limit of calls that a server gets at once: two at first, more as it answers, half after two timeouts.

    A server queues what it has no slot for, and the time of a call includes that queue: who sends more than it can
    take hears of nothing in time, and sends it again. ``on_halved`` is called with each lower limit.
    """

    def __init__(self, on_halved: Callable[[int], None]) -> None:
        self._changed = threading.Condition()
        self._on_halved = on_halved
        self._limit = float(_FIRST_CALLS)
        # up to here each answer makes room for one more call, above it each round of them
        self._threshold = _MOST_CALLS
        self._running = self._timeouts = 0

    @contextmanager
    def hold_call(self) -> Iterator[None]:
        """Wait until one more call may run, and count it while the block runs; at the deadline begin at once."""
        left = deadlines.get_seconds_left()
        with self._changed:
            self._changed.wait_for(lambda: self._running < int(self._limit), None if left == math.inf else left)
            self._running += 1
        try:
            yield
        finally:
            with self._changed:
                self._running -= 1
                self._changed.notify_all()

    def note_answer(self) -> None:
        with self._changed:
            self._timeouts = 0
            step = 1.0 if self._limit < self._threshold else 1.0 / self._limit
            self._limit = min(self._limit + step, float(_MOST_CALLS))

    def note_timeout(self) -> None:
        with self._changed:
            self._timeouts += 1
            if self._timeouts < 2:
                return
            self._timeouts = 0
            self._threshold = max(1, min(int(self._limit), self._running) // 2)
            self._limit = float(self._threshold)
        self._on_halved(self._threshold)
