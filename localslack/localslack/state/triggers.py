"""Trigger ids, with which an app can open one view within seconds."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

TRIGGER_SECONDS = 3.0


@dataclass(frozen=True)
class TriggerOrigin:
    """The origin of a trigger: the person, the conversation and the view; empty without a person."""

    user: str = ""
    place: str = ""
    view: str = ""


NOBODY = TriggerOrigin()


@dataclass
class Triggers:
    """The trigger ids so far. Each is valid for ``seconds`` by ``clock``."""

    clock: Callable[[], float] = time.monotonic
    seconds: float = TRIGGER_SECONDS
    _created_at: dict[str, float] = field(default_factory=dict)
    _origins: dict[str, TriggerOrigin] = field(default_factory=dict)
    _used: set[str] = field(default_factory=set)

    def make_trigger(self, origin: TriggerOrigin = NOBODY) -> str:
        """Return a new trigger id."""
        number = len(self._created_at) + 1
        trigger = f"13345224609.738474920.{number:032x}"
        self._created_at[trigger] = self.clock()
        self._origins[trigger] = origin
        return trigger

    def get_origin(self, trigger: str) -> TriggerOrigin:
        """Return the origin of a trigger. Raises KeyError if there is no such trigger."""
        return self._origins[trigger]

    def find_fault(self, trigger: str) -> str | None:
        """Return Slack's error code if this trigger opens nothing."""
        if trigger not in self._created_at:
            return "invalid_trigger_id"
        if trigger in self._used:
            return "exchanged_trigger_id"
        return "expired_trigger_id" if self.clock() - self._created_at[trigger] > self.seconds else None

    def mark_used(self, trigger: str) -> None:
        """Mark a trigger as used: it opens nothing more."""
        self._used.add(trigger)
