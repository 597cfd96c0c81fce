"""How far a piece of work is, for people who wait for it; it goes with the work as deadlines do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(slots=True)
class WorkProgress:
    """How many of all parts are done; ``total`` is 0 as long as nobody knows."""

    done: int = 0
    total: int = 0


_CURRENT: ContextVar[WorkProgress | None] = ContextVar("work_progress", default=None)


@contextmanager
def follow_progress() -> Iterator[WorkProgress]:
    progress = WorkProgress()
    token = _CURRENT.set(progress)
    try:
        yield progress
    finally:
        _CURRENT.reset(token)


def note_progress(done: int, total: int) -> None:
    """Report how many of all parts are done. Without anybody who follows, this does nothing."""
    if progress := _CURRENT.get():
        progress.done, progress.total = done, total
