"""A calendar day in a time zone, and its first and last instants."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Protocol
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from bot.domain.errors import UsageError
from bot.domain.text.strings import quote_input
from impact.text.dates import parse_date

__all__ = ["LocalDay", "TodayProvider", "get_today", "get_yesterday", "parse_date", "parse_time", "parse_zone"]

# characters: twice the length of the longest IANA name, America/Argentina/ComodRivadavia
_MAX_ZONE_LENGTH = 64
_TIME_PATTERN = re.compile(r"(?P<hour>\d{1,2})(?:[:.](?P<minute>\d{2}))?\s*(?P<half>am|pm)?", re.I)


def parse_time(text: str) -> time:
    """Parse a time of day: ``09:00``, ``9``, ``9am``, ``5:30pm``. Raises UsageError."""
    refusal = f"{quote_input(text)} is not a time: write it as 09:00 or 9am."
    match = _TIME_PATTERN.fullmatch(text.strip())
    if not match:
        raise UsageError(refusal)
    hour, half = int(match["hour"]), (match["half"] or "").lower()
    if half and not 1 <= hour <= 12:
        raise UsageError(refusal)
    if half:
        hour = hour % 12 + (12 if half == "pm" else 0)
    try:
        return time(hour, int(match["minute"] or 0))
    except ValueError as error:
        raise UsageError(refusal) from error


def parse_zone(name: str) -> ZoneInfo:
    """Return the time zone with an IANA name, such as America/Los_Angeles.

    Raises:
        UsageError: there is no such zone.
    """
    refusal = f"{quote_input(name)} is not a time zone: use an IANA name, such as America/Los_Angeles."
    # Python searches the folders of a name recursively: a very long name overflows the stack
    if len(name) > _MAX_ZONE_LENGTH:
        raise UsageError(refusal)
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise UsageError(refusal) from error


@dataclass(frozen=True, slots=True)
class LocalDay:
    """The local day [00:00, 24:00) in ``zone``: 23 or 25 hours long on the days of clock changes."""

    date: dt.date
    zone: ZoneInfo

    @property
    def start(self) -> datetime:
        """First instant of the day, in UTC."""
        return self._find_midnight(self.date)

    @property
    def end(self) -> datetime:
        """First instant after the day, in UTC."""
        return self._find_midnight(self.date + timedelta(days=1))

    def __contains__(self, instant: datetime) -> bool:
        return self.start <= instant < self.end

    @property
    def abbreviation(self) -> str:
        """The abbreviation of the zone at the start of the day, as the report prints it (``PST``, ``PDT``)."""
        return self.to_local_time(self.start).tzname() or str(self.zone)

    def to_local_time(self, instant: datetime) -> datetime:
        """Return the instant in the local time of the zone."""
        return instant.astimezone(self.zone)

    def _find_midnight(self, day: dt.date) -> datetime:
        # where clocks skip midnight, fold=0 applies the offset before the change: the exact instant of the change
        return datetime.combine(day, time(0), tzinfo=self.zone).astimezone(UTC)


class TodayProvider(Protocol):
    """A function that returns the current local day."""

    def __call__(self, zone: ZoneInfo | None = None) -> LocalDay:
        """Return the current local day in ``zone``, by default the zone of the settings."""


def get_yesterday(now: datetime, zone: ZoneInfo) -> LocalDay:
    """Return the last complete local day before ``now`` (an aware instant)."""
    return LocalDay(now.astimezone(zone).date() - timedelta(days=1), zone)


def get_today(now: datetime, zone: ZoneInfo) -> LocalDay:
    """Return the current local day at ``now`` (an aware instant); it is not over."""
    return LocalDay(now.astimezone(zone).date(), zone)
