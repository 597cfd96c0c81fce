"""The dates whose merges are measured."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from datetime import UTC, datetime, time


@dataclass(frozen=True, slots=True)
class EvaluationWindow:
    """Dates in UTC, both included."""

    since: dt.date
    until: dt.date

    @property
    def start(self) -> datetime:
        """The first instant of the window (UTC)."""
        return datetime.combine(self.since, time(), UTC)

    def __contains__(self, merged_at: datetime) -> bool:
        return self.since <= merged_at.astimezone(UTC).date() <= self.until
