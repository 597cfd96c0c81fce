from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta
from functools import lru_cache
from typing import Protocol
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from bot.errors import UsageError
from impact.text.strings import parse_date, quote_input

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
    """Return the time zone with an IANA name, such as America/Los_Angeles. Raises UsageError."""
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
        return instant.astimezone(self.zone)

    def _find_midnight(self, day: dt.date) -> datetime:
        # where clocks skip midnight, fold=0 applies the offset before the change: the exact instant of the change
        return datetime.combine(day, time(0), tzinfo=self.zone).astimezone(UTC)


class TodayProvider(Protocol):
    def __call__(self, zone: ZoneInfo | None = None) -> LocalDay:
        """Return the current local day in ``zone``, by default the zone of the settings."""


def get_yesterday(now: datetime, zone: ZoneInfo) -> LocalDay:
    """Return the last complete local day before ``now`` (an aware instant)."""
    return LocalDay(now.astimezone(zone).date() - timedelta(days=1), zone)


def get_today(now: datetime, zone: ZoneInfo) -> LocalDay:
    """Return the current local day at ``now`` (an aware instant); it is not over."""
    return LocalDay(now.astimezone(zone).date(), zone)


_LAST_DAYS_PATTERN = re.compile(r"(?:last )?(\d{1,4}) ?(?:d|days?)")
_LAST_WEEKS_PATTERN = re.compile(r"(?:last )?(\d{1,3}) ?(?:w|weeks?)")
# "28 Feb", "february 28th", "28 Feb. 2026", "Feb 28, 2026"
_DAY_PATTERN = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_MONTH_PATTERN = r"(?P<month>[a-z]{3,9})\.?"
_YEAR_PATTERN = r"(?:,? (?P<year>\d{4}))?"
_NAMED_DATES = (
    re.compile(rf"{_DAY_PATTERN} {_MONTH_PATTERN}{_YEAR_PATTERN}", re.A),
    re.compile(rf"{_MONTH_PATTERN} {_DAY_PATTERN}{_YEAR_PATTERN}", re.A),
)
_MONTHS = ("january february march april may june july august september october november december").split()
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_SHORTEST_WEEKDAY = 3  # letters
_COMING_DAYS = re.compile(r"(\d{1,3}) ?([dw])(?:ays?|eeks?)?", re.A)
_MAX_COMING_DAYS = 365
# 29 February comes after at most eight years
_MAX_YEARS = 9
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
        """UTC offsets of the midnights between the days: one, ``+0900``, or all of them where they differ."""
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
    """Parse the ``str`` of a :class:`Span`. Raises UsageError."""
    first, _, last = text.partition("..")
    return Span(parse_date(first), parse_date(last or first), zone)


def parse_span(text: str, today: LocalDay, longest: int) -> Span:
    """Parse the days that a person entered: ``today``, ``yesterday``, ``7d``, a date, ``2026-02-24..2026-02-28``.

    ``7d``, ``7 days`` and ``1w`` mean today and the six days before it, ``last week`` the last Monday to Sunday
    that is over. A date may name its month (``28 Feb``); without a year it is the last such day. An empty text
    means yesterday. Raises UsageError, also for future days, or more than ``longest`` days.
    """
    return check_span(_parse_days(text.strip(), today), today, longest)


def check_span(span: Span, today: LocalDay, longest: int) -> Span:
    """Return a span that a person entered. Raises UsageError, also if it has more than ``longest`` days."""
    if span.last < span.first:
        raise UsageError(f"{span.first}..{span.last} ends before it starts: write the earlier date first.")
    if span.last > today.date:
        raise UsageError(f"{span.last} is in the future: choose a day up to {today.date}.")
    if len(span) > longest:
        raise UsageError(f"{len(span)} days are too many at once: ask for up to {longest}.")
    return span


def parse_day(text: str, today: LocalDay) -> LocalDay:
    """Parse a single day, written as in :func:`parse_span`, that is not in the future. Raises UsageError."""
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


def parse_weekday(text: str) -> int | None:
    """Return the number of a weekday (Monday is 0) by its name or the beginning of it; None for other texts."""
    name = text.strip().lower().removesuffix("s")
    if len(name) < _SHORTEST_WEEKDAY:
        return None
    return next((number for number, each in enumerate(WEEKDAYS) if each.startswith(name)), None)


def parse_coming_day(text: str, today: LocalDay) -> dt.date:
    """Parse a day to come: ``2026-12-07``, ``7 Dec``, ``monday``, ``tomorrow``, or ``2w`` for in two weeks.

    Raises UsageError, also for a day that is over, or more than a year away.
    """
    low = text.strip().lower()
    weekday, relative = parse_weekday(low), _COMING_DAYS.fullmatch(low)
    if low == "tomorrow" or relative:
        count = int(relative[1]) * (7 if relative[2] == "w" else 1) if relative else 1
        date = today.date + timedelta(days=count)
    elif weekday is not None:
        date = today.date + timedelta(days=(weekday - today.date.weekday() - 1) % 7 + 1)
    else:
        try:
            date = _parse_named_date(low, replace(today, date=today.date + timedelta(days=_MAX_COMING_DAYS)))
        except UsageError as error:
            examples = "2026-12-07, 7 Dec, monday or 2w"
            raise UsageError(f"{quote_input(text)} is not a day: write {examples}.") from error
    if not today.date < date <= today.date + timedelta(days=_MAX_COMING_DAYS):
        raise UsageError(f"{date} can't be waited for: choose a day after {today.date}, within a year.")
    return date


def _parse_days(text: str, today: LocalDay) -> Span:
    zone = today.zone
    if relative := _parse_relative_days(text.lower(), today):
        return relative
    first, *last = (part.strip() for part in _RANGE_SEPARATOR.split(text, maxsplit=1))
    if first and last and last[0]:
        return Span(_parse_named_date(first, today), _parse_named_date(last[0], today), zone)
    try:
        return _build_single_day(_parse_named_date(text, today), zone)
    except UsageError as error:
        examples = "today, yesterday, 7d, 2026-02-28 or 2026-02-24..2026-02-28"
        raise UsageError(f"I don't recognize the date {quote_input(text)}: write {examples}.") from error


def _parse_relative_days(text: str, today: LocalDay) -> Span | None:
    """Parse days that depend on today; None for others. Raises UsageError for ``0d``."""
    if text in ("", "yesterday"):
        return _build_single_day(today.date - timedelta(days=1), today.zone)
    if text == "today":
        return _build_single_day(today.date, today.zone)
    if text == "last week":
        sunday = today.date - timedelta(days=today.date.isoweekday())
        return Span(sunday - timedelta(days=6), sunday, today.zone)
    if days := _LAST_DAYS_PATTERN.fullmatch(text):
        return _build_last_days(int(days[1]), today)
    if weeks := _LAST_WEEKS_PATTERN.fullmatch(text):
        return _build_last_days(7 * int(weeks[1]), today)
    return None


def _parse_named_date(text: str, today: LocalDay) -> dt.date:
    """Parse a date, as ``2026-02-28`` or with the name of its month. Raises UsageError."""
    matches = (pattern.fullmatch(text.lower()) for pattern in _NAMED_DATES)
    match = next((each for each in matches if each), None)
    # three letters are enough for any month
    months = [n for n, name in enumerate(_MONTHS, 1) if match and name.startswith(match["month"])]
    if match is None or not months:
        return parse_date(text)
    years = [int(match["year"])] if match["year"] else range(today.date.year, today.date.year - _MAX_YEARS, -1)
    for year in years:
        date = _build_date(year, months[0], int(match["day"]))
        if date and (match["year"] or date <= today.date):
            return date
    return parse_date(text)


def _build_date(year: int, month: int, day: int) -> dt.date | None:
    """Return a date that :func:`parse_date` accepts too, None if there is none."""
    try:
        return parse_date(f"{year:04}-{month:02}-{day:02}")
    except UsageError:
        return None


def _build_last_days(count: int, today: LocalDay) -> Span:
    if count == 0:
        raise UsageError("0d is not a day: write 1d for today, 7d for a week.")
    return Span(today.date - timedelta(days=count - 1), today.date, today.zone)


def _build_single_day(day: dt.date, zone: ZoneInfo) -> Span:
    return Span(day, day, zone)
