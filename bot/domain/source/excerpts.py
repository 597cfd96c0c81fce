"""Parts of a file at a commit: by their lines, or around a name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from bot.domain.pull_requests.diff import DiffLine
from bot.domain.pull_requests.models import ChangedFile
from bot.domain.source.change_context import annotate_file
from bot.domain.source.scopes import Scope, list_scopes
from impact.source.models import SourceFile

# lines of a file that are shown at once
MAX_EXCERPT_LINES = 200
# lines: a function or class around a name is shown whole up to this length, else so many lines before and after
_MAX_WHOLE, _NEAR = 60, 10


@dataclass(frozen=True, slots=True)
class SourceExcerpt:
    """Consecutive lines of a file at a pull request's commit, ``+`` where the pull request added them.

    Without ``has_marks`` it is not known which lines it added.
    """

    path: str
    lines: tuple[DiffLine, ...]
    has_marks: bool = True

    @property
    def patch(self) -> str:
        """The lines as a hunk, whose new side has their numbers."""
        return "\n".join([f"@@ -1 +{self.lines[0].new} @@", *(f"{line.mark}{line.text}" for line in self.lines)])


def mark_lines(file: SourceFile, change: ChangedFile | None) -> SourceExcerpt:
    """Return a whole file with marks. ``change`` is None for a file that the pull request left as it was."""
    is_untouched = change is None or (change.status == "renamed" and not change.changed_lines)
    is_added = change is not None and change.status == "added"
    if change is not None and not is_untouched and not is_added:
        annotated = annotate_file(file, change.patch) if change.patch and not change.unread else None
        if annotated is not None:
            return SourceExcerpt(file.path, tuple(line for line in annotated if line.mark != "-"))
    mark = "+" if is_added else " "
    lines = tuple(DiffLine(mark, text, number, number) for number, text in enumerate(file.lines, 1))
    return SourceExcerpt(file.path, lines, has_marks=is_untouched or is_added)


def split_excerpt(whole: SourceExcerpt, numbers: Iterable[int]) -> Iterator[SourceExcerpt]:
    """Yield the lines with these ascending numbers of a whole file, as runs of consecutive ones."""
    run: list[DiffLine] = []
    for number in numbers:
        line = whole.lines[number - 1]
        if run and line.new != run[-1].new + 1:
            yield SourceExcerpt(whole.path, tuple(run), whole.has_marks)
            run = []
        run.append(line)
    if run:
        yield SourceExcerpt(whole.path, tuple(run), whole.has_marks)


def list_uses(lines: Sequence[str], name: str) -> list[int]:
    """Return the numbers of the lines that have a name as a whole word."""
    word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    # nearly all lines lack it, which is known sooner without the pattern
    return [number for number, text in enumerate(lines, 1) if name in text and word.search(text)]


def find_name(file: SourceFile, name: str, most: int = MAX_EXCERPT_LINES) -> tuple[list[int], list[int]]:
    """Return the numbers of the lines around the uses of a name, ascending, and those of all uses.

    There are up to ``most`` lines, of where it is defined first, then from the top. A function or class of up to
    60 lines is shown whole, else ten lines before and after.
    """
    lines = file.lines
    uses = list_uses(lines, name)
    scopes = list_scopes(file.path, file.text) if uses else ()
    heads = {number for scope in scopes for number in range(scope.start, scope.head_end + 1)}
    shown: set[int] = set()
    for use in sorted(uses, key=lambda number: (number not in heads, number)):
        if use in shown:
            continue
        block = _select_block(use, scopes, len(lines))
        if len(shown | set(block)) > most:
            break
        shown.update(block)
    return sorted(shown), uses


def _select_block(use: int, scopes: Sequence[Scope], count: int) -> range:
    # outer ones come first
    innermost = next((scope for scope in reversed(scopes) if scope.start <= use <= scope.end), None)
    if innermost and innermost.end - innermost.start < _MAX_WHOLE:
        return range(innermost.start, innermost.end + 1)
    return range(max(use - _NEAR, 1), min(use + _NEAR, count) + 1)
