"""What people type after a command, as values.

``str`` of one is a text that reads back as the same on any later day; who is to see the answer is not part of it.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field

from bot.domain.days import LocalDay
from bot.domain.errors import UsageError
from bot.domain.filters import EVERYTHING, Filters
from bot.domain.pulls import Repository
from bot.domain.references import Reference, parse_reference
from bot.domain.spans import Span, span_of
from bot.domain.texts import quoted

MOST_PULLS = 5
MOST_RISKS = 10
USUAL_RISKS = 5
LONGEST_RISKS = 31
# every day of an overview is read in full, by a model if that was not done before
LONGEST_OVERVIEW = 14
# also of a request written out in full, which a button carries: its value may have 2,000 characters
_LONGEST = 1_000
_FILTERS = ("path", "author", "label")
_MOST_FILTERS = 10

PRIVATE = "private"
# phones write these where a person types a straight one
_CURLY = str.maketrans("“”„‟«»", '""""""')


@dataclass(frozen=True, slots=True)
class Repositories:
    """The repositories that the bot may speak of. Its token may read more than the people who ask."""

    default: Repository
    others: tuple[Repository, ...] = ()

    def known(self, wanted: Repository) -> Repository:
        """The same repository as it is spelt in the settings. Raises UsageError if the bot may not speak of it."""
        for repository in (self.default, *self.others):
            if str(repository).casefold() == str(wanted).casefold():
                return repository
        known = ", ".join(str(repository) for repository in (self.default, *self.others))
        raise UsageError(f"I don't speak of {wanted} here: ask about {known}.")

    def reference(self, text: str) -> Reference:
        """The pull request that someone named. Raises UsageError."""
        found = parse_reference(text, self.default)
        return Reference(self.known(found.repository), found.number)


@dataclass(frozen=True, slots=True)
class SummaryRequest:
    """Up to five pull requests."""

    references: tuple[Reference, ...]
    is_private: bool = False

    def __post_init__(self) -> None:
        _require_short(str(self))

    @classmethod
    def parse(cls, text: str, repositories: Repositories) -> SummaryRequest:
        """Raises UsageError."""
        words = _words(text.replace(",", " "))
        named = [word for word in words if word.lower() != PRIVATE]
        if not named:
            raise UsageError("Which pull request? Write its number, such as 35617.")
        references = tuple(dict.fromkeys(repositories.reference(word) for word in named))
        if len(references) > MOST_PULLS:
            raise UsageError(f"{len(references)} are too many at once: name up to {MOST_PULLS} pull requests.")
        return cls(references, is_private=len(named) < len(words))

    def __str__(self) -> str:
        return " ".join(map(str, self.references))


@dataclass(frozen=True, slots=True)
class RisksRequest:
    """Days of a repository, which of their pull requests, and how many to list."""

    repository: Repository
    span: Span
    filters: Filters = EVERYTHING
    top: int = USUAL_RISKS
    is_private: bool = False

    def __post_init__(self) -> None:
        _require_short(str(self))

    @classmethod
    def parse(cls, text: str, repositories: Repositories, today: LocalDay) -> RisksRequest:
        """Raises UsageError."""
        found = _Options.read(text, (*_FILTERS, "top", "repo"))
        return cls(
            found.repository(repositories),
            found.span(today, LONGEST_RISKS),
            Filters(*(tuple(found.values.get(kind, ())) for kind in _FILTERS)),
            found.top(),
            found.is_private,
        )

    def __str__(self) -> str:
        return " ".join([str(self.span), f"repo:{self.repository}", *self.filters.words(), f"top:{self.top}"])


@dataclass(frozen=True, slots=True)
class DigestRequest:
    """Days of a repository."""

    repository: Repository
    span: Span
    is_private: bool = False

    @classmethod
    def parse(cls, text: str, repositories: Repositories, today: LocalDay) -> DigestRequest:
        """Raises UsageError."""
        found = _Options.read(text, ("repo",))
        return cls(found.repository(repositories), found.span(today, LONGEST_OVERVIEW), found.is_private)

    def __str__(self) -> str:
        return f"{self.span} repo:{self.repository}"


_OPTION = re.compile(r"(?P<name>[A-Za-z]+):(?P<value>.*)", re.S)


@dataclass
class _Options:
    """The words of a command by what they are."""

    days: list[str] = field(default_factory=list)
    values: dict[str, list[str]] = field(default_factory=dict)
    is_private: bool = False

    @classmethod
    def read(cls, text: str, names: tuple[str, ...]) -> _Options:
        found = cls()
        for word in _words(text):
            option = _OPTION.fullmatch(word)
            if option:
                found.add(option["name"].lower(), option["value"], names)
            elif word.lower() == PRIVATE:
                found.is_private = True
            else:
                found.days.append(word)
        if sum(len(found.values.get(kind, ())) for kind in _FILTERS) > _MOST_FILTERS:
            raise UsageError(f"That is more than {_MOST_FILTERS} filters: leave some out.")
        return found

    def add(self, name: str, value: str, names: tuple[str, ...]) -> None:
        if name not in names:
            known = " ".join(f"{known}:…" for known in names)
            raise UsageError(f"I don't know {name}: here, use {known} instead.")
        if not value.strip():
            raise UsageError(f"{name}: needs a value right after the colon.")
        self.values.setdefault(name, []).append(value.strip())

    def repository(self, repositories: Repositories) -> Repository:
        named = self._last("repo")
        return repositories.known(Repository.parse(named)) if named else repositories.default

    def span(self, today: LocalDay, longest: int) -> Span:
        return span_of(" ".join(self.days), today, longest)

    def top(self) -> int:
        named = self._last("top") or str(USUAL_RISKS)
        if not (named.isascii() and named.isdecimal() and len(named) < 4 and 1 <= int(named) <= MOST_RISKS):
            raise UsageError(f"top:{quoted(named)} can't be used: write a number from 1 to {MOST_RISKS}.")
        return int(named)

    def _last(self, name: str) -> str:
        return self.values.get(name, [""])[-1]


def _words(text: str) -> list[str]:
    """Split at blanks; what stands in double quotes stays together."""
    _require_short(text)
    return list(_split(text.translate(_CURLY)))


def _require_short(text: str) -> None:
    if len(text) > _LONGEST:
        raise UsageError(f"That is too long to be a command: use up to {_LONGEST:,} characters.")


def _split(text: str) -> Iterator[str]:
    lexer = shlex.shlex(text, posix=True)
    # only what the sentence in the help says: no comments, no escapes, no single quotes as in o'brien
    lexer.whitespace_split, lexer.commenters, lexer.escape, lexer.quotes = True, "", "", '"'
    try:
        yield from lexer
    except ValueError as error:
        raise UsageError("A quotation mark is open: close it, or leave it out.") from error
