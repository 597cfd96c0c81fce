"""The dates whose merges are measured."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from datetime import UTC, datetime, time

from impact.errors import UsageError
from impact.text.strings import parse_date


@dataclass(frozen=True, slots=True)
class EvaluationWindow:
    """Dates in UTC, both included."""

    since: dt.date
    until: dt.date

    @classmethod
    def parse(cls, since: str, until: str) -> EvaluationWindow:
        """Return the window of two dates. Raises UsageError if one is none, or the last is before the first."""
        dates = cls(parse_date(since), parse_date(until))
        if dates.until < dates.since:
            raise UsageError(f"--until {dates.until} is before --since {dates.since}: exchange the dates.")
        return dates

    @property
    def start(self) -> datetime:
        """The first instant of the window (UTC)."""
        return datetime.combine(self.since, time(), UTC)

    def __contains__(self, merged_at: datetime) -> bool:
        return self.since <= merged_at.astimezone(UTC).date() <= self.until
