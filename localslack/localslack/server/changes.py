"""A count of what happened, for those who show it to somebody and wait for more."""

from __future__ import annotations

import threading


class ChangeCounter:
    """Counts up. Safe to use from any thread."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._count = 0

    def notify(self) -> None:
        """Count that something may look different now."""
        with self._condition:
            self._count += 1
            self._condition.notify_all()

    def wait(self, seen: int, seconds: float) -> int:
        """Return the count once it is not the one that was ``seen``, or the same after that many seconds."""
        with self._condition:
            self._condition.wait_for(lambda: self._count != seen, seconds)
            return self._count
