"""Subscriptions, the instants at which their digests are due, and what people write to change them.

Times are local. A time that the clocks skip counts with the offset before the change, an ambiguous one is its
first occurrence, as in RFC 5545 (3.3.5). ``str`` of a request or a selector parses to the same one.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import lru_cache
from itertools import count
from typing import Self, TypedDict
from zoneinfo import ZoneInfo

from bot.dates import WEEKDAYS, LocalDay, Span, parse_coming_day, parse_time, parse_weekday, parse_zone
from bot.errors import UsageError
from bot.features.digest.rules import DigestSpec
from bot.features.merges.requests import FULL_VIEW, DigestView, parse_view_level
from bot.platform.commands import FILTER_NAMES, AllowedRepositories, QueryOptions, check_length
from impact.repository import Repository
from impact.text.strings import quote_input

OWN_ZONE_WORD = "mine"
# an id, or the number in the list of the channel
ID_PATTERN = re.compile(r"[0-9a-f]{4,8}|[1-9][0-9]?")
DAY = timedelta(days=1)
_SATURDAY = 5
_SHORTEST_ID = 4
_ALL_WORD, _PREVIEWS_WORD, _UNTIL_WORD = "all", "previews", "until"
_OPEN_WORD, _NO_OPEN_WORD = "open", "no-open"
DAILY, ON_WEEKDAYS, WEEKLY = "daily", "weekdays", "weekly"
_BARE_TIME = re.compile(r"\d{1,2}:\d\d|\d{1,2}(?::\d\d)?[ap]m", re.ASCII)
_USAGE_HINT = (
    "write owner/repo, at 09:00, tz Europe/Berlin or tz mine, daily, weekdays or weekly monday, me, previews, "
    "open, path:…, only:breaking, only:risky or profile:…"
)


@lru_cache(maxsize=4_096)
def _has_date(date: dt.date, zone: ZoneInfo) -> bool:
    """Return whether a zone had that date: Samoa skipped its 30 December 2011."""
    day = LocalDay(date, zone)
    return day.start < day.end


@dataclass(frozen=True, slots=True)
class Timing:
    """The time of posts: every day, from Monday to Friday (``weekdays``), or on one ``weekday`` (Monday is 0)."""

    at: dt.time
    zone: ZoneInfo
    weekdays: bool = False
    weekday: int | None = None

    def get_due_time(self, date: dt.date) -> datetime:
        """Return the instant (UTC) of the post of a local date, in whole seconds."""
        return datetime.combine(date, self.at.replace(microsecond=0), tzinfo=self.zone).astimezone(UTC)

    def find_first_from(self, date: dt.date) -> datetime:
        """Return the first instant (UTC) of a post on a local date or later."""
        return self.get_due_time(next(self._iterate_dates(date, DAY)))

    def find_first_on(self, instant: datetime) -> datetime:
        """Return the first instant (UTC) of a post on the local date of an instant (aware) or later."""
        return self.find_first_from(instant.astimezone(self.zone).date())

    def find_next_after(self, instant: datetime) -> datetime:
        """Return the first instant (UTC) of a post after an instant (aware)."""
        first = instant.astimezone(self.zone).date() - DAY
        return next(due for date in self._iterate_dates(first, DAY) if (due := self.get_due_time(date)) > instant)

    def find_last_before(self, instant: datetime) -> datetime:
        """Return the last instant (UTC) of a post before an instant (aware)."""
        first = instant.astimezone(self.zone).date() + DAY
        return next(due for date in self._iterate_dates(first, -DAY) if (due := self.get_due_time(date)) < instant)

    def is_due(self, instant: datetime) -> bool:
        return self._find_due_date(instant) is not None

    def get_covered_days(self, due: datetime) -> Span:
        """Return the days that a post covers: those since the date of the post before it."""
        date = self._find_due_date(due) or due.astimezone(self.zone).date()
        previous = next(self._iterate_dates(date - DAY, -DAY))
        return Span(previous, date - DAY, self.zone)

    def _iterate_dates(self, first: dt.date, step: timedelta) -> Iterator[dt.date]:
        """Yield the dates with a post from ``first`` on, forwards or backwards."""
        return (date for n in count() if self._is_posted_on(date := first + n * step))

    def _find_due_date(self, instant: datetime) -> dt.date | None:
        """Return the date whose post is due then: after midnight, where the clocks skip the end of a date."""
        date = instant.astimezone(self.zone).date()
        near = (each for each in (date, date - DAY) if self._is_posted_on(each))
        return next((each for each in near if self.get_due_time(each) == instant), None)

    def _is_posted_on(self, date: dt.date) -> bool:
        is_chosen = self.weekday in (None, date.weekday()) and not (self.weekdays and date.weekday() >= _SATURDAY)
        return is_chosen and _has_date(date, self.zone)


@dataclass(frozen=True, slots=True)
class Subscription:
    """A recurring digest for a channel, or for a person in their direct messages.

    ``by`` is the id of the user who subscribed, empty for the one of the settings. ``follows`` is the user whose
    zone in Slack it follows. ``is_open``: the channel is public. ``has_open_pulls``: once a week, the open pull
    requests that would break its profile are posted, too.
    """

    channel: str
    repository: Repository
    timing: Timing
    view: DigestView = FULL_VIEW
    by: str = ""
    follows: str = ""
    is_paused: bool = False
    is_open: bool = False
    has_open_pulls: bool = False
    is_second: bool = (
        False  # came to a daily one as a weekly one of the same repository and view, or to a weekly one
    )

    @property
    def is_weekly(self) -> bool:
        return self.timing.weekday is not None

    @property
    def id(self) -> str:
        """A short, stable id: a channel has two subscriptions for each repository and view, one of them weekly."""
        second = ["second"] if self.is_second else []
        identity = "\n".join([self.channel, str(self.repository).casefold(), str(self.view), *second])
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
        return DigestSpec(self.channel, self.repository, self.timing.get_covered_days(due), self.view)


# --- what people write


class SubscriptionVerb(StrEnum):
    """What is to be done about subscriptions, as people type it and jobs carry it: never changed."""

    SUBSCRIBE = "subscribe"
    UNSUBSCRIBE = "unsubscribe"
    PAUSE = "pause"
    SNOOZE = "snooze"
    RESUME = "resume"
    LIST = "list"


@dataclass(frozen=True, slots=True)
class SubscriptionRequest:
    """A requested subscription: ``is_mine`` in the asker's own zone in Slack, ``is_personal`` for them alone.

    ``weekdays`` and ``weekday`` are as in :class:`Timing`; both are None if nothing is said of the days, as
    ``has_open_pulls`` is if nothing is said of them.
    """

    repository: Repository
    at: dt.time | None = None
    zone: ZoneInfo | None = None
    is_mine: bool = False
    weekdays: bool | None = None
    weekday: int | None = None
    view: DigestView = FULL_VIEW
    is_personal: bool = False
    has_previews: bool = False
    has_open_pulls: bool | None = None

    def __post_init__(self) -> None:
        check_length(str(self))

    @classmethod
    def parse(cls, text: str, repositories: AllowedRepositories) -> SubscriptionRequest:
        options = QueryOptions.parse(text, ("repo", "at", "tz", *FILTER_NAMES, "only", "profile"))
        values = {name: options.get_last(name) for name in ("repo", "at", "tz") if options.get_last(name)}
        for name, value in _classify_words(options.arguments):
            if name in values:
                raise UsageError(
                    f"You wrote both {quote_input(values[name])} and {quote_input(value)}: leave one out."
                )
            values[name] = value
        # without its time, "at" takes the next word, and a zone becomes a repository: check the time first
        at = parse_time(values["at"]) if "at" in values else None
        is_mine = values.get("tz", "").lower() == OWN_ZONE_WORD
        return cls(
            repository=repositories.parse_repository(values["repo"]) if "repo" in values else repositories.default,
            at=at,
            zone=parse_zone(values["tz"]) if "tz" in values and not is_mine else None,
            is_mine=is_mine,
            **parse_days(values.get("days", "")),
            view=DigestView(
                options.filters, parse_view_level(options.get_last("only")), options.get_last("profile")
            ),
            is_personal="me" in values or options.is_private,
            has_previews=_PREVIEWS_WORD in values,
            has_open_pulls={_OPEN_WORD: True, _NO_OPEN_WORD: False}.get(values.get(_OPEN_WORD, "")),
        )

    def require_known(self, repositories: AllowedRepositories) -> Self:
        return replace(self, repository=repositories.require_known(self.repository))

    def __str__(self) -> str:
        words = (
            f"repo:{self.repository}",
            f"at:{self.at:%H:%M}" if self.at else "",
            f"tz:{self.zone}" if self.zone else "",
            f"tz:{OWN_ZONE_WORD}" if self.is_mine else "",
            format_days(self),
            "me" if self.is_personal else "",
            _PREVIEWS_WORD if self.has_previews else "",
            {None: "", True: _OPEN_WORD, False: _NO_OPEN_WORD}[self.has_open_pulls],
            *self.view.list_options(),
        )
        return " ".join(filter(None, words))


class _Days(TypedDict):
    weekdays: bool | None
    weekday: int | None


def parse_days(text: str) -> _Days:
    """Parse the text of :func:`format_days`."""
    if text.startswith(WEEKLY):
        return {"weekdays": False, "weekday": parse_weekday(text.removeprefix(WEEKLY))}
    return {"weekdays": {ON_WEEKDAYS: True, DAILY: False}.get(text), "weekday": None}


def format_days(timing: Timing | SubscriptionRequest) -> str:
    """Return what people write for the days, such as ``weekly monday``; empty if nothing is said of them."""
    if timing.weekday is not None:
        return f"{WEEKLY} {WEEKDAYS[timing.weekday]}"
    return "" if timing.weekdays is None else ON_WEEKDAYS if timing.weekdays else DAILY


def _classify_words(words: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the words without an option name, with their kinds. Raises UsageError."""
    left = deque(words)
    while left:
        word = left.popleft()
        low = word.lower()
        if low in ("at", "tz", "repo"):
            value = left.popleft() if left else ""
            has_half = low == "at" and left and left[0].lower() in ("am", "pm")
            yield low, value + left.popleft() if has_half else value
        elif low in (ON_WEEKDAYS, DAILY):
            yield "days", low
        elif low == WEEKLY or parse_weekday(low) is not None:
            if low == WEEKLY and left and left[0].lower() == "on":
                left.popleft()
            is_named = low != WEEKLY or (left and parse_weekday(left[0]) is not None)
            named = low if low != WEEKLY else left.popleft() if is_named else ""
            yield "days", f"{WEEKLY} {WEEKDAYS[parse_weekday(named) or 0]}"
        elif _BARE_TIME.fullmatch(low):
            yield "at", word
        elif low in ("me", _PREVIEWS_WORD):
            yield low, low
        elif low in (_OPEN_WORD, _NO_OPEN_WORD):
            yield _OPEN_WORD, low
        elif "/" in word:
            yield "repo", word
        else:
            raise UsageError(f"I don't understand {quote_input(word)}: {_USAGE_HINT}.")


class AmbiguousSelection(UsageError):
    def __init__(self, subscriptions: tuple[Subscription, ...]) -> None:
        super().__init__("Several subscriptions match: write the number of one in /prdigest list, or all.")
        self.subscriptions = subscriptions


@dataclass(frozen=True, slots=True)
class SubscriptionSelector:
    """A selector of a channel's subscriptions: by id, number or repository, all, or the only one."""

    id: str = ""
    repository: Repository | None = None
    is_all: bool = False

    @classmethod
    def parse(cls, text: str, repositories: AllowedRepositories) -> SubscriptionSelector:
        words = text.split()
        if len(words) > 1:
            raise UsageError("Which one? Add its repository, its number in /prdigest list, or all.")
        word = "".join(words).removeprefix("repo:")
        if word.lower() == _ALL_WORD:
            return cls(is_all=True)
        if "/" in word:
            return cls(repository=repositories.parse_repository(word))
        if word and not ID_PATTERN.fullmatch(word.lower()):
            raise UsageError(
                f"I don't understand {quote_input(word)}: write a repository, a number in /prdigest list, or all."
            )
        return cls(id=word.lower())

    def require_known(self, repositories: AllowedRepositories) -> Self:
        return replace(self, repository=repositories.require_known(self.repository)) if self.repository else self

    def __str__(self) -> str:
        return _ALL_WORD if self.is_all else str(self.repository or self.id)

    @property
    def is_number(self) -> bool:
        """Whether ``id`` is a number in the list of the channel: ids are longer."""
        return self.id.isdecimal() and len(self.id) < _SHORTEST_ID

    def list_matching(self, subscriptions: tuple[Subscription, ...]) -> tuple[Subscription, ...]:
        if not subscriptions:
            raise UsageError("There is no subscription here: create one with /prdigest subscribe.")
        if self.is_number:
            matching = subscriptions[int(self.id) - 1 :][:1]
        else:
            matching = tuple(
                each
                for each in subscriptions
                if (each.repository == self.repository if self.repository else each.id.startswith(self.id))
            )
        if not matching:
            raise UsageError("There is no such subscription here: /prdigest list shows all subscriptions.")
        return matching

    def require_clear(self, matching: tuple[Subscription, ...]) -> tuple[Subscription, ...]:
        if len(matching) > 1 and not self.is_all:
            raise AmbiguousSelection(matching)
        return matching


@dataclass(frozen=True, slots=True)
class SubscriptionCommand:
    """What somebody wants done: a ``wish`` for a subscription, or a verb for those that ``which`` selects.

    ``until`` is the first day with a post after a pause.
    """

    verb: SubscriptionVerb
    which: SubscriptionSelector = SubscriptionSelector()
    wish: SubscriptionRequest | None = None
    channel: str = ""
    replaces: str = ""
    until: dt.date | None = None

    @classmethod
    def parse_pause(cls, text: str, repositories: AllowedRepositories, today: LocalDay) -> Self:
        """Parse what follows ``pause`` or ``snooze``: ``until`` a day makes it a snooze. Raises UsageError."""
        words = text.split()
        at = next((place for place, word in enumerate(words) if word.lower() == _UNTIL_WORD), None)
        which = SubscriptionSelector.parse(" ".join(words[:at]), repositories)
        if at is None:
            return cls(SubscriptionVerb.PAUSE, which)
        return cls(SubscriptionVerb.SNOOZE, which, until=parse_coming_day(" ".join(words[at + 1 :]), today))


# --- runs: the entries of the log that operators read


class RunOutcome(StrEnum):
    POSTED = "posted"
    MENDED = "mended"  # it was posted incomplete and has been edited since
    FAILED = "failed"
    SKIPPED = "skipped"  # it was too late to be of use


@dataclass(frozen=True, slots=True)
class Run:
    """One attempt: when it ended (UTC), the key of the digest, the result, and a sentence about it."""

    at: datetime
    key: str
    outcome: RunOutcome
    detail: str = ""
