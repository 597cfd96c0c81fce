"""Ranges of consecutive local days, and the ways in which people write them."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from bot.domain.errors import UsageError
from bot.domain.text.strings import quote_input
from bot.domain.time.day import LocalDay, parse_date

_LAST_DAYS_PATTERN = re.compile(r"(\d{1,4})d", re.I)
_RANGE_SEPARATOR = re.compile(r"\.{2,3}|…")


@dataclass(frozen=True, slots=True)
class Span:
    """The local days from ``first`` to ``last``, both included."""

    first: dt.date
    last: dt.date
    zone: ZoneInfo

    @property
    def days(self) -> tuple[LocalDay, ...]:
        """The days, oldest first."""
        return tuple(LocalDay(self.first + timedelta(days=n), self.zone) for n in range(len(self)))

    @property
    def title(self) -> str:
        """The text for a heading: ``Saturday 28 February 2026``, ``22 – 28 February 2026``."""  # noqa: RUF002 (a dash)
        first, last = self.first, self.last
        if first == last:
            return f"{first:%A} {last.day} {last:%B %Y}"
        form = "%B %Y" if first.year != last.year else "%B" if first.month != last.month else ""
        begin = f"{first.day} {first:{form}}" if form else str(first.day)
        return f"{begin} – {last.day} {last:%B %Y}"  # noqa: RUF001 (a dash)

    @property
    def utc_offsets(self) -> str:
        """UTC offsets of the midnights between the days: one, ``+0900``, or all of them where they differ.

        Together with the dates they determine the intervals in UTC.
        """
        return _format_offsets(self)

    def __len__(self) -> int:
        return (self.last - self.first).days + 1

    def __contains__(self, day: dt.date) -> bool:
        return self.first <= day <= self.last

    def __str__(self) -> str:
        """Return the text that :func:`parse_exact_span` parses, independent of the current day."""
        return str(self.first) if self.first == self.last else f"{self.first}..{self.last}"


@lru_cache(maxsize=4_096)
def _format_offsets(span: Span) -> str:
    days = span.days
    midnights = [*((day.date, day.start) for day in days), (span.last + timedelta(days=1), days[-1].end)]
    offsets = [_format_offset(datetime.combine(date, time(0), tzinfo=UTC) - start) for date, start in midnights]
    return offsets[0] if len(set(offsets)) == 1 else "".join(offsets)


def _format_offset(ahead: timedelta) -> str:
    """Return an offset in the format of ISO 8601, with seconds where a zone had them (Liberia until 1972)."""
    sign = "-" if ahead < timedelta(0) else "+"
    minutes, seconds = divmod(abs(ahead) // timedelta(seconds=1), 60)
    return f"{sign}{minutes // 60:02}{minutes % 60:02}" + (f"{seconds:02}" if seconds else "")


def parse_exact_span(text: str, zone: ZoneInfo) -> Span:
    """Parse the ``str`` of a :class:`Span`.

    Raises:
        UsageError: a date is invalid.
    """
    first, _, last = text.partition("..")
    return Span(parse_date(first), parse_date(last or first), zone)


def parse_span(text: str, today: LocalDay, longest: int) -> Span:
    """Parse the days that a person entered: ``today``, ``yesterday``, ``7d``, a date, ``2026-02-24..2026-02-28``.

    ``7d`` means today and the six days before it. An empty text means yesterday.

    Raises:
        UsageError: the text names no days, future days, or more than ``longest`` days.
    """
    span = _parse_days(text.strip().lower(), today)
    if span.last < span.first:
        raise UsageError(f"{span.first}..{span.last} ends before it starts: write the earlier date first.")
    if span.last > today.date:
        raise UsageError(f"{span.last} is in the future: choose a day up to {today.date}.")
    if len(span) > longest:
        raise UsageError(f"{len(span)} days are too many at once: ask for up to {longest}.")
    return span


def parse_day(text: str, today: LocalDay) -> LocalDay:
    """Parse a single day, written as in :func:`parse_span`, that is not in the future.

    Raises:
        UsageError: the text does not name such a day.
    """
    refusal = f"{quote_input(text)} is not a date: write one day, such as 2026-02-28, today or yesterday."
    try:
        span = _parse_days(text.strip().lower(), today)
    except UsageError as error:
        raise UsageError(refusal) from error
    if len(span) != 1:
        raise UsageError(refusal)
    if span.last > today.date:
        raise UsageError(f"{span.last} is still to come: name a day up to {today.date}.")
    return LocalDay(span.last, today.zone)


def _parse_days(text: str, today: LocalDay) -> Span:
    zone = today.zone
    if text in ("", "yesterday"):
        return _build_single_day(today.date - timedelta(days=1), zone)
    if text == "today":
        return _build_single_day(today.date, zone)
    if count := _LAST_DAYS_PATTERN.fullmatch(text):
        return _build_last_days(int(count[1]), today)
    first, *last = (part.strip() for part in _RANGE_SEPARATOR.split(text, maxsplit=1))
    if first and last and last[0]:
        return Span(parse_date(first), parse_date(last[0]), zone)
    try:
        return _build_single_day(parse_date(text), zone)
    except UsageError as error:
        examples = "today, yesterday, 7d, 2026-02-28 or 2026-02-24..2026-02-28"
        raise UsageError(f"I don't recognize the date {quote_input(text)}: write {examples}.") from error


def _build_last_days(count: int, today: LocalDay) -> Span:
    if count == 0:
        raise UsageError("0d is not a day: write 1d for today, 7d for a week.")
    return Span(today.date - timedelta(days=count - 1), today.date, today.zone)


def _build_single_day(day: dt.date, zone: ZoneInfo) -> Span:
    return Span(day, day, zone)
