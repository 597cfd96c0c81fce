"""Validation of the .gitignore patterns that people enter: they must be able to match and easy to read."""

from __future__ import annotations

import re
from collections.abc import Callable

from bot.domain.pull_requests.path_globs import Globs
from bot.domain.text.strings import one_line

# characters
_LONGEST = 200
# more stars make a pattern incomprehensible
_MOST_STARS, _MOST_IN_A_NAME, _MOST_DOUBLE = 4, 3, 2
_STARS = re.compile(r"\*+")
# the characters that a backslash may escape, and what brackets may hold
_ESCAPED = re.compile(r"\\[#! *?\[\]\\]")
_BRACKETS = re.compile(r"\[[!^]?(?:\w(?:-\w)?)+\]")


def _bare(pattern: str) -> str:
    return _BRACKETS.sub("", _ESCAPED.sub("", pattern))


def _is_no_path(pattern: str) -> bool:
    names = pattern.removeprefix("!").removeprefix("/").removesuffix("/").split("/")
    return not {"", ".", ".."}.isdisjoint(names)


def _is_intricate(pattern: str) -> bool:
    stars = _STARS.findall(pattern)
    most = max(len(_STARS.findall(name)) for name in pattern.split("/"))
    doubled = sum(len(each) > 1 for each in stars)
    return len(stars) > _MOST_STARS or most > _MOST_IN_A_NAME or doubled > _MOST_DOUBLE


def _is_unreadable(pattern: str) -> bool:
    try:
        Globs([pattern])
    except re.error:
        return True
    return False


# in this order: each check relies on those before it
_FAULTS: tuple[tuple[str, Callable[[str], bool]], ...] = (
    ("names nothing: write a file or folder, such as docs/", lambda pattern: not pattern.strip(" !/")),
    (f"is too long: write at most {_LONGEST} characters", lambda pattern: len(pattern) > _LONGEST),
    (
        "begins or ends with a blank, or has invisible characters: write it without",
        lambda pattern: pattern != one_line(pattern),
    ),
    ("is a comment: write \\# for a name that begins with #", lambda pattern: pattern.startswith("#")),
    ("has a backslash: write / between folders", lambda pattern: "\\" in _bare(pattern)),
    (
        "has brackets that can't be read: write them as [a-z], or \\[ and \\] for a name",
        lambda pattern: not {"[", "]"}.isdisjoint(_bare(pattern)),
    ),
    ("matches no path: write it from the root of the repository, without ./, ../ or //", _is_no_path),
    (
        f"has too many stars: write up to {_MOST_STARS}, {_MOST_IN_A_NAME} in one name, {_MOST_DOUBLE} times **",
        _is_intricate,
    ),
    ("matches no path: write it as in a .gitignore", _is_unreadable),
)


def fault_of(pattern: str) -> str:
    """Return the fault of a pattern and its remedy as the end of a sentence; empty if the pattern is valid."""
    return next((fault for fault, is_so in _FAULTS if is_so(pattern)), "")
