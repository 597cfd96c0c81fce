"""Who gets which digest, and when: subscriptions, and the instants at which their digests are due.

Times are local. A time that the clocks skip counts from the offset before they moved, one that comes twice is its
first occurrence: so RFC 5545 (3.3.5) reads them.
"""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import count
from zoneinfo import ZoneInfo

from bot.domain.digest.view import FULL_VIEW, DigestView
from bot.domain.keyspace.keys import DigestName
from bot.domain.pull_requests.models import Repository
from bot.domain.time.date_range import Span
from bot.domain.time.day import LocalDay

_DAY = timedelta(days=1)
_SATURDAY = 5


@dataclass(frozen=True, slots=True)
class DigestSpec:
    """The digest of one day, or of a few, of a repository, as one channel gets it."""

    channel: str
    repository: Repository
    span: Span
    view: DigestView = FULL_VIEW

    @property
    def title(self) -> str:
        """For people who run the bot: ``owner/name, Saturday 28 February 2026``."""
        return ", ".join([str(self.repository), self.span.title, *([str(self.view)] if self.view else [])])

    def key(self, team: str) -> str:
        """What its messages carry, and where its record is: equal for equal content and no other.

        A zone counts by the intervals of UTC that it makes of the dates: Berlin and Paris share a digest.
        """
        return self._name(team, self.span.utc_offsets).key

    def dated_key(self, team: str) -> str:
        """The key as it was while dates alone made it up: one for all zones. Records of then are still read."""
        return self._name(team).key

    def _name(self, team: str, offsets: str = "") -> DigestName:
        view = self.view.fingerprint if self.view else ""
        return DigestName(team, self.channel, str(self.repository), str(self.span), offsets, view)


@lru_cache(maxsize=4_096)
def _exists(date: dt.date, zone: ZoneInfo) -> bool:
    """Whether a zone had that date: Samoa left out its 30 December 2011."""
    day = LocalDay(date, zone)
    return day.start < day.end


@dataclass(frozen=True, slots=True)
class Timing:
    """When a digest is posted: at a local time, each day or from Monday to Friday."""

    at: dt.time
    zone: ZoneInfo
    weekdays: bool = False

    def due_on(self, date: dt.date) -> datetime:
        """The instant (UTC) of the post of a local date, in whole seconds."""
        return datetime.combine(date, self.at.replace(microsecond=0), tzinfo=self.zone).astimezone(UTC)

    def first_from(self, date: dt.date) -> datetime:
        """The first instant (UTC) of a post on a local date or later."""
        return self.due_on(next(self._dates(date, _DAY)))

    def first_on(self, instant: datetime) -> datetime:
        """The same from the local date of an instant, which is aware."""
        return self.first_from(instant.astimezone(self.zone).date())

    def next_after(self, instant: datetime) -> datetime:
        """The first instant (UTC) of a post after the one given, which is aware."""
        first = instant.astimezone(self.zone).date() - _DAY
        return next(due for date in self._dates(first, _DAY) if (due := self.due_on(date)) > instant)

    def last_before(self, instant: datetime) -> datetime:
        """The last instant (UTC) of a post before the one given, which is aware."""
        first = instant.astimezone(self.zone).date() + _DAY
        return next(due for date in self._dates(first, -_DAY) if (due := self.due_on(date)) < instant)

    def is_due(self, instant: datetime) -> bool:
        """Whether a post is due at that very instant."""
        return self._date_of(instant) is not None

    def covers(self, due: datetime) -> Span:
        """The local days that the post due at an instant tells of: those since the date of the post before it.

        That is the day before, and on a Monday that follows no weekend posts also Friday and Saturday.
        """
        date = self._date_of(due) or due.astimezone(self.zone).date()
        before = next(self._dates(date - _DAY, -_DAY))
        return Span(before, date - _DAY, self.zone)

    def _dates(self, first: dt.date, step: timedelta) -> Iterator[dt.date]:
        """The dates with a post from ``first`` on, forwards or backwards."""
        return (date for n in count() if self._is_posted_on(date := first + n * step))

    def _date_of(self, instant: datetime) -> dt.date | None:
        """The date whose post is due then: where the clocks skip the end of a date, it comes after midnight."""
        date = instant.astimezone(self.zone).date()
        near = (each for each in (date, date - _DAY) if self._is_posted_on(each))
        return next((each for each in near if self.due_on(each) == instant), None)

    def _is_posted_on(self, date: dt.date) -> bool:
        return not (self.weekdays and date.weekday() >= _SATURDAY) and _exists(date, self.zone)


@dataclass(frozen=True, slots=True)
class Subscription:
    """A digest that a channel, or a person in their direct messages, gets again and again.

    ``by`` is the id of the user who asked for it, empty for the one of the settings. ``follows`` is the user whose
    zone in Slack it follows. ``is_open`` says that the channel is a public one.
    """

    channel: str
    repository: Repository
    timing: Timing
    view: DigestView = FULL_VIEW
    by: str = ""
    follows: str = ""
    is_paused: bool = False
    is_open: bool = False

    @property
    def id(self) -> str:
        """Short and stable: a channel has one subscription for each repository and view."""
        named = "\n".join([self.channel, str(self.repository).casefold(), str(self.view)])
        return hashlib.sha256(named.encode()).hexdigest()[:8]

    @property
    def is_personal(self) -> bool:
        """Whether it goes to one person alone: so Slack begins the ids of direct messages."""
        return self.channel.startswith("D")

    @property
    def is_fixed(self) -> bool:
        """Whether it comes from the settings: people can't change it in Slack."""
        return not self.by

    def digest_spec(self, due: datetime) -> DigestSpec:
        """What is to be posted at that instant."""
        return DigestSpec(self.channel, self.repository, self.timing.covers(due), self.view)
