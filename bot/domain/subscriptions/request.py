"""Requests about subscriptions, parsed from text; ``str`` of one parses to the same request."""

from __future__ import annotations

import datetime as dt
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Self
from zoneinfo import ZoneInfo

from bot.domain.conversations.commands import AllowedRepositories
from bot.domain.digest.view import FULL_VIEW, DigestView, parse_view_level
from bot.domain.errors import UsageError
from bot.domain.pull_requests.models import Repository
from bot.domain.pull_requests.query_options import FILTER_NAMES, QueryOptions, check_length
from bot.domain.subscriptions.models import Subscription
from bot.domain.text.strings import quote_input
from bot.domain.time.day import parse_zone

ALL_WORD = "all"
PREVIEWS_WORD = "previews"
OWN_ZONE_WORD = "mine"
_DAY_HALVES = ("am", "pm")
_TIME_PATTERN = re.compile(r"(?P<hour>\d{1,2})(?:[:.](?P<minute>\d{2}))?\s*(?P<half>am|pm)?", re.I)
ID_PATTERN = re.compile(r"[0-9a-f]{4,8}")
_USAGE_HINT = (
    "write owner/repo, at 09:00, tz Europe/Berlin or tz mine, weekdays or daily, me, previews, path:…, "
    "only:risky or profile:…"
)


class SubscriptionVerb(StrEnum):
    """What is to be done about subscriptions, as people type it and jobs carry it: never changed."""

    SUBSCRIBE = "subscribe"
    UNSUBSCRIBE = "unsubscribe"
    PAUSE = "pause"
    RESUME = "resume"
    LIST = "list"

    @property
    def has_selector(self) -> bool:
        """Whether it is about subscriptions that a selector finds."""
        return self not in (SubscriptionVerb.SUBSCRIBE, SubscriptionVerb.LIST)


@dataclass(frozen=True, slots=True)
class SubscriptionRequest:
    """A requested subscription. Omitted options are None or false.

    ``is_mine``: in the asker's own zone in Slack. ``is_personal``: for the asker alone. ``has_previews``: links
    in the channel get previews from now on.
    """

    repository: Repository
    at: dt.time | None = None
    zone: ZoneInfo | None = None
    is_mine: bool = False
    weekdays: bool | None = None
    view: DigestView = FULL_VIEW
    is_personal: bool = False
    has_previews: bool = False

    def __post_init__(self) -> None:
        check_length(str(self))

    @classmethod
    def parse(cls, text: str, repositories: AllowedRepositories) -> SubscriptionRequest:
        """Parse the text after the command. Raises UsageError."""
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
            weekdays={"weekdays": True, "daily": False}.get(values.get("days", "")),
            view=DigestView(
                options.filters, parse_view_level(options.get_last("only")), options.get_last("profile")
            ),
            is_personal="me" in values or options.is_private,
            has_previews=PREVIEWS_WORD in values,
        )

    def require_known(self, repositories: AllowedRepositories) -> Self:
        """Return the request with its repository as the settings spell it. Raises UsageError."""
        return replace(self, repository=repositories.require_known(self.repository))

    def __str__(self) -> str:
        words = [
            f"repo:{self.repository}",
            *([f"at:{self.at:%H:%M}"] if self.at else []),
            *([f"tz:{self.zone}"] if self.zone else []),
            *([f"tz:{OWN_ZONE_WORD}"] if self.is_mine else []),
            *([] if self.weekdays is None else ["weekdays" if self.weekdays else "daily"]),
            *(["me"] if self.is_personal else []),
            *([PREVIEWS_WORD] if self.has_previews else []),
            *self.view.list_options(),
        ]
        return " ".join(words)


def _classify_words(words: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the words without an option name, with their kinds. Raises UsageError."""
    left = deque(words)
    while left:
        word = left.popleft()
        low = word.lower()
        if low in ("at", "tz", "repo"):
            value = left.popleft() if left else ""
            has_half = low == "at" and left and left[0].lower() in _DAY_HALVES
            yield low, value + left.popleft() if has_half else value
        elif low in ("weekdays", "daily"):
            yield "days", low
        elif low in ("me", PREVIEWS_WORD):
            yield low, low
        elif "/" in word:
            yield "repo", word
        else:
            raise UsageError(f"I don't understand {quote_input(word)}: {_USAGE_HINT}.")


def parse_time(text: str) -> dt.time:
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
        return dt.time(hour, int(match["minute"] or 0))
    except ValueError as error:
        raise UsageError(refusal) from error


class AmbiguousSelection(UsageError):
    """Error for a choice that fits several ``subscriptions``."""

    def __init__(self, subscriptions: tuple[Subscription, ...]) -> None:
        super().__init__("Several subscriptions match: write an id as the list shows it, or all.")
        self.subscriptions = subscriptions


@dataclass(frozen=True, slots=True)
class SubscriptionSelector:
    """A selector of a channel's subscriptions: one by its id, those of a repository, all, or the only one."""

    id: str = ""
    repository: Repository | None = None
    is_all: bool = False

    @classmethod
    def parse(cls, text: str, repositories: AllowedRepositories) -> SubscriptionSelector:
        """Parse the text after the command. Raises UsageError."""
        words = text.split()
        if len(words) > 1:
            raise UsageError("Which one? Add its repository, its id from /prdigest list, or all.")
        word = "".join(words).removeprefix("repo:")
        if word.lower() == ALL_WORD:
            return cls(is_all=True)
        if "/" in word:
            return cls(repository=repositories.parse_repository(word))
        if word and not ID_PATTERN.fullmatch(word.lower()):
            raise UsageError(
                f"I don't understand {quote_input(word)}: write a repository, an id from /prdigest list, or all."
            )
        return cls(id=word.lower())

    def require_known(self, repositories: AllowedRepositories) -> Self:
        """Return the selector with its repository as the settings spell it. Raises UsageError."""
        return replace(self, repository=repositories.require_known(self.repository)) if self.repository else self

    def __str__(self) -> str:
        return ALL_WORD if self.is_all else str(self.repository or self.id)

    def list_matching(self, subscriptions: tuple[Subscription, ...]) -> tuple[Subscription, ...]:
        """Return the subscriptions that match. Raises UsageError if there are none."""
        matching = tuple(each for each in subscriptions if self._is_match(each))
        if not subscriptions:
            raise UsageError("There is no subscription here: create one with /prdigest subscribe.")
        if not matching:
            raise UsageError("There is no such subscription here: /prdigest list shows all subscriptions.")
        return matching

    def require_clear(self, matching: tuple[Subscription, ...]) -> tuple[Subscription, ...]:
        """Return the subscriptions that match.

        Raises AmbiguousSelection for several, unless all were asked for.
        """
        if len(matching) > 1 and not self.is_all:
            raise AmbiguousSelection(matching)
        return matching

    def _is_match(self, subscription: Subscription) -> bool:
        if self.repository:
            return subscription.repository == self.repository
        return subscription.id.startswith(self.id)
