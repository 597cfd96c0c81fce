"""Slots for the threads of one piece of work that ask the model at the same time, passed on as its deadline is.

Threads without a slot load from GitHub what they will ask about.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
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
    """Let at most ``count`` threads of the block's work ask the model at the same time.

    Threads that ask after the block has ended, or still wait then, end with ``WorkAbandoned``.
    """
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
