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
from bot.domain.keyspace.keys import DigestKeyParts
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

    def build_key(self, team: str) -> str:
        """What its messages carry, and where its record is: equal for equal content and no other.

        A zone counts by the intervals of UTC that it makes of the dates: Berlin and Paris share a digest.
        """
        return self._build_key_parts(team, self.span.utc_offsets).key

    def build_dated_key(self, team: str) -> str:
        """The key as it was while dates alone made it up: one for all zones. Records of then are still read."""
        return self._build_key_parts(team).key

    def _build_key_parts(self, team: str, offsets: str = "") -> DigestKeyParts:
        view = self.view.fingerprint if self.view else ""
        return DigestKeyParts(team, self.channel, str(self.repository), str(self.span), offsets, view)


@lru_cache(maxsize=4_096)
def _has_date(date: dt.date, zone: ZoneInfo) -> bool:
    """Whether a zone had that date: Samoa left out its 30 December 2011."""
    day = LocalDay(date, zone)
    return day.start < day.end


@dataclass(frozen=True, slots=True)
class Timing:
    """When a digest is posted: at a local time, each day or from Monday to Friday."""

    at: dt.time
    zone: ZoneInfo
    weekdays: bool = False

    def get_due_time(self, date: dt.date) -> datetime:
        """The instant (UTC) of the post of a local date, in whole seconds."""
        return datetime.combine(date, self.at.replace(microsecond=0), tzinfo=self.zone).astimezone(UTC)

    def find_first_from(self, date: dt.date) -> datetime:
        """The first instant (UTC) of a post on a local date or later."""
        return self.get_due_time(next(self._iterate_dates(date, _DAY)))

    def find_first_on(self, instant: datetime) -> datetime:
        """The same from the local date of an instant, which is aware."""
        return self.find_first_from(instant.astimezone(self.zone).date())

    def find_next_after(self, instant: datetime) -> datetime:
        """The first instant (UTC) of a post after the one given, which is aware."""
        first = instant.astimezone(self.zone).date() - _DAY
        return next(due for date in self._iterate_dates(first, _DAY) if (due := self.get_due_time(date)) > instant)

    def find_last_before(self, instant: datetime) -> datetime:
        """The last instant (UTC) of a post before the one given, which is aware."""
        first = instant.astimezone(self.zone).date() + _DAY
        return next(
            due for date in self._iterate_dates(first, -_DAY) if (due := self.get_due_time(date)) < instant
        )

    def is_due(self, instant: datetime) -> bool:
        """Whether a post is due at that very instant."""
        return self._find_due_date(instant) is not None

    def get_covered_days(self, due: datetime) -> Span:
        """The local days that the post due at an instant tells of: those since the date of the post before it.

        That is the day before, and on a Monday that follows no weekend posts also Friday and Saturday.
        """
        date = self._find_due_date(due) or due.astimezone(self.zone).date()
        previous = next(self._iterate_dates(date - _DAY, -_DAY))
        return Span(previous, date - _DAY, self.zone)

    def _iterate_dates(self, first: dt.date, step: timedelta) -> Iterator[dt.date]:
        """The dates with a post from ``first`` on, forwards or backwards."""
        return (date for n in count() if self._is_posted_on(date := first + n * step))

    def _find_due_date(self, instant: datetime) -> dt.date | None:
        """The date whose post is due then: where the clocks skip the end of a date, it comes after midnight."""
        date = instant.astimezone(self.zone).date()
        near = (each for each in (date, date - _DAY) if self._is_posted_on(each))
        return next((each for each in near if self.get_due_time(each) == instant), None)

    def _is_posted_on(self, date: dt.date) -> bool:
        return not (self.weekdays and date.weekday() >= _SATURDAY) and _has_date(date, self.zone)


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
        identity = "\n".join([self.channel, str(self.repository).casefold(), str(self.view)])
        return hashlib.sha256(identity.encode()).hexdigest()[:8]

    @property
    def is_personal(self) -> bool:
        """Whether it goes to one person alone: so Slack begins the ids of direct messages."""
        return self.channel.startswith("D")

    @property
    def is_fixed(self) -> bool:
        """Whether it comes from the settings: people can't change it in Slack."""
        return not self.by

    def build_digest_spec(self, due: datetime) -> DigestSpec:
        """What is to be posted at that instant."""
        return DigestSpec(self.channel, self.repository, self.timing.get_covered_days(due), self.view)
