"""A calendar day in a time zone, and the instants it spans."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Protocol
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from bot.domain.errors import UsageError
from bot.domain.text.strings import quoted

# twice as long as the longest of IANA's, America/Argentina/ComodRivadavia
_LONGEST_ZONE = 64
_FIRST_YEAR, _LAST_YEAR = 1970, 9998


def zone_of(name: str) -> ZoneInfo:
    """The time zone of an IANA name, such as America/Los_Angeles.

    Raises:
        UsageError: there is no such zone.
    """
    refusal = f"{quoted(name)} is no time zone: use an IANA name, as America/Los_Angeles."
    # Python looks for the folders of a name one within the other, until it has no stack left
    if len(name) > _LONGEST_ZONE:
        raise UsageError(refusal)
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise UsageError(refusal) from error


def date_of(text: str) -> dt.date:
    """The date in ``YYYY-MM-DD``.

    Raises:
        UsageError: the text is no such date.
    """
    refusal = f"{quoted(text)} is no date: write it as YYYY-MM-DD, such as 2026-02-28."
    try:
        found = dt.date.fromisoformat(text)
    except ValueError as error:
        raise UsageError(refusal) from error
    # fromisoformat takes other spellings too; no repository is older, and no day after the last can end
    if found.isoformat() != text or not _FIRST_YEAR <= found.year <= _LAST_YEAR:
        raise UsageError(refusal)
    return found


@dataclass(frozen=True, slots=True)
class LocalDay:
    """The local day [00:00, 24:00) in ``zone``: 23 or 25 hours long when the clocks change."""

    date: dt.date
    zone: ZoneInfo

    @property
    def start(self) -> datetime:
        """First instant of the day, in UTC."""
        return self._midnight(self.date)

    @property
    def end(self) -> datetime:
        """First instant after the day, in UTC."""
        return self._midnight(self.date + timedelta(days=1))

    def __contains__(self, instant: datetime) -> bool:
        return self.start <= instant < self.end

    @property
    def abbreviation(self) -> str:
        """The zone's abbreviation at the day's start, as the report prints it (``PST``, ``PDT``)."""
        return self.local(self.start).tzname() or str(self.zone)

    def local(self, instant: datetime) -> datetime:
        """The instant on this zone's clocks."""
        return instant.astimezone(self.zone)

    def _midnight(self, day: dt.date) -> datetime:
        # where clocks jump over midnight, fold=0 reads it with the offset before the jump: its very instant
        return datetime.combine(day, time(0), tzinfo=self.zone).astimezone(UTC)


class Today(Protocol):
    """Gives the local day that is not over."""

    def __call__(self, zone: ZoneInfo | None = None) -> LocalDay:
        """In a zone, or in that of the settings."""


def yesterday(now: datetime, zone: ZoneInfo) -> LocalDay:
    """The last complete local day before ``now`` (an aware instant)."""
    return LocalDay(now.astimezone(zone).date() - timedelta(days=1), zone)


def today(now: datetime, zone: ZoneInfo) -> LocalDay:
    """The local day of ``now`` (an aware instant), which is not over."""
    return LocalDay(now.astimezone(zone).date(), zone)
