"""The lines around a change that a reader needs: the functions and classes that it is in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from bot.domain.pull_requests.diff import DiffLine
from bot.domain.source.annotated_file import restore_old_text
from bot.domain.source.scopes import Scope, list_scopes

# lines: the head of a longer function or class is cut
_MAX_HEAD_LINES = 12


@dataclass(frozen=True, slots=True)
class ContextLevel:
    """How much is shown around a change, in lines.

    A function or class of up to ``whole`` lines is shown whole. Of a longer one, its head is shown if
    ``has_heads``, and ``near`` lines before and after each changed line.
    """

    near: int
    whole: int = 0
    has_heads: bool = False


@dataclass(frozen=True, slots=True)
class ScopeSpan:
    """A function or class as indices into the lines of an annotated file, ends included."""

    start: int
    head_end: int
    end: int


@dataclass(frozen=True, slots=True)
class AnnotatedChange:
    """An annotated file with its functions and classes, before the change and after it."""

    lines: tuple[DiffLine, ...]
    old_spans: tuple[ScopeSpan, ...]
    new_spans: tuple[ScopeSpan, ...]

    @classmethod
    def parse(cls, lines: tuple[DiffLine, ...], path: str, old_path: str | None = None) -> AnnotatedChange:
        """Find the functions and classes of an annotated file."""
        new_text = "".join(f"{line.text}\n" for line in lines if line.mark != "-")
        new_at = [at for at, line in enumerate(lines) if line.mark != "-"]
        old_at = [at for at, line in enumerate(lines) if line.mark != "+"]
        has_deleted = len(new_at) < len(lines)
        old_scopes = list_scopes(old_path or path, restore_old_text(lines)) if has_deleted else ()
        return cls(lines, _build_spans(old_scopes, old_at), _build_spans(list_scopes(path, new_text), new_at))

    def select_lines(self, level: ContextLevel) -> list[int]:
        """Return the indices of the lines to show, ascending: all changed lines, and the context of the level."""
        shown: set[int] = set()
        for at in self._list_changes():
            shown.update(range(max(at - level.near, 0), min(at + level.near + 1, len(self.lines))))
        for spans, hidden in ((self.old_spans, "+"), (self.new_spans, "-")):
            changes = [at for at in self._list_changes() if self.lines[at].mark != hidden]
            for owner in _list_owners(spans, changes, len(self.lines)):
                shown.update(_select_span(owner, level))
        return sorted(shown)

    def _list_changes(self) -> Iterator[int]:
        return (at for at, line in enumerate(self.lines) if line.is_change)


def _build_spans(scopes: Iterable[Scope], places: Sequence[int]) -> tuple[ScopeSpan, ...]:
    """Convert line numbers of one side into indices. ``places`` has the index of each line of that side."""
    return tuple(
        ScopeSpan(places[scope.start - 1], places[scope.head_end - 1], places[scope.end - 1])
        for scope in scopes
        if scope.end <= len(places)
    )


def _list_owners(
    spans: Sequence[ScopeSpan], changes: Iterable[int], count: int
) -> Iterator[tuple[ScopeSpan, ...]]:
    """Yield, for each innermost function or class with a change, itself and what it stands in, innermost first."""
    innermost: list[int | None] = [None] * count
    parents: list[int | None] = []
    for number, span in enumerate(spans):
        # outer ones come first, so what a line has now is the next outer one
        parents.append(innermost[span.start])
        innermost[span.start : span.end + 1] = [number] * (span.end + 1 - span.start)
    for number in sorted({owner for at in changes if (owner := innermost[at]) is not None}):
        yield tuple(_iterate_outward(spans, parents, number))


def _iterate_outward(
    spans: Sequence[ScopeSpan], parents: Sequence[int | None], number: int | None
) -> Iterator[ScopeSpan]:
    while number is not None:
        yield spans[number]
        number = parents[number]


def _select_span(owner: tuple[ScopeSpan, ...], level: ContextLevel) -> Iterator[int]:
    """Yield the indices to show of a function or class, and of what it stands in."""
    innermost, *outer = owner
    if innermost.end - innermost.start < level.whole:
        yield from range(innermost.start, innermost.end + 1)
    elif level.has_heads:
        yield from _select_head(innermost)
    if level.has_heads:
        for span in outer:
            yield from _select_head(span)


def _select_head(span: ScopeSpan) -> range:
    return range(span.start, min(span.head_end, span.start + _MAX_HEAD_LINES - 1) + 1)
