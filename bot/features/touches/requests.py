"""What people may ask about contract changes, hits, deprecations, upgrades, errors, and what they missed.

``str`` of a request is a text that parses to the same request on any later day.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from bot.dates import LocalDay, Span, check_span, parse_day, parse_span
from bot.errors import UsageError
from bot.platform.commands import (
    FILTER_NAMES,
    PRIVATE_WORD,
    AllowedRepositories,
    QueryOptions,
    RepositoryRequest,
    check_length,
)
from bot.platform.pulls.paths import NO_FILTERS, Filters
from bot.platform.slack.requests import restore_user_text
from impact.profile.models import parse_profile_name
from impact.repository import Repository
from impact.source.models import is_hash, is_tag
from impact.text.strings import quote_input
from impact.touches.breakage.traceback_names import condense_trace

MAX_CONTRACT_DAYS = 31
# a summer; each day takes a call to GitHub, and all else was read before
MAX_SINCE_DAYS = 62
# two releases of most projects; each day takes a call to GitHub, and each merge that nobody has read yet two
MAX_UPGRADE_DAYS = 186
# the contract of every merge in between is read
MAX_BROKE_DAYS = 45
# characters of a pasted text that are read, and of what is kept of it: a request fits into a button
_MAX_PASTED, _MAX_ERROR = 100_000, 1_000
_SINCE = re.compile(r"(?<!\S)since:?\s{1,5}(?P<what>[\w./-]{1,80})(?!\S)", re.I)
_REPOSITORY = re.compile(r"(?<!\S)repo:(?P<name>[\w.-]{1,100}/[\w.-]{1,100})(?!\S)")
_PRIVATE = re.compile(rf"(?<!\S){PRIVATE_WORD}\s*\Z|\A{PRIVATE_WORD}(?!\S)", re.I)
_COMMIT = re.compile(r"[0-9a-f]{7,40}")
_DAYS = re.compile(r"\d{4}-\d\d-\d\d|\d{1,3}[dw]|yesterday|today", re.I)


class _ProfileRequest:
    """A request about the upstream of a profile; without a name, the only profile is meant."""

    __slots__ = ()

    def require_known(self, _: AllowedRepositories) -> Self:
        return self


@dataclass(frozen=True, slots=True)
class ContractRequest(RepositoryRequest):
    kind: ClassVar[str] = "contract"
    span: Span
    filters: Filters = NO_FILTERS
    is_private: bool = False

    def __post_init__(self) -> None:
        check_length(str(self))

    @classmethod
    def parse(cls, text: str, repositories: AllowedRepositories, today: LocalDay) -> ContractRequest:
        """Parse the text after the command, with or without its first word. All here raise UsageError."""
        options = QueryOptions.parse(text, (*FILTER_NAMES, "repo"))
        span = parse_span(" ".join(_drop_words(options, cls.kind)), today, MAX_CONTRACT_DAYS)
        return cls(repositories.choose_repository(options), span, options.filters, options.is_private)

    def __str__(self) -> str:
        return " ".join([self.kind, str(self.span), f"repo:{self.repository}", *self.filters.list_options()])


@dataclass(frozen=True, slots=True)
class TouchesRequest(_ProfileRequest):
    kind: ClassVar[str] = "touches"
    span: Span
    profile: str = ""
    is_private: bool = False

    @classmethod
    def parse(cls, text: str, today: LocalDay) -> TouchesRequest:
        options = QueryOptions.parse(text, ("profile",))
        span = parse_span(" ".join(_drop_words(options, cls.kind)), today, MAX_CONTRACT_DAYS)
        return cls(span, _parse_profile(options), options.is_private)

    def __str__(self) -> str:
        return f"{self.kind} {self.span}{_format_profile(self.profile)}"


@dataclass(frozen=True, slots=True)
class PendingRequest(_ProfileRequest):
    kind: ClassVar[str] = "pending"
    # what is typed for it
    words: ClassVar[str] = "pending"
    profile: str = ""
    is_private: bool = False

    @classmethod
    def parse(cls, text: str) -> Self:
        options = QueryOptions.parse(text, ("profile",))
        _refuse_words(options, cls.words)
        return cls(_parse_profile(options), options.is_private)

    def __str__(self) -> str:
        return f"{self.words}{_format_profile(self.profile)}"


@dataclass(frozen=True, slots=True)
class TouchScoreRequest(PendingRequest):
    kind: ClassVar[str] = "touch_score"
    words: ClassVar[str] = f"{TouchesRequest.kind} score"


def parse_touches(text: str, today: LocalDay) -> TouchesRequest | TouchScoreRequest:
    is_score = " ".join(text.lower().split()[:2]) == TouchScoreRequest.words
    return TouchScoreRequest.parse(text) if is_score else TouchesRequest.parse(text, today)


@dataclass(frozen=True, slots=True)
class SinceRequest(RepositoryRequest):
    kind: ClassVar[str] = "since"
    span: Span
    profile: str = ""
    is_private: bool = False

    @classmethod
    def parse(cls, text: str, repositories: AllowedRepositories, today: LocalDay) -> SinceRequest:
        options = QueryOptions.parse(text, ("profile", "repo"))
        words = " ".join(_drop_words(options, cls.kind))
        if not words:
            raise UsageError("Since when? Add a day, such as since 2026-11-01.")
        first, _, last = words.partition("..")
        span = Span(parse_day(first, today).date, parse_day(last, today).date if last else today.date, today.zone)
        check_span(span, today, MAX_SINCE_DAYS)
        return cls(repositories.choose_repository(options), span, _parse_profile(options), options.is_private)

    def __str__(self) -> str:
        days = f"{self.span.first}..{self.span.last}"
        return f"{self.kind} {days} repo:{self.repository}{_format_profile(self.profile)}"


@dataclass(frozen=True, slots=True)
class DeprecationsRequest(RepositoryRequest):
    kind: ClassVar[str] = "deprecations"
    profile: str = ""
    is_private: bool = False

    @classmethod
    def parse(cls, text: str, repositories: AllowedRepositories) -> DeprecationsRequest:
        options = QueryOptions.parse(text, ("profile", "repo"))
        _refuse_words(options, cls.kind)
        return cls(repositories.choose_repository(options), _parse_profile(options), options.is_private)

    def __str__(self) -> str:
        return f"{self.kind} repo:{self.repository}{_format_profile(self.profile)}"


@dataclass(frozen=True, slots=True)
class UpgradeRequest(_ProfileRequest):
    """A request for the way from a pin to now: ``upgrade v0.13.0 profile:ascend``.

    ``start`` is a hash, its beginning or a tag. Without one, the pin in the profile is meant.
    """

    kind: ClassVar[str] = "upgrade"
    start: str = ""
    profile: str = ""
    is_private: bool = False

    @classmethod
    def parse(cls, text: str) -> UpgradeRequest:
        options = QueryOptions.parse(text, ("profile", "from"))
        rest, start = _drop_words(options, cls.kind), options.get_last("from")
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

    def __str__(self) -> str:
        return f"{self.kind}{f' from:{self.start}' if self.start else ''}{_format_profile(self.profile)}"


@dataclass(frozen=True, slots=True)
class ReleaseRequest(_ProfileRequest):
    """A request for what a release means for a profile; without a ``tag``, the last one is meant."""

    kind: ClassVar[str] = "release"
    tag: str = ""
    profile: str = ""
    is_private: bool = False

    @classmethod
    def parse(cls, text: str) -> ReleaseRequest:
        options = QueryOptions.parse(text, ("profile",))
        tags = _drop_words(options, cls.kind)
        if tags[1:] or not all(map(is_tag, tags)):
            raise UsageError(f"{quote_input(' '.join(tags))} is no tag: write one, such as v1.2.0.")
        # one person asks: the channel gets a post of its own
        return cls("".join(tags), _parse_profile(options), is_private=True)

    def __str__(self) -> str:
        return f"{self.kind}{f' {self.tag}' if self.tag else ''}{_format_profile(self.profile)}"


def _parse_profile(options: QueryOptions) -> str:
    text = options.get_last("profile")
    return parse_profile_name(text) if text else ""


def _format_profile(name: str) -> str:
    return f" profile:{name}" if name else ""


def _refuse_words(options: QueryOptions, words: str) -> None:
    if rest := _drop_words(options, *words.split()):
        raise UsageError(f"I don't understand {quote_input(' '.join(rest))}: add profile:NAME or nothing.")


def _drop_words(options: QueryOptions, *words: str) -> list[str]:
    rest = list(options.arguments)
    for word in words:
        if rest and rest[0].lower() == word:
            rest.pop(0)
    return rest


# --- an error as people paste it, and since when


@dataclass(frozen=True, slots=True)
class BrokeRequest(RepositoryRequest):
    """A request about an error: since ``commit``, the last one that worked, or in the days of ``span``."""

    kind: ClassVar[str] = "broke"
    error: str
    commit: str = ""
    span: Span | None = None
    is_private: bool = False

    @classmethod
    def parse(cls, text: str, repositories: AllowedRepositories, today: LocalDay) -> BrokeRequest:
        first, *words = text.split(maxsplit=1) or [""]
        rest = ("".join(words) if first.lower() == cls.kind else text)[-_MAX_PASTED:]
        repository, rest = _take_match(_REPOSITORY, rest)
        private, rest = _take_match(_PRIVATE, rest)
        since, rest = _take_since(rest)
        return cls.build(
            repositories.parse_repository(repository["name"]) if repository else repositories.default,
            restore_user_text(rest),
            since,
            today,
            is_private=private is not None,
        )

    @classmethod
    def build(
        cls, repository: Repository, error: str, since: str, today: LocalDay, *, is_private: bool = False
    ) -> BrokeRequest:
        """Build a request about an error; ``since`` is a commit or a day. Raises UsageError."""
        condensed = condense_trace(error[-_MAX_PASTED:], _MAX_ERROR)
        if not condensed:
            raise UsageError("Which error? Paste its last line, or the whole traceback.")
        if _COMMIT.fullmatch(since):
            return cls(repository, condensed, since, None, is_private)
        span = replace(parse_span("today", today, 1), first=parse_span(since, today, MAX_BROKE_DAYS).first)
        if len(span) > MAX_BROKE_DAYS:
            raise UsageError(f"{len(span)} days are too many at once: begin at most {MAX_BROKE_DAYS} days ago.")
        return cls(repository, condensed, "", span, is_private)

    @property
    def since(self) -> str:
        return str(self.span.first) if self.span else self.commit[:10]

    def __str__(self) -> str:
        start = self.span.first if self.span else self.commit
        return f"{self.kind} {self.error}\nsince {start} repo:{self.repository}"


def _take_match(pattern: re.Pattern[str], text: str) -> tuple[re.Match[str] | None, str]:
    last = next(iter([*pattern.finditer(text)][-1:]), None)
    return last, text if last is None else f"{text[: last.start()]} {text[last.end() :]}".strip()


def _take_since(text: str) -> tuple[str, str]:
    """Return the last commit or day after "since", and the rest. Raises UsageError: errors have that word too."""
    matches = list(_SINCE.finditer(text))
    for match in reversed(matches):
        what = match["what"].lower()
        if _COMMIT.fullmatch(what) or _DAYS.fullmatch(what):
            return what, f"{text[: match.start()]} {text[match.end() :]}".strip()
    if matches:
        raise UsageError(f"I don't understand since {quote_input(matches[-1]['what'])}: write a day or a commit.")
    raise UsageError("Since when? Add a day, or the last commit that worked.")
