"""Results that know how much was read for them, so that "nothing" is never said of what was not read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from impact.errors import READING_FAILED, attempt
from impact.source.models import SourceProblem
from impact.text.strings import collapse_lines, truncate_text

T = TypeVar("T")
U = TypeVar("U")
P = TypeVar("P")

_MAX_REASON, _MAX_WORDS, _MAX_NAME, _MAX_NAMED = 160, 18, 60, 5
_WITHOUT_TEXT = frozenset(map(str, (SourceProblem.BINARY, SourceProblem.SYMLINK, SourceProblem.SUBMODULE)))


@dataclass(frozen=True, slots=True)
class UnreadFile:
    """A changed file that could not be read, and why, as a clause."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class CoveredPart:
    """Things of one kind, in the plural (``changed files``): ``unread`` of ``total`` were not read.

    ``reason`` is a clause, empty where none is known. Without a ``total`` nobody knows how many there are.
    """

    things: str
    unread: int
    total: int = 0
    reason: str = ""

    def __add__(self, other: CoveredPart) -> CoveredPart:
        reasons = dict.fromkeys(each.reason for each in (self, other) if each.unread and each.reason)
        return CoveredPart(
            self.things, self.unread + other.unread, self.total + other.total, next(iter(reasons), "")
        )

    def __str__(self) -> str:
        count = f"{self.unread:,} of {self.total:,} " if self.total else ""
        words = truncate_text(collapse_lines(self.reason), _MAX_REASON).split()
        reason = f"{' '.join(words[:_MAX_WORDS])}{'…' if len(words) > _MAX_WORDS else ''}"
        return f"{count}{collapse_lines(self.things)}{f' ({reason})' if reason else ''}"


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much was read for a result: a part for each kind of things. ``files`` are those that were not."""

    parts: tuple[CoveredPart, ...] = ()
    files: tuple[UnreadFile, ...] = ()

    @classmethod
    def of(cls, *parts: CoveredPart) -> Coverage:
        return cls(parts)

    @property
    def is_complete(self) -> bool:
        return not any(part.unread for part in self.parts)

    def __add__(self, other: Coverage) -> Coverage:
        by_name = {part.things: part for part in self.parts}
        for part in other.parts:
            by_name[part.things] = by_name[part.things] + part if part.things in by_name else part
        return Coverage(tuple(by_name.values()), tuple(dict.fromkeys((*self.files, *other.files))))

    def qualify_count(self, count: int) -> int | None:
        """Return a count; None in place of a zero that nobody can be sure of."""
        return count if count or self.is_complete else None

    @property
    def gaps(self) -> list[str]:
        """What was not read, as the objects of a sentence."""
        return [str(part) for part in self.parts if part.unread]

    def leave_out_reasons(self, words: int) -> Coverage:
        """Return the same without the reasons that are longer than that or would be cut."""
        most = min(words, _MAX_WORDS)
        parts = (
            replace(part, reason="") if len(part.reason) > _MAX_REASON or len(part.reason.split()) > most else part
            for part in self.parts
        )
        return replace(self, parts=tuple(parts))

    def explain_gaps(self, *, is_empty: bool) -> str:
        """Return a sentence on what was not read, and what follows for a result; empty if all was read."""
        gaps = self.gaps
        if not gaps:
            return ""
        listed = f"{', '.join(gaps[:-1])} and {gaps[-1]}" if len(gaps) > 1 else gaps[0]
        follows = "I can't tell" if is_empty else "there may be more"
        return f"I couldn't read {listed}, so {follows}."

    def name_files(self) -> str:
        """Return the first files that were not read, with why, as a clause; empty if there are none."""
        names = [
            f"{collapse_lines(file.path)} ({collapse_lines(file.reason)})" for file in self.files[:_MAX_NAMED]
        ]
        more = [f"and {len(self.files) - _MAX_NAMED:,} more"] if len(self.files) > _MAX_NAMED else []
        return truncate_text(f"Could not be read: {', '.join([*names, *more])}", 600) if names else ""


COMPLETE = Coverage()


@dataclass(frozen=True, slots=True)
class CoveredList(Generic[T]):
    """A list with its coverage. Who shows it goes through here, and says first what was not read.

    Its items are reached by :meth:`render`, :meth:`render_below`, :meth:`to_document` and :meth:`label` alone;
    :meth:`ignore_coverage` is for work that shows nobody anything. It has no length and no truth value, which
    would tell of none.
    """

    _items: tuple[T, ...] = ()
    coverage: Coverage = COMPLETE

    def __bool__(self) -> bool:
        """Raise TypeError."""
        raise TypeError("a list with its coverage is neither true nor false: render it, or ask is_empty")

    @property
    def is_empty(self) -> bool:
        return not self._items

    def render(
        self, write: Callable[[str], P], show: Callable[[tuple[T, ...]], Iterable[P]], nothing: str
    ) -> list[P]:
        """Return the parts of an answer: what was not read, then what ``show`` makes of the items.

        ``write`` makes a part of a sentence. ``nothing`` is said where all was read, and there are no items.
        """
        shown = self.render_below(show)
        sentence = self.explain_gaps() or ("" if self._items else nothing)
        return [*([write(sentence)] if sentence else []), *shown]

    def render_below(self, show: Callable[[tuple[T, ...]], Iterable[P]]) -> list[P]:
        """Return what ``show`` makes of the items, if any, below a sentence that says what was not read."""
        return [*show(self._items)] if self._items else []

    def to_document(self, name: str, show: Callable[[T], object]) -> dict[str, Any]:
        """Return the list for JSON below what was not read; None in its place where nobody can tell."""
        sentence = self.explain_gaps()
        items = None if sentence and not self._items else [show(item) for item in self._items]
        return {"not_read": sentence or None, name: items}

    def label(self, describe: Callable[[int], str]) -> str:
        """Return what ``describe`` says of the number of items, for a title; empty if not all was read."""
        return describe(len(self._items)) if self.coverage.is_complete else ""

    def derive(self, select: Callable[[tuple[T, ...]], Iterable[U]]) -> CoveredList[U]:
        """Return another list made of this one, with the same coverage."""
        return CoveredList(tuple(select(self._items)), self.coverage)

    def derive_each(
        self, things: str, get_name: Callable[[T], str], make: Callable[[T], Iterable[U]]
    ) -> CoveredList[U]:
        """Return what ``make`` makes of each item. ``things`` are those that meet a defect, told as unread."""
        made = [(item, attempt(get_name(item), lambda each: [*make(each)], item)) for item in self._items]
        is_counted = any(part.things == things for part in self.coverage.parts)
        names = [get_name(item) for item, results in made if results is None]
        gap = cover_defects(things, names, 0 if is_counted else len(made))
        return CoveredList(tuple(each for _, results in made for each in results or ()), self.coverage + gap)

    def explain_gaps(self) -> str:
        """Return what was not read, as a sentence; empty if all was."""
        return self.coverage.explain_gaps(is_empty=not self._items)

    def ignore_coverage(self) -> tuple[T, ...]:
        """Return the items, for work that shows nobody anything."""
        return self._items


def cover_defects(things: str, names: Sequence[str], total: int) -> Coverage:
    """Return the coverage of ``total`` things; those with ``names`` met a defect."""
    files = tuple(UnreadFile(name, READING_FAILED) for name in names)
    return Coverage((CoveredPart(things, len(files), total, READING_FAILED),), files) if files else COMPLETE


def holds_text(file: UnreadFile) -> bool:
    return file.reason not in _WITHOUT_TEXT


def explain_files(files: Sequence[UnreadFile]) -> str:
    """Return why files were not read, as a clause: the reason of all, or that of the first; empty without any."""
    if not files:
        return ""
    reasons = {file.reason for file in files}
    # a clause on "it" needs the name of a file
    if len(reasons) == 1 and not files[0].reason.startswith("it "):
        return files[0].reason
    name = truncate_text(collapse_lines(files[0].path).rpartition("/")[2], _MAX_NAME)
    return f"{name}: {files[0].reason}{', among others' if len(files) > 1 else ''}"
