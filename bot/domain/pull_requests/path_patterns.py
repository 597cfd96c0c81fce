"""Validation of the .gitignore patterns that people enter: they must be able to match and easy to read."""

from __future__ import annotations

import re
from collections.abc import Callable

from bot.domain.text.strings import collapse_lines
from impact.path_globs import PathGlobs

# characters
_MAX_LENGTH = 200
# more stars make a pattern incomprehensible
_MAX_STARS, _MAX_STARS_IN_NAME, _MAX_DOUBLE_STARS = 4, 3, 2
_STARS = re.compile(r"\*+")
# the characters that a backslash may escape, and what brackets may hold
_ESCAPE = re.compile(r"\\[#! *?\[\]\\]")
_BRACKETS = re.compile(r"\[[!^]?(?:\w(?:-\w)?)+\]")


def _remove_escapes(pattern: str) -> str:
    return _BRACKETS.sub("", _ESCAPE.sub("", pattern))


def _is_invalid_path(pattern: str) -> bool:
    names = pattern.removeprefix("!").removeprefix("/").removesuffix("/").split("/")
    return not {"", ".", ".."}.isdisjoint(names)


def _is_too_complex(pattern: str) -> bool:
    stars = _STARS.findall(pattern)
    most = max(len(_STARS.findall(name)) for name in pattern.split("/"))
    doubled = sum(len(each) > 1 for each in stars)
    return len(stars) > _MAX_STARS or most > _MAX_STARS_IN_NAME or doubled > _MAX_DOUBLE_STARS


def _is_invalid_glob(pattern: str) -> bool:
    try:
        PathGlobs([pattern])
    except re.error:
        return True
    return False


# in this order: each check relies on those before it
_FAULTS: tuple[tuple[str, Callable[[str], bool]], ...] = (
    ("is empty: write a file or folder, such as docs/", lambda pattern: not pattern.strip(" !/")),
    (f"is too long: write at most {_MAX_LENGTH} characters", lambda pattern: len(pattern) > _MAX_LENGTH),
    (
        "begins or ends with a blank, or has invisible characters: write it without",
        lambda pattern: pattern != collapse_lines(pattern),
    ),
    ("is a comment: write \\# for a name that begins with #", lambda pattern: pattern.startswith("#")),
    ("has a backslash: write / between folders", lambda pattern: "\\" in _remove_escapes(pattern)),
    (
        "has brackets that are not closed or empty: write them as [a-z], or \\[ and \\] for a name",
        lambda pattern: not {"[", "]"}.isdisjoint(_remove_escapes(pattern)),
    ),
    ("matches no path: write it from the root of the repository, without ./, ../ or //", _is_invalid_path),
    (
        (
            f"has too many stars: write up to {_MAX_STARS}, {_MAX_STARS_IN_NAME} in one name, "
            f"{_MAX_DOUBLE_STARS} times **"
        ),
        _is_too_complex,
    ),
    ("matches no path: write it as in a .gitignore", _is_invalid_glob),
)


def find_fault(pattern: str) -> str:
    """Return the fault of a pattern and its remedy as the end of a sentence; empty if the pattern is valid."""
    return next((fault for fault, is_so in _FAULTS if is_so(pattern)), "")
