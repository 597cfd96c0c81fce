"""The words of a command: options as ``name:value``, and the rest."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field

from bot.domain.errors import UsageError
from bot.domain.pull_requests.filters import Filters

PRIVATE = "private"
FILTERS = ("path", "author", "label", "not-author")
# also of a request written out in full, which a button carries: its value may have 2,000 characters
_LONGEST = 1_000
MOST_FILTERS = 10
# phones write these where a person types a straight one
_CURLY = str.maketrans("“”„‟«»", '""""""')
# an address is a word, and no option named https
_OPTION = re.compile(r"(?P<name>[A-Za-z-]+):(?!//)(?P<value>.*)", re.S)


@dataclass
class Options:
    """The words of a command by what they are."""

    rest: list[str] = field(default_factory=list)
    values: dict[str, list[str]] = field(default_factory=dict)
    is_private: bool = False

    @classmethod
    def read(cls, text: str, names: tuple[str, ...]) -> Options:
        found = cls()
        for word in words_of(text):
            option = _OPTION.fullmatch(word)
            if option:
                found.add(option["name"].lower(), option["value"], names)
            elif word.lower() == PRIVATE:
                found.is_private = True
            else:
                found.rest.append(word)
        if sum(len(found.values.get(kind, ())) for kind in FILTERS) > MOST_FILTERS:
            raise UsageError(f"That is more than {MOST_FILTERS} filters: leave some out.")
        return found

    def add(self, name: str, value: str, names: tuple[str, ...]) -> None:
        if name not in names:
            known = " ".join(f"{known}:…" for known in names)
            raise UsageError(f"I don't know {name}: here, use {known} instead.")
        if not value.strip():
            raise UsageError(f"{name}: needs a value right after the colon.")
        self.values.setdefault(name, []).append(value.strip())

    @property
    def filters(self) -> Filters:
        """Raises UsageError."""
        return Filters(*(tuple(self.values.get(kind, ())) for kind in FILTERS))

    def last(self, name: str) -> str:
        """The value that was written last; empty where there is none."""
        return self.values.get(name, [""])[-1]


def words_of(text: str) -> list[str]:
    """The text split at blanks; what stands in double quotes stays together."""
    require_short(text)
    return list(_split(text.translate(_CURLY)))


def require_short(text: str) -> None:
    """Raises UsageError for what is too long to be a command."""
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
