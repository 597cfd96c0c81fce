"""Small checks and waits that tests of several rooms share."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from typing import Any


def closed_port() -> int:
    """A port on which nobody listens."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def is_one_sentence(message: str) -> bool:
    """One line, one full stop, and that at its end."""
    return message.endswith(".") and ". " not in message and "\n" not in message


def eventually(found: Callable[[], Any], seconds: float = 30.0) -> Any:
    """What ``found`` gives as soon as it gives anything; a failure where it does not in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = found()
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError(f"nothing came within {seconds} s")
