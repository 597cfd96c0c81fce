"""Waits for what happens in another thread or process."""

import time
from collections.abc import Callable
from typing import Any


def eventually(look: Callable[[], Any], seconds: float = 30.0) -> Any:
    """Return what ``look`` gives as soon as it gives anything; fail where it does not in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = look()
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError(f"nothing came within {seconds} s")
