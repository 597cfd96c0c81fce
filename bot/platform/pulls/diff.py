"""A parser for the unified diffs that GitHub sends as ``patch``, and the search for quotes in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from impact.source.models import DiffSide
from impact.text.strings import collapse_lines

# a line number has no more digits, and Python refuses to parse thousands of digits
_HUNK = re.compile(r"@@ -(?P<old>\d{1,10})(?:,\d{1,10})? \+(?P<new>\d{1,10})(?:,\d{1,10})? @@", re.A)
_INVALID_HUNK = re.compile(rf"^(?!{_HUNK.pattern})@@", re.A | re.M)
_CHANGED_LINE = re.compile(r"^[+-]", re.M)
# the limits for one file. GitHub shows no larger diff: docs.github.com, "Limits for viewing content and diffs in a
# repository"; other servers may send diffs of any size
MAX_PATCH_LINES = 20_000
MAX_PATCH_CHARACTERS = 500_000
_NO_NEWLINE_NOTE = r"\ No newline at end of file"
_BLANKS = re.compile(r"[ \t]+")
# characters: shorter quotes ("x = 1", "return") occur in most diffs and prove nothing
MIN_QUOTE_LENGTH = 8


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A line of a patch. ``mark`` is ``+``, ``-`` or a blank; line numbers start at 1."""

    mark: str
    text: str
    old: int
    new: int
    lacks_newline: bool = False

    @property
    def patch_text(self) -> str:
        """The line as in the patch, with git's note after a last line without a newline."""
        return f"{self.mark}{self.text}" + (f"\n{_NO_NEWLINE_NOTE}" if self.lacks_newline else "")

    @property
    def is_change(self) -> bool:
        return self.mark != " "


@dataclass(frozen=True, slots=True)
class DiffPosition:
    """A line of a file on one side of a diff. ``is_change``: a line of the quote is added or deleted."""

    side: DiffSide
    line: int
    is_change: bool = field(default=True, compare=False)


def is_readable(patch: str) -> bool:
    """Return whether every line belongs to a hunk with a valid header; an empty patch is readable too."""
    return not patch.strip() or (bool(_HUNK.match(patch)) and not _INVALID_HUNK.search(patch))


def truncate_patch(patch: str) -> str:
    """Truncate a patch to the limits for one file: between hunks if half of it stays, else between lines."""
    is_whole = len(patch) <= MAX_PATCH_CHARACTERS
    end = len(patch) if is_whole else patch.rfind("\n", 0, MAX_PATCH_CHARACTERS + 1)
    part = patch[: max(end, 0)]
    if part.count("\n") >= MAX_PATCH_LINES:
        part = "\n".join(part.split("\n", MAX_PATCH_LINES)[:MAX_PATCH_LINES])
    if len(part) == len(patch):
        return patch
    last = part.rfind("\n@@ -")
    return part[:last] if last > len(part) // 2 else part


def count_changed_lines(patch: str) -> int:
    return sum(1 for _ in _CHANGED_LINE.finditer(patch))


def split_hunks(patch: str) -> Iterator[tuple[str, tuple[DiffLine, ...]]]:
    """Yield each hunk of a patch: its header line and its lines. Lines outside of valid hunks are left out."""
    header, old, new = "", 0, 0
    lines: list[DiffLine] = []
    for raw in patch.split("\n"):
        if raw.startswith("@@"):
            if lines:
                yield header, tuple(lines)
            header_match = _HUNK.match(raw)
            header, lines = raw if header_match else "", []
            old, new = (int(header_match["old"]), int(header_match["new"])) if header_match else (0, 0)
        elif header and raw[:1] in ("+", "-", " "):
            lines.append(DiffLine(raw[0], raw[1:], old, new))
            old += raw[0] != "+"
            new += raw[0] != "-"
        elif raw == _NO_NEWLINE_NOTE and lines:
            lines[-1] = replace(lines[-1], lacks_newline=True)
    if lines:
        yield header, tuple(lines)


def find_quote(patch: str, quote: str, line: int = 0, side: DiffSide = DiffSide.NEW) -> DiffPosition | None:
    """Return the position of ``quote`` in a patch, or None.

    A quote may span lines of one side of one hunk; it begins and ends with whole words. Runs of blanks count as
    one blank, and a leading ``+`` or ``-`` copied from the diff is ignored. Where it stands more than once, the
    position at ``line`` is preferred, then changed lines, and among them those of ``side``.
    """
    for needle in (_collapse_blanks(quote), _collapse_blanks(_remove_marks(quote))):
        if len(collapse_lines(needle)) < MIN_QUOTE_LENGTH:
            continue
        places = [place for each in DiffSide if (place := _find_on_side(each, patch, needle, line))]
        if places:
            return min(places, key=lambda place: (place.line != line, not place.is_change, place.side is not side))
    return None


def list_quote_positions(patch: str, quote: str) -> list[DiffPosition]:
    """Return all positions of a quote, as :func:`find_quote` compares; unchanged lines on the new side alone."""
    for needle in (_collapse_blanks(quote), _collapse_blanks(_remove_marks(quote))):
        if len(collapse_lines(needle)) < MIN_QUOTE_LENGTH:
            continue
        places = [place for side in DiffSide for place in _iterate_positions(side, patch, needle)]
        places = [place for place in places if place.side is DiffSide.NEW or place.is_change]
        if places:
            return places
    return []


def _find_on_side(side: DiffSide, patch: str, needle: str, line: int) -> DiffPosition | None:
    """Return the position at a line on a side, else the first changed one, else the first one."""
    changed = unchanged = None
    for place in _iterate_positions(side, patch, needle):
        if place.line == line or (place.is_change and not line):
            return place
        if place.is_change:
            changed = changed or place
        unchanged = unchanged or place
    return changed or unchanged


def _iterate_positions(side: DiffSide, patch: str, needle: str) -> Iterator[DiffPosition]:
    hidden = "-" if side is DiffSide.NEW else "+"
    start = r"(?<!\w)" if re.match(r"\w", needle) else ""
    end = r"(?!\w)" if re.search(r"\w\Z", needle) else ""
    whole = re.compile(rf"{start}{re.escape(needle)}{end}")
    for _, lines in split_hunks(patch):
        shown = [line for line in lines if line.mark != hidden]
        text = "\n".join(_collapse_blanks(line.text) for line in shown)
        counted, at = 0, 0
        for match in whole.finditer(text):
            counted, at = counted + text.count("\n", at, match.start()), match.start()
            covered = shown[counted : counted + needle.count("\n") + 1]
            number = covered[0].new if side is DiffSide.NEW else covered[0].old
            yield DiffPosition(side, number, any(line.is_change for line in covered))


def _collapse_blanks(text: str) -> str:
    return "\n".join(_BLANKS.sub(" ", line).strip() for line in text.strip().split("\n"))


def _remove_marks(quote: str) -> str:
    return "\n".join(line[1:] if line[:1] in ("+", "-") else line for line in quote.strip().split("\n"))
