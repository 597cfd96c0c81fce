"""How far a piece of work is, for people who wait for it; it goes with the work as deadlines do."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(slots=True)
class WorkProgress:
    """How many of all parts are done, each a ``unit``; ``total`` is 0 as long as nobody knows.

    What was done ``at_first`` says nothing of the time that one part takes.
    """

    done: int = 0
    total: int = 0
    unit: str = ""
    at_first: int = 0
    began: float = 0.0

    def note(self, done: int, total: int, unit: str) -> None:
        """Note how far it is; another unit or total is other work."""
        if (total, unit) != (self.total, self.unit):
            self.at_first, self.began = done, time.monotonic()
        self.done, self.total, self.unit = done, total, unit

    def estimate_seconds(self) -> float | None:
        """Return how long the rest takes if it goes on like this; None if nothing says so yet."""
        passed = self.done - self.at_first
        return (time.monotonic() - self.began) / passed * (self.total - self.done) if passed > 0 else None


_CURRENT: ContextVar[WorkProgress | None] = ContextVar("work_progress", default=None)


@contextmanager
def follow_progress() -> Iterator[WorkProgress]:
    progress = WorkProgress()
    token = _CURRENT.set(progress)
    try:
        yield progress
    finally:
        _CURRENT.reset(token)


def note_progress(done: int, total: int, unit: str = "merge") -> None:
    """Report how many of all parts are done. Without anybody who follows, this does nothing."""
    if progress := _CURRENT.get():
        progress.note(done, total, unit)
