"""The id of the request that the current work is for, on each line of the log; passed on as deadlines are."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_CURRENT_ID: ContextVar[str] = ContextVar("request_id", default="")


def get_request_id() -> str:
    """Return the id of the current work's request, the reference below an error; empty if it is for none."""
    return _CURRENT_ID.get()


@contextmanager
def identify_request(request_id: str) -> Iterator[None]:
    token = _CURRENT_ID.set(request_id)
    try:
        yield
    finally:
        _CURRENT_ID.reset(token)
