"""When a local time comes, worked out from what the clocks on the walls show: nothing of the bot's own is used."""

import datetime as dt
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

_HOUR, _DAY = 3_600, 86_400
_FIRST = dt.date(1970, 1, 1)


@dataclass(frozen=True, slots=True)
class _Period:
    """Seconds since 1970 (UTC) from one change of the clocks to the next, and how far they are ahead of UTC."""

    start: int
    end: int
    ahead: int


class Walls:
    """The clocks of a zone from one date to another, looked at every hour, and closely where they changed."""

    def __init__(self, zone: ZoneInfo, first: dt.date, last: dt.date) -> None:
        self.zone = zone
        # dates of the two ends begin a day before or after those of UTC
        self._periods = list(self._scan_hours(_midnight(first) - 2 * _DAY, _midnight(last) + 3 * _DAY))

    @property
    def changes(self) -> list[datetime]:
        """The instants (UTC) at which the clocks change."""
        return [_instant(each.start) for each in self._periods[1:]]

    def due(self, date: dt.date, at: dt.time) -> datetime | None:
        """The instant (UTC) of a local time of a date: the first, or as many hours after the gap that holds it.

        None: the zone never had that date.
        """
        if not self._has(date):
            return None
        local = _midnight(date) + at.hour * _HOUR + at.minute * 60 + at.second
        shown = [local - each.ahead for each in self._periods if each.start <= local - each.ahead < each.end]
        return _instant(min(shown) if shown else self._across(local))

    def date(self, instant: datetime) -> dt.date:
        seconds = int(instant.timestamp())
        period = self._periods[bisect_right(self._periods, seconds, key=lambda each: each.start) - 1]
        return _FIRST + timedelta((seconds + period.ahead) // _DAY)

    def end(self, date: dt.date) -> datetime:
        """The instant (UTC) from which on the wall shows a later date."""
        midnight = _midnight(date) + _DAY
        return _instant(min(max(each.start, midnight - each.ahead) for each in self._until_after(midnight)))

    def _until_after(self, midnight: int) -> Iterator[_Period]:
        return (each for each in self._periods if each.end + each.ahead > midnight)

    def _across(self, local: int) -> int:
        """A time that was never shown: counted from before the clocks went forward."""
        before = [each for each in self._periods if each.end + each.ahead <= local]
        return local - before[-1].ahead

    def _has(self, date: dt.date) -> bool:
        start = _midnight(date)
        return any(
            each.start + each.ahead < start + _DAY and each.end + each.ahead > start for each in self._periods
        )

    def _scan_hours(self, start: int, end: int) -> Iterator[_Period]:
        since = start
        for hour in range(start, end, _HOUR):
            if self._ahead(hour) != self._ahead(hour + _HOUR):
                change = self._change(hour, hour + _HOUR)
                yield _Period(since, change, self._ahead(hour))
                since = change
        yield _Period(since, end, self._ahead(end))

    def _change(self, before: int, after: int) -> int:
        """The first second of the new offset."""
        while after - before > 1:
            middle = (before + after) // 2
            if self._ahead(middle) == self._ahead(before):
                before = middle
            else:
                after = middle
        return after

    def _ahead(self, seconds: int) -> int:
        wall = datetime.fromtimestamp(seconds, self.zone)
        offset = wall.utcoffset()
        assert offset is not None
        return int(offset.total_seconds())


def _midnight(date: dt.date) -> int:
    return (date - _FIRST).days * _DAY


def _instant(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
