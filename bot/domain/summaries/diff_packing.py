"""The selection of patches that fit into a token budget, most informative files first.

The text names what does not fit, so that the model does not report a cut as a fault of the change. The
coverage is kept, so that readers know what the summary is based on.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from bot.domain.pull_requests.diff import DiffLine, split_hunks
from bot.domain.pull_requests.models import ChangedFile
from bot.domain.pull_requests.path_classes import DEFAULT_PATH_CLASSES, PathClass, PathClasses

_CLASS_RANK = {
    kind: rank
    for rank, kind in enumerate(
        (
            PathClass.PRODUCT,
            PathClass.BUILD,
            PathClass.SUPPORT,
            PathClass.TESTS,
            PathClass.CI,
            PathClass.DOCS,
            PathClass.OTHER,
            PathClass.GENERATED,
            PathClass.LOCK,
        )
    )
}
# git shows 3 lines of context around a change; 2 are as informative and save 9 %. Context is cut first when a diff
# is too large (docs/decisions/0003-two-lines-of-context.md)
_CONTEXT_STEPS = (2, 1, 0)
# tokens: a shorter beginning of a file is not worth showing
_MIN_PART_TOKENS = 100
_TOO_LARGE, _UNREADABLE = "too large for this prompt", "not to be read or too large for this prompt"
_REST_NOTE = "[the rest of this file is not shown: {} changed lines]"
# tokens of the note on files beyond the 3,000 that GitHub lists
_UNLISTED_NOTE_TOKENS = 25


class Coverage(StrEnum):
    """How many of the changed lines the model was shown."""

    FULL = "full"
    CLIPPED = "clipped"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class PackedDiff:
    """The text for the model, its coverage, and the paths of files whose changed lines are not all in it."""

    text: str
    coverage: Coverage
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Section:
    file: ChangedFile
    text: str
    missing_lines: int = 0  # changed lines of the file that the text does not hold

    @property
    def tokens(self) -> int:
        return estimate_tokens(self.text)


def estimate_tokens(text: str) -> int:
    """Return the approximate number of tokens: 4 characters each, accurate enough for budgets with any model."""
    return -(-len(text) // 4)


def pack_diff(
    files: Iterable[ChangedFile], budget: int, total_files: int, classes: PathClasses = DEFAULT_PATH_CLASSES
) -> PackedDiff:
    """Pack patches into ``budget`` tokens.

    ``total_files`` is GitHub's own count, which exceeds the length of the list above 3,000 files. The coverage
    is that of changed lines: a renamed or binary file without a text diff does not lower it.
    """
    ordered = sorted(
        files, key=lambda file: (_CLASS_RANK[classes.classify_path(file.path)], -file.changed_lines, file.path)
    )
    not_listed = total_files - len(ordered)
    sections = _fit_sections(ordered, budget - (_UNLISTED_NOTE_TOKENS if not_listed > 0 else 0))
    notes = _render_notes(sections, not_listed, budget)
    text = "\n".join([section.text for section in sections if section.text] + notes)
    left_out = tuple(section.file.path for section in sections if section.missing_lines)
    return PackedDiff(text, _determine_coverage(ordered, sections, total_files), left_out)


def _determine_coverage(files: list[ChangedFile], sections: list[_Section], total_files: int) -> Coverage:
    unseen = sum(section.missing_lines for section in sections)
    if not unseen and total_files <= len(files):
        return Coverage.FULL
    shown = sum(file.changed_lines for file in files) - unseen
    return Coverage.CLIPPED if shown > 0 else Coverage.NONE


def _fit_sections(files: list[ChangedFile], budget: int) -> list[_Section]:
    for context in _CONTEXT_STEPS:
        sections = [_build_section(file, context) for file in files]
        if sum(section.tokens + 1 for section in sections) <= budget - _count_note_tokens(sections, budget):
            return sections
    return _clip_sections(sections, budget - budget // 10)


def _build_section(file: ChangedFile, context: int) -> _Section:
    if file.patch is None:
        return _Section(file, "", missing_lines=max(file.changed_lines, file.unread))
    text = f"{_render_header(file)}\n{_trim_context(file.patch, context)}"
    return _Section(file, f"{text}\n{_REST_NOTE.format(file.unread)}" if file.unread else text, file.unread)


def _render_header(file: ChangedFile) -> str:
    moved = f" from {_flatten_path(file.previous_path)}" if file.previous_path else ""
    return f"=== {_flatten_path(file.path)} ({file.status}{moved}, +{file.additions} -{file.deletions})"


def _flatten_path(path: str) -> str:
    """Return a path on one line: a line break in it could forge lines of the diff."""
    return " ".join(path.splitlines())


def _trim_context(patch: str, context: int) -> str:
    return "\n".join(
        text for header, lines in split_hunks(patch) for text in (header, *_select_near_changes(lines, context))
    )


def _select_near_changes(lines: tuple[DiffLine, ...], context: int) -> Iterable[str]:
    kept: set[int] = set()
    for at, line in enumerate(lines):
        if line.is_change:
            kept.update(range(at - context, at + context + 1))
    return [line.patch_text for at, line in enumerate(lines) if at in kept]


def _clip_sections(sections: list[_Section], budget: int) -> list[_Section]:
    """Select sections by first fit in order of rank; a file that does not fit gets at most half of the rest."""
    packed: list[_Section] = []
    for section in sections:
        fitting = section if section.tokens < budget else _cut_section(section, budget // 2)
        packed.append(fitting)
        budget -= fitting.tokens + 1 if fitting.text else 0
    return packed


def _cut_section(section: _Section, budget: int) -> _Section:
    nothing = _Section(section.file, "", missing_lines=section.file.changed_lines)
    room = 4 * budget - len(_REST_NOTE) - 8
    end = section.text.rfind("\n", 0, room) if budget >= _MIN_PART_TOKENS else -1
    start = section.text[: max(end, 0)]
    seen = sum(raw[:1] in ("+", "-") for raw in start.split("\n")[1:])
    if not seen:
        return nothing
    # the counts of a server may differ from its patch
    written = sum(raw[:1] in ("+", "-") for raw in section.text.split("\n")[1:])
    unseen = max(section.file.changed_lines - seen, written - seen, section.missing_lines)
    return _Section(section.file, f"{start}\n{_REST_NOTE.format(unseen)}", unseen)


def _count_note_tokens(sections: list[_Section], budget: int) -> int:
    return sum(estimate_tokens(note) + 1 for note in _render_notes(sections, 0, budget))


def _render_notes(sections: list[_Section], not_listed: int, budget: int) -> list[str]:
    """Return the notes for the model on files that it can't see, in at most a tenth of the budget."""
    unseen = [section.file for section in sections if section.missing_lines and not section.text]
    no_text = [section.file for section in sections if not section.missing_lines and not section.text]
    is_odd = any(file.is_unreadable for file in unseen)
    notes = [
        _render_file_list(f"[Not shown, {_UNREADABLE if is_odd else _TOO_LARGE}", unseen, budget // 20),
        _render_file_list("[Changed without text lines (binary, renamed or empty)", no_text, budget // 20),
    ]
    if not_listed > 0:
        notes.append(f"[GitHub lists no more than 3,000 files; {not_listed} further files are unknown]")
    return [note for note in notes if note]


def _render_file_list(lead: str, files: list[ChangedFile], budget: int) -> str:
    if not files:
        return ""
    names: list[str] = []
    room = 4 * budget - len(lead) - 40
    for file in files:
        name = f"{_flatten_path(file.path)} +{file.additions} -{file.deletions}"
        room -= len(name) + 2
        if room < 0:
            break
        names.append(name)
    rest = f" and {len(files) - len(names)} more files" if len(names) < len(files) else ""
    return f"{lead}: {', '.join(names)}{rest}]"
