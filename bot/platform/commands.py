from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, Protocol, Self
from zoneinfo import ZoneInfo

from bot.dates import TodayProvider
from bot.errors import UsageError
from bot.platform.pulls.models import Reference, parse_reference
from bot.platform.pulls.paths import Filters
from impact.repository import GITHUB_WEB, Repository

PRIVATE_WORD = "private"
FILTER_NAMES = ("path", "author", "label", "not-author")
# characters: also of a full request as a button value, for which Slack's limit is 2,000 characters
_MAX_LENGTH = 1_000
MAX_FILTERS = 10
# phones replace straight quotation marks with these
_CURLY_QUOTES = str.maketrans("“”„‟«»", '""""""')
# an address is a word, not an option named https
_OPTION = re.compile(r"(?P<name>[A-Za-z-]+):(?!//)(?P<value>.*)", re.S)


@dataclass
class QueryOptions:
    """The words of a command by kind: values by option, the word ``private``, and the rest."""

    arguments: list[str] = field(default_factory=list)
    values: dict[str, list[str]] = field(default_factory=dict)
    is_private: bool = False

    @classmethod
    def parse(cls, text: str, names: tuple[str, ...]) -> QueryOptions:
        """Parse the words of a command; ``names`` are the options that it has. Raises UsageError."""
        options = cls()
        for word in split_words(text):
            option = _OPTION.fullmatch(word)
            if option:
                options.add_option(option["name"].lower(), option["value"], names)
            elif word.lower() == PRIVATE_WORD:
                options.is_private = True
            else:
                options.arguments.append(word)
        if sum(len(options.values.get(kind, ())) for kind in FILTER_NAMES) > MAX_FILTERS:
            raise UsageError(f"That is more than {MAX_FILTERS} filters: leave some out.")
        return options

    def add_option(self, name: str, value: str, names: tuple[str, ...]) -> None:
        """Add the value of an option. Raises UsageError if it is not in ``names``, or its value is empty."""
        if name not in names:
            # with both names of a filter, "author:…" would seem to stand there twice
            known = [f"[not-]{each}" if f"not-{each}" in names else each for each in names if each[:4] != "not-"]
            usable = " ".join(f"{each}:…" for each in known)
            raise UsageError(f"I don't understand {name}: here, use {usable} instead.")
        if not value.strip():
            raise UsageError(f"{name}: needs a value directly after the colon.")
        self.values.setdefault(name, []).append(value.strip())

    @property
    def filters(self) -> Filters:
        """The filters among the options. Raises UsageError for an invalid path."""
        return Filters(*(tuple(self.values.get(kind, ())) for kind in FILTER_NAMES))

    def get_last(self, name: str) -> str:
        return self.values.get(name, [""])[-1]


def split_words(text: str) -> list[str]:
    """Split the text at blanks, but not inside double quotes. Raises UsageError."""
    check_length(text)
    lexer = shlex.shlex(text.translate(_CURLY_QUOTES), posix=True)
    # only the syntax that the help describes: no comments, no escapes, no single quotes (as in o'brien)
    lexer.whitespace_split, lexer.commenters, lexer.escape, lexer.quotes = True, "", "", '"'
    try:
        return list(lexer)
    except ValueError as error:
        raise UsageError("A quotation mark is not closed: close it, or leave it out.") from error


def check_length(text: str) -> None:
    """Raise UsageError if the text is too long for a command."""
    if len(text) > _MAX_LENGTH:
        raise UsageError(f"That command is too long: use up to {_MAX_LENGTH:,} characters.")


@dataclass(frozen=True, slots=True)
class AllowedRepositories:
    """The repositories that may be spoken of, fewer than the token may read. ``web`` is the address of pages.

    ``present_names`` are those of repositories that are kept by an earlier one.
    """

    default: Repository
    others: tuple[Repository, ...] = ()
    web: str = GITHUB_WEB
    present_names: Mapping[Repository, Repository] = field(default_factory=dict, hash=False)

    def list_all(self) -> tuple[Repository, ...]:
        """List all of them, the default one first."""
        return (self.default, *self.others)

    def require_known(self, requested: Repository) -> Repository:
        """Return the repository as the settings spell it. Raises UsageError if the bot may not answer about it."""
        for repository in self.list_all():
            both = (repository, self.present_names.get(repository, repository))
            if str(requested).casefold() in {str(each).casefold() for each in both}:
                return repository
        names = ", ".join(map(str, self.list_all()))
        raise UsageError(f"I'm not set up for {requested}: ask about {names}.")

    def parse_repository(self, text: str) -> Repository:
        """Parse the name of a repository. Raises UsageError."""
        return self.require_known(Repository.parse(text, self.web))

    def choose_repository(self, options: QueryOptions) -> Repository:
        """Return the repository that a command names, else the default one. Raises UsageError."""
        text = options.get_last("repo")
        return self.parse_repository(text) if text else self.default

    def parse_pull_request(self, text: str) -> Reference:
        """Parse the reference of a pull request. Raises UsageError."""
        reference = parse_reference(text, self.default, self.web)
        return Reference(self.require_known(reference.repository), reference.number)


@dataclass(frozen=True, slots=True)
class ParseContext:
    """The context that a parser of commands needs besides the text.

    ``today`` returns the current day in a zone, by default that of the settings. ``zone`` returns the time zone
    that the readers of the channel expect, None if there are several; it may raise StoreUnavailable.
    """

    repositories: AllowedRepositories
    today: TodayProvider
    zone: Callable[[], ZoneInfo | None] = lambda: None


@dataclass(frozen=True, slots=True)
class RepositoryRequest:
    repository: Repository

    def require_known(self, repositories: AllowedRepositories) -> Self:
        """Return the request with its repository as the settings spell it. Raises UsageError."""
        return replace(self, repository=repositories.require_known(self.repository))


class CommandRequest(Protocol):
    """The request of a command: frozen, its ``str`` is what people type. ``kind`` is never changed."""

    kind: ClassVar[str]

    @property
    def is_private(self) -> bool:
        """Whether only the asker sees the answer."""

    def require_known(self, repositories: AllowedRepositories) -> Self:
        """Return the request as the settings spell repositories. Raises UsageError for one that is not allowed."""
