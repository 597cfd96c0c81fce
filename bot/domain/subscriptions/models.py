"""Subscriptions, and the instants at which their digests are due.

Times are local. A time that the clocks skip counts with the offset before the change, an ambiguous one is its
first occurrence, as in RFC 5545 (3.3.5).
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
from bot.domain.keyspace.digest_keys import DigestKeyParts
from bot.domain.pull_requests.models import Repository
from bot.domain.time.date_range import Span
from bot.domain.time.day import LocalDay

_DAY = timedelta(days=1)
_SATURDAY = 5


@dataclass(frozen=True, slots=True)
class DigestSpec:
    """The specification of a digest: days of a repository, as one channel gets them."""

    channel: str
    repository: Repository
    span: Span
    view: DigestView = FULL_VIEW

    @property
    def title(self) -> str:
        """The name for operators: ``owner/name, Saturday 28 February 2026``."""
        return ", ".join([str(self.repository), self.span.title, *([str(self.view)] if str(self.view) else [])])

    def build_key(self, team: str) -> str:
        """Return the key in its messages and of its record: equal for equal content and no other.

        A zone counts by the UTC intervals of its dates: Berlin and Paris share a digest.
        """
        days, offsets = str(self.span), self.span.utc_offsets
        return DigestKeyParts(team, self.channel, str(self.repository), days, offsets, self.view.fingerprint).key


@lru_cache(maxsize=4_096)
def _has_date(date: dt.date, zone: ZoneInfo) -> bool:
    """Return whether a zone had that date: Samoa skipped its 30 December 2011."""
    day = LocalDay(date, zone)
    return day.start < day.end


@dataclass(frozen=True, slots=True)
class Timing:
    """The times of a digest: a local time, each day or from Monday to Friday."""

    at: dt.time
    zone: ZoneInfo
    weekdays: bool = False

    def get_due_time(self, date: dt.date) -> datetime:
        """Return the instant (UTC) of the post of a local date, in whole seconds."""
        return datetime.combine(date, self.at.replace(microsecond=0), tzinfo=self.zone).astimezone(UTC)

    def find_first_from(self, date: dt.date) -> datetime:
        """Return the first instant (UTC) of a post on a local date or later."""
        return self.get_due_time(next(self._iterate_dates(date, _DAY)))

    def find_first_on(self, instant: datetime) -> datetime:
        """Return the first instant (UTC) of a post on the local date of an instant (aware) or later."""
        return self.find_first_from(instant.astimezone(self.zone).date())

    def find_next_after(self, instant: datetime) -> datetime:
        """Return the first instant (UTC) of a post after an instant (aware)."""
        first = instant.astimezone(self.zone).date() - _DAY
        return next(due for date in self._iterate_dates(first, _DAY) if (due := self.get_due_time(date)) > instant)

    def find_last_before(self, instant: datetime) -> datetime:
        """Return the last instant (UTC) of a post before an instant (aware)."""
        first = instant.astimezone(self.zone).date() + _DAY
        return next(
            due for date in self._iterate_dates(first, -_DAY) if (due := self.get_due_time(date)) < instant
        )

    def is_due(self, instant: datetime) -> bool:
        """Return whether a post is due exactly at that instant."""
        return self._find_due_date(instant) is not None

    def get_covered_days(self, due: datetime) -> Span:
        """Return the local days that the post due at an instant covers: those since the date of the previous post.

        That is the day before; on a Monday without posts at the weekend, also Friday and Saturday.
        """
        date = self._find_due_date(due) or due.astimezone(self.zone).date()
        previous = next(self._iterate_dates(date - _DAY, -_DAY))
        return Span(previous, date - _DAY, self.zone)

    def _iterate_dates(self, first: dt.date, step: timedelta) -> Iterator[dt.date]:
        """Yield the dates with a post from ``first`` on, forwards or backwards."""
        return (date for n in count() if self._is_posted_on(date := first + n * step))

    def _find_due_date(self, instant: datetime) -> dt.date | None:
        """Return the date whose post is due at an instant.

        Where the clocks skip the end of a date, its post is due after midnight.
        """
        date = instant.astimezone(self.zone).date()
        near = (each for each in (date, date - _DAY) if self._is_posted_on(each))
        return next((each for each in near if self.get_due_time(each) == instant), None)

    def _is_posted_on(self, date: dt.date) -> bool:
        return not (self.weekdays and date.weekday() >= _SATURDAY) and _has_date(date, self.zone)


@dataclass(frozen=True, slots=True)
class Subscription:
    """A recurring digest for a channel, or for a person in their direct messages.

    ``by`` is the id of the user who subscribed, empty for the one of the settings. ``follows`` is the user whose
    zone in Slack it follows. ``is_open``: the channel is public.
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
        """A short, stable id: a channel has one subscription for each repository and view."""
        identity = "\n".join([self.channel, str(self.repository).casefold(), str(self.view)])
        return hashlib.sha256(identity.encode()).hexdigest()[:8]

    @property
    def is_personal(self) -> bool:
        """Whether it is for one person alone: the ids of direct messages begin with a D."""
        return self.channel.startswith("D")

    @property
    def is_fixed(self) -> bool:
        """Whether it is that of the settings, which users cannot change in Slack."""
        return not self.by

    def build_digest_spec(self, due: datetime) -> DigestSpec:
        """Return the specification of the digest that is due at that instant."""
        return DigestSpec(self.channel, self.repository, self.timing.get_covered_days(due), self.view)
