"""The id of the request that the current work is for: it is on each line of the log, up to the last model call.

It belongs to a piece of work, as its deadline does, so it is passed on in the same way: through every call, into
the threads of a :class:`bot.platform.worker_threads.DeadlineExecutor`, and with each job.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_CURRENT_ID: ContextVar[str] = ContextVar("request_id", default="")


def get_request_id() -> str:
    """Return the id of the request that the current work is for; empty if it is for none.

    For work that somebody asked for it is the reference that they read below an error.
    """
    return _CURRENT_ID.get()


@contextmanager
def identify_request(request_id: str) -> Iterator[None]:
    """Give the work of the block the id of its request."""
    token = _CURRENT_ID.set(request_id)
    try:
        yield
    finally:
        _CURRENT_ID.reset(token)
