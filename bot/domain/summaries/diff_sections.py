"""The text of one changed file for a model: its changed lines, with more or less of what is around them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from bot.domain.pull_requests.diff import DiffLine, split_hunks
from bot.domain.pull_requests.models import ChangedFile
from bot.domain.source.change_context import AnnotatedChange, ContextLevel, annotate_file
from impact.source.models import SourceFile

# stands for lines that are left out; a line of a diff begins with a blank, + or -
GAP = "…"
REST_NOTE = "[the rest of this file is not shown: {} changed lines]"
# characters: longer lines are data, or code that a program wrote
_MAX_LINE = 1_000


@dataclass(frozen=True, slots=True)
class DiffSection:
    """The text of one file. ``missing_lines`` is the number of its changed lines that the text does not hold."""

    file: ChangedFile
    text: str
    missing_lines: int = 0

    @property
    def tokens(self) -> int:
        """The approximate number of tokens of the text."""
        return estimate_tokens(self.text)


@dataclass(frozen=True, slots=True)
class SectionSource:
    """What is known of a changed file: its patch, and where it could be read the whole file with its change."""

    file: ChangedFile
    change: AnnotatedChange | None = None

    @classmethod
    def build(cls, file: ChangedFile, source: SourceFile | None) -> SectionSource:
        """Combine a changed file with its text after the change, if that is known and the patch is of it."""
        # a truncated patch would show the rest of the change as if it had been there before
        if not file.patch or file.unread or source is None or source.problem:
            return cls(file)
        lines = annotate_file(source, file.patch)
        return cls(file, AnnotatedChange.parse(lines, file.path, file.previous_path) if lines else None)

    def render_section(self, level: ContextLevel) -> DiffSection:
        """Return the section with as much context as the level says; without the whole file, as the patch has."""
        file = self.file
        if file.patch is None:
            return DiffSection(file, "", missing_lines=max(file.changed_lines, file.unread))
        lines = list(_render_change(self.change, level) if self.change else _render_patch(file.patch, level.near))
        notes = [REST_NOTE.format(file.unread)] if file.unread else []
        cut_lines = sum(map(_is_cut_change, lines))
        text = "\n".join([_render_header(file), *lines, *notes])
        return DiffSection(file, text, file.unread + cut_lines)


def estimate_tokens(text: str) -> int:
    """Return the approximate number of tokens: 4 characters each, accurate enough for budgets with any model."""
    return -(-len(text) // 4)


def flatten_path(path: str) -> str:
    """Return a path on one line: a line break in it could forge lines of the diff."""
    return " ".join(path.splitlines())


def _render_header(file: ChangedFile) -> str:
    moved = f" from {flatten_path(file.previous_path)}" if file.previous_path else ""
    return f"=== {flatten_path(file.path)} ({file.status}{moved}, +{file.additions} -{file.deletions})"


def _render_change(change: AnnotatedChange, level: ContextLevel) -> Iterator[str]:
    return _render_lines(change.lines, change.select_lines(level))


def _render_patch(patch: str, near: int) -> Iterator[str]:
    for header, lines in split_hunks(patch):
        yield _shorten_line(header)
        yield from _render_lines(lines, _select_near_changes(lines, near))


def _select_near_changes(lines: Sequence[DiffLine], near: int) -> Iterator[int]:
    """Yield the places of lines at most ``near`` lines from a change, in their order."""
    end = 0
    for at, line in enumerate(lines):
        if line.is_change:
            yield from range(max(at - near, end), min(at + near + 1, len(lines)))
            end = at + near + 1


def _render_lines(lines: Sequence[DiffLine], shown: Iterable[int]) -> Iterator[str]:
    """Yield the text of the lines to show, with a mark for each run of lines that is left out."""
    expected = 0
    for at in shown:
        if at > expected:
            yield GAP
        yield _shorten_line(lines[at].patch_text)
        expected = at + 1
    if expected < len(lines):
        yield GAP


def _shorten_line(text: str) -> str:
    if len(text) <= _MAX_LINE:
        return text
    return f"{text[:_MAX_LINE]}{GAP} [{len(text) - _MAX_LINE} more characters of this line]"


def _is_cut_change(text: str) -> bool:
    return len(text) > _MAX_LINE and text[0] in "+-"
