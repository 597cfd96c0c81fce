"""A counter of changes, for clients that show the team and wait for more."""

from __future__ import annotations

import threading


class ChangeCounter:
    """A counter of changes. Safe to use from any thread."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._count = 0

    def notify(self) -> None:
        """Count a change."""
        with self._condition:
            self._count += 1
            self._condition.notify_all()

    def wait(self, seen: int, seconds: float) -> int:
        """Return the count as soon as it differs from ``seen``, or after that many seconds."""
        with self._condition:
            self._condition.wait_for(lambda: self._count != seen, seconds)
            return self._count
