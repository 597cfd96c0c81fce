"""Statuses: what the bot says it is doing in a thread, until it answers or two minutes are over."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from localslack.rules.schema import items, string

Json = dict[str, Any]

STATUS_SECONDS = 120.0
# Neither length is documented; others have observed that of the messages, and a status is similar.
STATUS = string(50, 0)
LOADING_MESSAGES = items(string(50), 0, 10)


@dataclass
class Statuses:
    """The statuses of threads. ``history`` has all that were set, empty ones included.

    A status is visible for two minutes by ``clock``.
    """

    clock: Callable[[], float] = time.monotonic
    history: list[Json] = field(default_factory=list)
    _shown: dict[tuple[str, str], tuple[str, float]] = field(default_factory=dict)

    def set(self, channel: str, thread_ts: str, status: str) -> None:
        """Set a thread's status; an empty one clears it."""
        self.history.append({"channel": channel, "thread_ts": thread_ts, "status": status})
        self._shown[channel, thread_ts] = (status, self.clock())

    def clear(self, channel: str, thread_ts: str) -> None:
        """Clear a thread's status, as an answer of the bot does."""
        self._shown.pop((channel, thread_ts), None)

    def get_current(self, channel: str, thread_ts: str) -> str:
        """Return the thread's visible status, or an empty string."""
        status, since = self._shown.get((channel, thread_ts), ("", 0.0))
        return status if self.clock() - since < STATUS_SECONDS else ""
