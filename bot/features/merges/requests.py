"""Requests about merges, as ``/prsummary``, ``/prrisks`` and ``/prdigest`` take them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import ClassVar, Self
from zoneinfo import ZoneInfo

from bot.dates import LocalDay, Span, TodayProvider, parse_span, parse_zone
from bot.errors import UsageError
from bot.platform.commands import (
    FILTER_NAMES,
    PRIVATE_WORD,
    AllowedRepositories,
    QueryOptions,
    RepositoryRequest,
    check_length,
    split_words,
)
from bot.platform.pulls.models import Reference, ungroup_number
from bot.platform.pulls.paths import NO_FILTERS, Filters
from impact.profile.models import parse_profile_name
from impact.text.strings import quote_input

MAX_PULL_REQUESTS = 5
MAX_TOP_RISKS = 10
DEFAULT_RISKS = 5
MAX_RISKS_DAYS = 31
# every day of an overview is read completely, by a model if there is no summary yet
MAX_DIGEST_DAYS = 14
MAX_SCORE_DAYS = 365
DEFAULT_SCORE_SPAN = "90d"
# the word that turns a request for risks into one for the quality of their lists
SCORE_WORD = "score"
# words that people write beside the number of a pull request, and that name none
_WORDS_BESIDE_NUMBERS = frozenset(
    f"{PRIVATE_WORD} pr prs pull request requests number no nr of for the and please thanks".split()
)


class ViewLevel(StrEnum):
    """The minimum importance of a pull request that is shown."""

    ALL = ""
    SUBSTANTIAL = "substantial"
    """Those that are not trivial."""
    BREAKING = "breaking"
    """Those that code proved to break callers."""
    RISKY = "risky"
    """Those that the rules list as risky, and the reverted ones."""
    TOUCHING = "touching"
    """Those that touch the code of the view's profile."""
    PENDING = "pending"
    """Those of them that wait since its pin."""


# views that are nothing without a profile
OF_PROFILES = (ViewLevel.TOUCHING, ViewLevel.PENDING)


@dataclass(frozen=True, slots=True)
class DigestView:
    """The selection of the pull requests of a day, and the name of the profile that they are checked against."""

    filters: Filters = NO_FILTERS
    only: ViewLevel = ViewLevel.ALL
    profile: str = ""

    def __post_init__(self) -> None:
        if self.profile:
            parse_profile_name(self.profile)
        if self.only in OF_PROFILES and not self.profile:
            raise UsageError(f"only:{self.only} needs a profile: add profile:NAME.")

    def list_options(self) -> tuple[str, ...]:
        return (
            *self.filters.list_options(),
            *([f"only:{self.only}"] if self.only else []),
            *([f"profile:{self.profile}"] if self.profile else []),
        )

    def __str__(self) -> str:
        return " ".join(self.list_options())

    def __bool__(self) -> bool:
        return bool(self.filters) or bool(self.only)

    @property
    def fingerprint(self) -> str:
        """A short hash that is equal for equal views only; empty for the full view without a profile."""
        text = str(self)
        return hashlib.sha256(text.encode()).hexdigest()[:8] if text else ""


FULL_VIEW = DigestView()


def parse_view_level(text: str) -> ViewLevel:
    try:
        return ViewLevel(text.lower())
    except ValueError as error:
        raise UsageError(
            f"I don't understand only:{quote_input(text)}: write only:breaking, only:risky, only:substantial, "
            "only:touching or only:pending."
        ) from error


@dataclass(frozen=True, slots=True)
class SummaryRequest:
    kind: ClassVar[str] = "summary"
    references: tuple[Reference, ...]
    is_private: bool = False

    def __post_init__(self) -> None:
        check_length(str(self))

    @classmethod
    def parse(cls, text: str, repositories: AllowedRepositories) -> SummaryRequest:
        words = [part for word in split_words(text) for part in ungroup_number(word).split(",") if part]
        plain = [word.lower().strip(".!?:") for word in words]
        texts = [word for word, each in zip(words, plain, strict=True) if each not in _WORDS_BESIDE_NUMBERS]
        if not texts:
            raise UsageError("Which pull request? Add its number, such as 35617.")
        references = tuple(dict.fromkeys(repositories.parse_pull_request(word) for word in texts))
        if len(references) > MAX_PULL_REQUESTS:
            raise UsageError(
                f"{len(references)} are too many at once: name up to {MAX_PULL_REQUESTS} pull requests."
            )
        return cls(references, is_private=PRIVATE_WORD in plain)

    def require_known(self, repositories: AllowedRepositories) -> Self:
        references = (
            Reference(repositories.require_known(each.repository), each.number) for each in self.references
        )
        return replace(self, references=tuple(references))

    def __str__(self) -> str:
        return " ".join(map(str, self.references))


@dataclass(frozen=True, slots=True)
class RisksRequest(RepositoryRequest):
    """A request for the riskiest pull requests of some days of a repository.

    Without ``top``, those that stand out are listed, at most ``DEFAULT_RISKS``; with it that many, even if they do
    not stand out. With the name of a ``profile``, only what touches its code is listed.
    """

    kind: ClassVar[str] = "risks"
    span: Span
    filters: Filters = NO_FILTERS
    top: int | None = None
    is_private: bool = False
    profile: str = ""

    def __post_init__(self) -> None:
        check_length(str(self))
        if self.profile:
            parse_profile_name(self.profile)

    @classmethod
    def parse(cls, text: str, repositories: AllowedRepositories, today: LocalDay) -> RisksRequest:
        options = QueryOptions.parse(text, (*FILTER_NAMES, "top", "repo", "profile"))
        repository = repositories.choose_repository(options)
        span = parse_span(" ".join(options.arguments), today, MAX_RISKS_DAYS)
        filters, top = options.filters, options.get_last("top")
        is_number = top.isascii() and top.isdecimal() and len(top) < 4
        if top and not (is_number and 1 <= int(top) <= MAX_TOP_RISKS):
            usage = f"write a number from 1 to {MAX_TOP_RISKS}"
            raise UsageError(f"I don't understand top:{quote_input(top)}: {usage}.")
        profile = options.get_last("profile")
        return cls(repository, span, filters, int(top) if top else None, options.is_private, profile)

    @property
    def selection(self) -> str:
        return " ".join([*self.filters.list_options(), *([f"profile:{self.profile}"] if self.profile else [])])

    def __str__(self) -> str:
        top = [f"top:{self.top}"] if self.top else []
        profile = [f"profile:{self.profile}"] if self.profile else []
        return " ".join([str(self.span), f"repo:{self.repository}", *self.filters.list_options(), *top, *profile])


@dataclass(frozen=True, slots=True)
class ScoreRequest(RepositoryRequest):
    """A request to compare the digests of some days with the later outcomes: ``score 90d``."""

    kind: ClassVar[str] = SCORE_WORD
    span: Span
    is_private: bool = False

    @classmethod
    def parse(cls, text: str, repositories: AllowedRepositories, today: LocalDay) -> ScoreRequest:
        options = QueryOptions.parse(text, ("repo",))
        is_named = options.arguments[:1] and options.arguments[0].lower() == SCORE_WORD
        days = options.arguments[1:] if is_named else options.arguments
        span = parse_span(" ".join(days) or DEFAULT_SCORE_SPAN, today, MAX_SCORE_DAYS)
        return cls(repositories.choose_repository(options), span, options.is_private)

    def __str__(self) -> str:
        return f"{SCORE_WORD} {self.span} repo:{self.repository}"


@dataclass(frozen=True, slots=True)
class DigestRequest(RepositoryRequest):
    """A request for the digest of some days of a repository. ``zone`` is a time zone that the user named."""

    kind: ClassVar[str] = "digest"
    span: Span
    is_private: bool = False
    zone: ZoneInfo | None = None
    view: DigestView = FULL_VIEW

    def __post_init__(self) -> None:
        check_length(str(self))

    @classmethod
    def parse(
        cls, text: str, repositories: AllowedRepositories, today: LocalDay, today_in: TodayProvider | None = None
    ) -> DigestRequest:
        """Parse the text after the command; ``today_in`` returns today in a zone that it names."""
        options = QueryOptions.parse(text, (*FILTER_NAMES, "only", "repo", "tz", "profile"))
        zone = parse_zone(options.get_last("tz")) if options.get_last("tz") else None
        if zone:
            today = today_in(zone) if today_in else replace(today, zone=zone)
        span = parse_span(" ".join(options.arguments), today, MAX_DIGEST_DAYS)
        view = DigestView(options.filters, parse_view_level(options.get_last("only")), options.get_last("profile"))
        return cls(repositories.choose_repository(options), span, options.is_private, zone, view)

    def __str__(self) -> str:
        zone = [f"tz:{self.zone}"] if self.zone else []
        return " ".join([str(self.span), f"repo:{self.repository}", *zone, *self.view.list_options()])


class SubjectKind(StrEnum):
    """The kind of a thread's subject; with the text of the request it describes the subject."""

    DIGEST = "digest"
    RISKS = "risks"
    SUMMARY = "summary"

    def format_subject(self, request: object) -> str:
        return f"{self} {request}"
