"""Reads the unified diffs that GitHub sends as ``patch`` and finds quotes in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum

from bot.domain.text.strings import one_line

# of no line of a file more digits are needed, and Python refuses to read thousands
_HUNK = re.compile(r"@@ -(?P<old>\d{1,10})(?:,\d{1,10})? \+(?P<new>\d{1,10})(?:,\d{1,10})? @@", re.A)
_NO_HUNK = re.compile(rf"^(?!{_HUNK.pattern})@@", re.A | re.M)
_CHANGED = re.compile(r"^[+-]", re.M)
# what is kept of one file. GitHub shows no larger diff of one: docs.github.com, "Limits for viewing content and
# diffs in a repository"; other servers may send any
MOST_LINES = 20_000
MOST_CHARACTERS = 500_000
_UNENDED = r"\ No newline at end of file"
_BLANKS = re.compile(r"[ \t]+")
# shorter quotes ("x = 1", "return") are in most diffs somewhere and prove nothing
SHORTEST_QUOTE = 8


class Side(StrEnum):
    """Where a line of a diff is found: in the file after the change, or only in the one before."""

    NEW = "new"
    OLD = "old"


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a patch. ``mark`` is ``+``, ``-`` or a blank; numbers count from 1."""

    mark: str
    text: str
    old: int
    new: int
    is_unended: bool = False

    @property
    def written(self) -> str:
        """The line as a patch has it, with git's remark on a last line that has no newline."""
        return f"{self.mark}{self.text}" + (f"\n{_UNENDED}" if self.is_unended else "")

    @property
    def is_change(self) -> bool:
        return self.mark != " "


@dataclass(frozen=True, slots=True)
class Place:
    """A line in a file, on one side of a diff. ``is_change``: it was changed, or another of the quote was."""

    side: Side
    line: int
    is_change: bool = field(default=True, compare=False)


def is_readable(patch: str) -> bool:
    """Whether every line belongs to a hunk that says where it stands; so does an empty patch."""
    return not patch.strip() or (bool(_HUNK.match(patch)) and not _NO_HUNK.search(patch))


def beginning(patch: str, lines: int = MOST_LINES, characters: int = MOST_CHARACTERS) -> str:
    """As much of a patch as is kept of one file: whole lines, and whole hunks where these are half of it."""
    end = len(patch) if len(patch) <= characters else patch.rfind("\n", 0, characters + 1)
    part = patch[: max(end, 0)]
    if part.count("\n") >= lines:
        part = "\n".join(part.split("\n", lines)[:lines])
    if len(part) == len(patch):
        return patch
    last = part.rfind("\n@@ -")
    return part[:last] if last > len(part) // 2 else part


def changed_lines(patch: str) -> int:
    """How many lines of a patch are added or deleted."""
    return sum(1 for _ in _CHANGED.finditer(patch))


def hunks(patch: str) -> Iterator[tuple[str, tuple[Line, ...]]]:
    """Each hunk of a patch: its header line and its lines. What stands in none that can be read is left out."""
    header, old, new = "", 0, 0
    lines: list[Line] = []
    for raw in patch.split("\n"):
        if raw.startswith("@@"):
            if lines:
                yield header, tuple(lines)
            found = _HUNK.match(raw)
            header, lines = raw if found else "", []
            old, new = (int(found["old"]), int(found["new"])) if found else (0, 0)
        elif header and raw[:1] in ("+", "-", " "):
            lines.append(Line(raw[0], raw[1:], old, new))
            old += raw[0] != "+"
            new += raw[0] != "-"
        elif raw == _UNENDED and lines:
            lines[-1] = replace(lines[-1], is_unended=True)
    if lines:
        yield header, tuple(lines)


def find_quote(patch: str, quote: str) -> Place | None:
    """Where ``quote`` stands in a patch, or None.

    A quote may span lines of one side of one hunk, and begins and ends with whole words. Runs of blanks count as
    one blank, and a leading ``+`` or ``-`` copied from the diff is tolerated. What was changed is tried first, and
    of that the new side.
    """
    for needle in (_squeezed(quote), _squeezed(_without_marks(quote))):
        if len(one_line(needle)) < SHORTEST_QUOTE:
            continue
        places = [place for side in (Side.NEW, Side.OLD) if (place := _find_on(side, patch, needle))]
        if places:
            return next((place for place in places if place.is_change), places[0])
    return None


def _find_on(side: Side, patch: str, needle: str) -> Place | None:
    """The first place on a side, where one can be had the first that was changed."""
    unchanged = None
    for place in _places_on(side, patch, needle):
        if place.is_change:
            return place
        unchanged = unchanged or place
    return unchanged


def _places_on(side: Side, patch: str, needle: str) -> Iterator[Place]:
    hidden = "-" if side is Side.NEW else "+"
    whole = re.compile(rf"{_begins_whole(needle)}{re.escape(needle)}{_ends_whole(needle)}")
    for _, lines in hunks(patch):
        shown = [line for line in lines if line.mark != hidden]
        text = "\n".join(_squeezed(line.text) for line in shown)
        counted, at = 0, 0
        for found in whole.finditer(text):
            counted, at = counted + text.count("\n", at, found.start()), found.start()
            covered = shown[counted : counted + needle.count("\n") + 1]
            number = covered[0].new if side is Side.NEW else covered[0].old
            yield Place(side, number, any(line.is_change for line in covered))


def _begins_whole(needle: str) -> str:
    return r"(?<!\w)" if re.match(r"\w", needle) else ""


def _ends_whole(needle: str) -> str:
    return r"(?!\w)" if re.search(r"\w\Z", needle) else ""


def _squeezed(text: str) -> str:
    return "\n".join(_BLANKS.sub(" ", line).strip() for line in text.strip().split("\n"))


def _without_marks(quote: str) -> str:
    return "\n".join(line[1:] if line[:1] in ("+", "-") else line for line in quote.strip().split("\n"))
