"""Requests of people who come back or move on: what happened since a day, what goes away, how to upgrade."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

from bot.domain.conversations.commands import AllowedRepositories
from bot.domain.errors import UsageError
from bot.domain.pull_requests.models import Repository
from bot.domain.pull_requests.query_options import QueryOptions
from bot.domain.text.strings import quote_input
from bot.domain.time.date_range import Span, check_span, parse_day
from bot.domain.time.day import LocalDay
from impact.profile.names import parse_profile_name
from impact.source.revisions import is_hash, is_tag

SINCE_WORD, DEPRECATIONS_WORD, UPGRADE_WORD = "since", "deprecations", "upgrade"
# a summer; each day takes a call to GitHub, and all else was read before
MAX_SINCE_DAYS = 62
# two releases of most projects; each day takes a call to GitHub, and each merge that nobody has read yet two
MAX_UPGRADE_DAYS = 186


@dataclass(frozen=True, slots=True)
class SinceRequest:
    """A request for one page on all that was merged since a day: ``since 2026-11-01``."""

    kind: ClassVar[str] = SINCE_WORD
    repository: Repository
    span: Span
    profile: str = ""
    is_private: bool = False

    @classmethod
    def parse(cls, text: str, repositories: AllowedRepositories, today: LocalDay) -> SinceRequest:
        """Parse the text after the command, with or without its first word. Raises UsageError."""
        options = QueryOptions.parse(text, ("profile", "repo"))
        words = " ".join(_drop_word(options.arguments, SINCE_WORD))
        if not words:
            raise UsageError("Since when? Add a day, such as since 2026-11-01.")
        first, _, last = words.partition("..")
        span = Span(parse_day(first, today).date, parse_day(last, today).date if last else today.date, today.zone)
        return cls(
            _parse_repository(options, repositories),
            check_span(span, today, MAX_SINCE_DAYS),
            _parse_profile(options),
            is_private=options.is_private,
        )

    def require_known(self, repositories: AllowedRepositories) -> Self:
        """Return the request with its repository as the settings spell it. Raises UsageError."""
        return replace(self, repository=repositories.require_known(self.repository))

    def __str__(self) -> str:
        profile = [f"profile:{self.profile}"] if self.profile else []
        return " ".join([SINCE_WORD, f"{self.span.first}..{self.span.last}", f"repo:{self.repository}", *profile])


@dataclass(frozen=True, slots=True)
class DeprecationsRequest:
    """A request for what a repository will remove: ``deprecations profile:ascend``."""

    kind: ClassVar[str] = DEPRECATIONS_WORD
    repository: Repository
    profile: str = ""
    is_private: bool = False

    @classmethod
    def parse(cls, text: str, repositories: AllowedRepositories) -> DeprecationsRequest:
        """Parse the text after the command, with or without its first word. Raises UsageError."""
        options = QueryOptions.parse(text, ("profile", "repo"))
        rest = _drop_word(options.arguments, DEPRECATIONS_WORD)
        if rest:
            raise UsageError(f"I don't understand {quote_input(' '.join(rest))}: add profile:NAME or nothing.")
        return cls(_parse_repository(options, repositories), _parse_profile(options), options.is_private)

    def require_known(self, repositories: AllowedRepositories) -> Self:
        """Return the request with its repository as the settings spell it. Raises UsageError."""
        return replace(self, repository=repositories.require_known(self.repository))

    def __str__(self) -> str:
        profile = [f"profile:{self.profile}"] if self.profile else []
        return " ".join([DEPRECATIONS_WORD, f"repo:{self.repository}", *profile])


@dataclass(frozen=True, slots=True)
class UpgradeRequest:
    """A request for the way from a pin to now: ``upgrade v0.13.0 profile:ascend``.

    ``start`` is a hash, its beginning or a tag. Without one, the pin in the profile is meant.
    """

    kind: ClassVar[str] = UPGRADE_WORD
    start: str = ""
    profile: str = ""
    is_private: bool = False

    @classmethod
    def parse(cls, text: str) -> UpgradeRequest:
        """Parse the text after the command, with or without its first word. Raises UsageError."""
        options = QueryOptions.parse(text, ("profile", "from"))
        rest = _drop_word(options.arguments, UPGRADE_WORD)
        start = options.get_last("from")
        if len(rest) > 1 or (rest and start):
            raise UsageError(
                f"I don't understand {quote_input(' '.join(rest))}: write upgrade and one commit or tag."
            )
        start = start or "".join(rest)
        if start and not (is_hash(start) or is_tag(start)):
            raise UsageError(
                f"{quote_input(start)} is no commit: write 7 to 40 digits of its hash, or a tag such as v1.2.0."
            )
        return cls(start.lower() if is_hash(start) else start, _parse_profile(options), options.is_private)

    def require_known(self, _: AllowedRepositories) -> Self:
        """Return the request: whether the bot may answer about its upstream is checked with the profile."""
        return self

    def __str__(self) -> str:
        start = [f"from:{self.start}"] if self.start else []
        profile = [f"profile:{self.profile}"] if self.profile else []
        return " ".join([UPGRADE_WORD, *start, *profile])


def _parse_repository(options: QueryOptions, repositories: AllowedRepositories) -> Repository:
    text = options.get_last("repo")
    return repositories.parse_repository(text) if text else repositories.default


def _parse_profile(options: QueryOptions) -> str:
    text = options.get_last("profile")
    return parse_profile_name(text) if text else ""


def _drop_word(arguments: list[str], word: str) -> list[str]:
    """Return the arguments without a word at their beginning."""
    return arguments[1:] if [each.lower() for each in arguments[:1]] == [word] else arguments
