"""Notes on replacements that stand apart from them: blocks of a text that name a file or a function.

Such as ``** File: worker/patch_cache.py **`` with ``1. `engine.core.Cache.allocate` `` below it, and then why it
is there, the pull request that it waits for, and when it may go.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from impact.profile.models import Use
from impact.python.module_names import is_python
from impact.python.syntax import parse_source

_MAX_LINE, _MAX_TEXT = 400, 4_000
# words of a line that is the title of a file's block, or lists what is replaced
_MAX_WORDS = 6
_FILE = re.compile(r"[\w./-]{1,200}\.py")
_MARK = re.compile(r"(?:[-*]|\(?\d{1,3}[.)])\s+")
_NAME = re.compile(r"(?P<quote>[`'\"]?)(?P<name>[A-Za-z_][\w.]{0,199})(?P<call>\(\))?\s?(?P=quote),?")
_RULE = re.compile(r"\W*\Z")


@dataclass(slots=True)
class Note:
    """A block of text on some names of a file; without a ``file``, wherever they are replaced."""

    file: str = ""
    names: tuple[str, ...] = ()
    text: str = ""

    def is_about(self, use: Use) -> bool:
        """Return whether it names what a use replaces, and its file where it names one."""
        if self.file and not f"/{use.path}".endswith(f"/{self.file}"):
            return False
        known = (use.name, *use.definitions)
        return any(
            name == own or own.startswith(f"{name}.") or own.endswith(f".{name}")
            for name in self.names
            for own in known
        )


def list_notes(path: str, text: str) -> list[Note]:
    """Return the notes of a file: of the comments and the docstring of Python, or of the whole of another text."""
    notes: list[Note] = []
    file, parent, current = "", "", Note()
    for line in _list_lines(path, text):
        words = line.split()
        is_short = len(words) <= _MAX_WORDS
        title = next(filter(_FILE.fullmatch, (word.strip("*`'\":") for word in words if is_short)), "")
        names = _list_names(line) if is_short else []
        if not words:
            file, parent, current = "", "", Note()
        elif title:
            file, parent, current = title, "", Note()
        elif names and current.names and not current.text and not _MARK.match(line):
            current.names += tuple(names)
        elif names:
            if all("." not in name for name in names):
                names = [f"{parent}.{name}" for name in names] if parent else []
            else:
                parent = names[0]
            current = Note(file, tuple(names))
            notes += [current] if names else []
        elif not _RULE.match(line):
            current.text = f"{current.text} {line[:_MAX_LINE]}"[:_MAX_TEXT]
    return notes


def find_notes(notes: Iterable[Note], use: Use) -> Iterator[str]:
    """Yield what notes say of a use; those that name its file are preferred to those that name none."""
    about = [note for note in notes if note.text and note.is_about(use)]
    chosen = [note for note in about if note.file] or about
    yield from (note.text for note in chosen)


def _list_lines(path: str, text: str) -> Iterator[str]:
    """Yield the lines of a text, without the signs of comments; an empty one where code stands."""
    if not is_python(path):
        # an empty line ends nothing there
        yield from filter(None, (line.strip() for line in text.split("\n")))
        return
    for line in text.split("\n"):
        bare = line.strip()
        yield (bare.lstrip("#").strip() or "-") if bare.startswith("#") else ""
    if tree := parse_source(text):
        yield from filter(None, (line.strip() for line in (ast.get_docstring(tree) or "").split("\n")))


def _list_names(line: str) -> list[str]:
    """Return the names of a line that has nothing else: dotted ones, calls, or quoted ones behind a mark."""
    bare = _MARK.sub("", line, count=1)
    matches = [] if _NAME.sub("", bare).strip() else [*_NAME.finditer(bare)]
    is_list = all(
        "." in each["name"].rstrip(".") or each["call"] or (each["quote"] and bare != line) for each in matches
    )
    return [each["name"] for each in matches] if is_list else []
