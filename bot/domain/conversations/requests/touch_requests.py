"""Requests for what merges change for others, and for what touches a team's code."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

from bot.domain.conversations.commands import AllowedRepositories
from bot.domain.errors import UsageError
from bot.domain.pull_requests.filters import NO_FILTERS, Filters
from bot.domain.pull_requests.models import Repository
from bot.domain.pull_requests.query_options import FILTER_NAMES, QueryOptions, check_length
from bot.domain.text.strings import quote_input
from bot.domain.time.date_range import Span, parse_span
from bot.domain.time.day import LocalDay
from impact.profile.names import parse_profile_name

MAX_CONTRACT_DAYS = 31
CONTRACT_WORD, TOUCHES_WORD = "contract", "touches"
# the word behind the second one that asks what became of the hits
TOUCH_SCORE_WORD = "score"


@dataclass(frozen=True, slots=True)
class ContractRequest:
    """A request for what the merges of some days change for others: ``contract 7d``."""

    kind: ClassVar[str] = CONTRACT_WORD
    repository: Repository
    span: Span
    filters: Filters = NO_FILTERS
    is_private: bool = False

    def __post_init__(self) -> None:
        check_length(str(self))

    @classmethod
    def parse(cls, text: str, repositories: AllowedRepositories, today: LocalDay) -> ContractRequest:
        """Parse the text after the command, with or without its first word. Raises UsageError."""
        options = QueryOptions.parse(text, (*FILTER_NAMES, "repo"))
        days = _drop_words(options.arguments, CONTRACT_WORD)
        repository = options.get_last("repo")
        return cls(
            repositories.parse_repository(repository) if repository else repositories.default,
            parse_span(" ".join(days), today, MAX_CONTRACT_DAYS),
            options.filters,
            options.is_private,
        )

    def require_known(self, repositories: AllowedRepositories) -> Self:
        """Return the request with its repository as the settings spell it. Raises UsageError."""
        return replace(self, repository=repositories.require_known(self.repository))

    def __str__(self) -> str:
        return " ".join([CONTRACT_WORD, str(self.span), f"repo:{self.repository}", *self.filters.list_options()])


@dataclass(frozen=True, slots=True)
class TouchesRequest:
    """A request for what the merges of some days do to a team's code: ``touches 7d profile:ascend``.

    Without the name of a ``profile``, the only one is meant. Its upstream is the repository.
    """

    kind: ClassVar[str] = TOUCHES_WORD
    span: Span
    profile: str = ""
    is_private: bool = False

    @classmethod
    def parse(cls, text: str, today: LocalDay) -> TouchesRequest:
        """Parse the text after the command, with or without its first word. Raises UsageError."""
        options = QueryOptions.parse(text, ("profile",))
        days = _drop_words(options.arguments, TOUCHES_WORD)
        span = parse_span(" ".join(days), today, MAX_CONTRACT_DAYS)
        return cls(span, _parse_profile(options), options.is_private)

    def require_known(self, _: AllowedRepositories) -> Self:
        """Return the request: whether the bot may answer about its upstream is checked with the profile."""
        return self

    def __str__(self) -> str:
        return " ".join([TOUCHES_WORD, str(self.span), *([f"profile:{self.profile}"] if self.profile else [])])


@dataclass(frozen=True, slots=True)
class TouchScoreRequest:
    """A request for what became of the hits of a profile: ``touches score``."""

    kind: ClassVar[str] = "touch_score"
    profile: str = ""
    is_private: bool = False

    @classmethod
    def parse(cls, text: str) -> TouchScoreRequest:
        """Parse the text after the command. Raises UsageError."""
        options = QueryOptions.parse(text, ("profile",))
        rest = _drop_words(options.arguments, TOUCHES_WORD, TOUCH_SCORE_WORD)
        if rest:
            raise UsageError(f"I don't understand {quote_input(' '.join(rest))}: the score counts all days.")
        return cls(_parse_profile(options), options.is_private)

    def require_known(self, _: AllowedRepositories) -> Self:
        """Return the request, as that for a list does."""
        return self

    def __str__(self) -> str:
        profile = [f"profile:{self.profile}"] if self.profile else []
        return " ".join([TOUCHES_WORD, TOUCH_SCORE_WORD, *profile])


def is_touch_score(text: str) -> bool:
    """Return whether the text after the command asks what became of the hits."""
    return [word.lower() for word in text.split()[:2]] == [TOUCHES_WORD, TOUCH_SCORE_WORD]


def _parse_profile(options: QueryOptions) -> str:
    text = options.get_last("profile")
    return parse_profile_name(text) if text else ""


def _drop_words(arguments: list[str], *words: str) -> list[str]:
    """Return the arguments without these words at their beginning."""
    rest = list(arguments)
    for word in words:
        if rest and rest[0].lower() == word:
            rest.pop(0)
    return rest
