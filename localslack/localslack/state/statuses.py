"""What the bot says that it is doing in a thread, until it has answered or two minutes are over."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from localslack.rules.schema import items, string

Json = dict[str, Any]

STATUS_SECONDS = 120.0
# Neither length is documented; others have met the one of the messages, and a status is as short a line.
STATUS = string(50, 0)
LOADING_MESSAGES = items(string(50), 0, 10)


@dataclass
class Statuses:
    """``history`` has every one that was set, the empty ones too; each is shown for a while, by ``clock``."""

    clock: Callable[[], float] = time.monotonic
    history: list[Json] = field(default_factory=list)
    _shown: dict[tuple[str, str], tuple[str, float]] = field(default_factory=dict)

    def set(self, channel: str, thread_ts: str, status: str) -> None:
        self.history.append({"channel": channel, "thread_ts": thread_ts, "status": status})
        self._shown[channel, thread_ts] = (status, self.clock())

    def clear(self, channel: str, thread_ts: str) -> None:
        self._shown.pop((channel, thread_ts), None)

    def get_current(self, channel: str, thread_ts: str) -> str:
        status, since = self._shown.get((channel, thread_ts), ("", 0.0))
        return status if self.clock() - since < STATUS_SECONDS else ""
