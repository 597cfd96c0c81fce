"""What watches the calls to an outside service."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TypeAlias

# takes the kind of a call, of which a service has a few dozen at most, and returns a context for the call: it sees
# how long the call takes and whether it raises
CallWatch: TypeAlias = Callable[[str], AbstractContextManager[None]]


def watch_nothing(_operation: str) -> AbstractContextManager[None]:
    """Return a context that watches nothing."""
    return nullcontext()
