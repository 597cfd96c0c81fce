"""The trigger ids that let an app open a view: for a moment, and once."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

TRIGGER_SECONDS = 3.0


@dataclass(frozen=True)
class TriggerOrigin:
    """Who did something, in which conversation and in which view; empty where nobody did anything."""

    user: str = ""
    place: str = ""
    view: str = ""


NOBODY = TriggerOrigin()


@dataclass
class Triggers:
    """Those that were given out. ``seconds`` is how long one is good for, by ``clock``."""

    clock: Callable[[], float] = time.monotonic
    seconds: float = TRIGGER_SECONDS
    _created_at: dict[str, float] = field(default_factory=dict)
    _origins: dict[str, TriggerOrigin] = field(default_factory=dict)
    _used: set[str] = field(default_factory=set)

    def make_trigger(self, origin: TriggerOrigin = NOBODY) -> str:
        number = len(self._created_at) + 1
        trigger = f"13345224609.738474920.{number:032x}"
        self._created_at[trigger] = self.clock()
        self._origins[trigger] = origin
        return trigger

    def get_origin(self, trigger: str) -> TriggerOrigin:
        return self._origins[trigger]

    def find_fault(self, trigger: str) -> str | None:
        """Return Slack's error code if this one opens nothing."""
        if trigger not in self._created_at:
            return "invalid_trigger_id"
        if trigger in self._used:
            return "exchanged_trigger_id"
        return "expired_trigger_id" if self.clock() - self._created_at[trigger] > self.seconds else None

    def mark_used(self, trigger: str) -> None:
        self._used.add(trigger)
