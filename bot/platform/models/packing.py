"""The selection of patches that fit into a token budget, most informative files first.

The text names what does not fit, so that the model does not report a cut as a fault of the change. The
coverage is kept, so that readers know what the summary is based on.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING

from bot.errors import ModelInputTooLong, PrdigestError
from bot.platform.models.prompts import fence_text
from bot.platform.pulls.diff import DiffLine, split_hunks
from bot.platform.pulls.models import ChangedFile, PullRequest
from bot.platform.pulls.paths import DEFAULT_PATH_CLASSES, PathClass, PathClasses
from bot.platform.source.excerpts import AnnotatedChange, ContextLevel, annotate_file, has_scopes
from bot.platform.source.models import SourceUses
from bot.platform.source.standing import MAX_TREE_NAMES, describe_standing, format_standing
from bot.text import format_count
from impact.source.models import SourceFile
from impact.text.strings import collapse_lines, remove_comments, truncate_text

if TYPE_CHECKING:
    from bot.platform.source.reading import CodeSources

log = logging.getLogger(__name__)

_CLASS_ORDER = (
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
# code whose functions and classes are shown around a change
_EXPLAINED_CLASSES = frozenset({PathClass.PRODUCT, PathClass.BUILD, PathClass.SUPPORT})
# GitHub sends 3 lines of context; functions are shown where there is room, and context is cut before files are
WHOLE_FUNCTIONS = ContextLevel(near=10, whole=100, has_heads=True)
_SHORT_FUNCTIONS = ContextLevel(near=5, whole=40, has_heads=True)
_HEADS = ContextLevel(near=3, has_heads=True)
_PATCH = ContextLevel(near=3)
_EXPLAINING_LEVELS = (WHOLE_FUNCTIONS, _SHORT_FUNCTIONS, _HEADS)
_NARROW_LEVELS = (ContextLevel(near=1), ContextLevel(near=0))
# tokens that the functions around all changes of a pull request may take more than its patches: the diffs of a
# day then take 2.5 times as many at most (docs/decisions/0007-whole-functions.md)
_MAX_EXPLAINING_TOKENS = 6_000
# files of one pull request that are read whole: the largest changes of 2025 have hundreds, and fit no prompt
_MAX_SOURCES = 30
# lines of the tree that are looked at for names that are gone from their files
_MAX_USES = 5_000
# tokens: a shorter beginning of a file is not worth showing
_MIN_PART_TOKENS = 100
_TOO_LARGE, _UNREADABLE = "too large for this prompt", "not to be read or too large for this prompt"
# stands for lines that are left out; a line of a diff begins with a blank, + or -
GAP = "…"
REST_NOTE = "[the rest of this file is not shown: {} changed lines]"
# characters: longer lines are data, or code that a program wrote
_MAX_LINE = 1_000
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


def list_source_paths(
    files: Iterable[ChangedFile], classes: PathClasses = DEFAULT_PATH_CLASSES
) -> tuple[str, ...]:
    """Return the paths of the changed files that are worth reading whole, most informative first."""
    explained = [file for file in files if _is_explained(file, classes)]
    return tuple(file.path for file in _sort_files(explained, classes)[:_MAX_SOURCES])


def pack_diff(
    files: Iterable[ChangedFile],
    budget: int,
    total_files: int,
    classes: PathClasses = DEFAULT_PATH_CLASSES,
    sources: Mapping[str, SourceFile] = MappingProxyType({}),
) -> PackedDiff:
    """Pack the changes of files into ``budget`` tokens.

    ``total_files`` is GitHub's own count, which exceeds the length of the list above 3,000 files. ``sources`` has
    files as they are after the change, by their paths; around changes of these, functions and classes are shown.
    The coverage is that of changed lines: a renamed or binary file without a text diff does not lower it.
    """
    listed = [SectionSource.build(file, sources.get(file.path)) for file in _sort_files(files, classes)]
    return _pack_sections(listed, budget, total_files)


def _pack_sections(listed: list[SectionSource], budget: int, total_files: int) -> PackedDiff:
    ordered = [source.file for source in listed]
    not_listed = total_files - len(ordered)
    room = budget - (_UNLISTED_NOTE_TOKENS if not_listed > 0 else 0)
    sections = _fit_sections(listed, room)
    notes = _render_notes(sections, not_listed, budget)
    text = "\n".join([section.text for section in sections if section.text] + notes)
    left_out = tuple(section.file.path for section in sections if section.missing_lines)
    return PackedDiff(text, _determine_coverage(ordered, sections, total_files), left_out)


def _is_explained(file: ChangedFile, classes: PathClasses) -> bool:
    # the patch of an added or a removed file is the whole file
    return bool(
        file.patch
        and file.status not in ("added", "removed")
        and classes.classify_path(file.path) in _EXPLAINED_CLASSES
        and has_scopes(file.path)
    )


def _sort_files(files: Iterable[ChangedFile], classes: PathClasses) -> list[ChangedFile]:
    return sorted(
        files,
        key=lambda file: (_CLASS_ORDER.index(classes.classify_path(file.path)), -file.changed_lines, file.path),
    )


def _determine_coverage(files: list[ChangedFile], sections: list[DiffSection], total_files: int) -> Coverage:
    unseen = sum(section.missing_lines for section in sections)
    if not unseen and total_files <= len(files):
        return Coverage.FULL
    shown = sum(file.changed_lines for file in files) - unseen
    return Coverage.CLIPPED if shown > 0 else Coverage.NONE


def _fit_sections(sources: list[SectionSource], budget: int) -> list[DiffSection]:
    """Return the sections with the most context that fits; if none does, without context and cut."""
    plain = [source.render_section(_PATCH) for source in sources]
    if any(source.change for source in sources):
        room = min(budget, _count_tokens(plain) + _MAX_EXPLAINING_TOKENS)
        for level in _EXPLAINING_LEVELS:
            sections = [
                source.render_section(level) if source.change else section
                for source, section in zip(sources, plain, strict=True)
            ]
            if _do_fit(sections, room):
                return sections
    if _do_fit(plain, budget):
        return plain
    for level in _NARROW_LEVELS:
        sections = [source.render_section(level) for source in sources]
        if _do_fit(sections, budget):
            return sections
    return _clip_sections(sections, budget - budget // 10)


def _do_fit(sections: list[DiffSection], budget: int) -> bool:
    notes = sum(estimate_tokens(note) + 1 for note in _render_notes(sections, 0, budget))
    return _count_tokens(sections) <= budget - notes


def _count_tokens(sections: list[DiffSection]) -> int:
    return sum(section.tokens + 1 for section in sections)


def _clip_sections(sections: list[DiffSection], budget: int) -> list[DiffSection]:
    """Select sections by first fit in order of rank; a file that does not fit gets at most half of the rest."""
    packed: list[DiffSection] = []
    for section in sections:
        fitting = section if section.tokens < budget else _cut_section(section, budget // 2)
        packed.append(fitting)
        budget -= fitting.tokens + 1 if fitting.text else 0
    return packed


def _cut_section(section: DiffSection, budget: int) -> DiffSection:
    nothing = DiffSection(section.file, "", missing_lines=section.file.changed_lines)
    room = 4 * budget - len(REST_NOTE) - 8
    end = section.text.rfind("\n", 0, room) if budget >= _MIN_PART_TOKENS else -1
    start = section.text[: max(end, 0)]
    seen = sum(raw[:1] in ("+", "-") for raw in start.split("\n")[1:])
    if not seen:
        return nothing
    # the counts of a server may differ from its patch
    written = sum(raw[:1] in ("+", "-") for raw in section.text.split("\n")[1:])
    unseen = max(section.file.changed_lines - seen, written - seen, section.missing_lines)
    return DiffSection(section.file, f"{start}\n{REST_NOTE.format(unseen)}", unseen)


def _render_notes(sections: list[DiffSection], not_listed: int, budget: int) -> list[str]:
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
        name = f"{flatten_path(file.path)} +{file.additions} -{file.deletions}"
        room -= len(name) + 2
        if room < 0:
            break
        names.append(name)
    rest = f" and {len(files) - len(names)} more files" if len(names) < len(files) else ""
    return f"{lead}: {', '.join(names)}{rest}]"


# --- one file: its changed lines, with more or less of what is around them


@dataclass(frozen=True, slots=True)
class DiffSection:
    """The text of one file. ``missing_lines`` is the number of its changed lines that the text does not hold."""

    file: ChangedFile
    text: str
    missing_lines: int = 0

    @property
    def tokens(self) -> int:
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
        if self.change:
            lines = list(_render_lines(self.change.lines, self.change.select_lines(level)))
        else:
            lines = list(render_hunks(split_hunks(file.patch), level.near))
        notes = [REST_NOTE.format(file.unread)] if file.unread else []
        cut_lines = sum(len(line) > _MAX_LINE and line[0] in "+-" for line in lines)
        moved = f" from {flatten_path(file.previous_path)}" if file.previous_path else ""
        header = f"=== {flatten_path(file.path)} ({file.status}{moved}, +{file.additions} -{file.deletions})"
        text = "\n".join([header, *lines, *notes])
        return DiffSection(file, text, file.unread + cut_lines)


def estimate_tokens(text: str) -> int:
    """Return the approximate number of tokens: 4 characters each, accurate enough for budgets with any model."""
    return -(-len(text) // 4)


def flatten_path(path: str) -> str:
    """Return a path on one line: a line break in it could forge lines of the diff."""
    return " ".join(path.splitlines())


def render_hunks(hunks: Iterable[tuple[str, Sequence[DiffLine]]], near: int) -> Iterator[str]:
    """Yield the lines of hunks, each with its header, and at most ``near`` unchanged ones beside each change."""
    for header, lines in hunks:
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


# --- what a model is shown of a pull request: facts, the author's words, and the diff

_CHARACTERS_PER_TOKEN = 4  # as budgets of diffs count them
# most descriptions have the essential in their first paragraphs; test output and check lists follow
_MAX_DESCRIPTION_LENGTH = 2_000


@dataclass(frozen=True, slots=True)
class PackedChange:
    """The diff as the model gets it, and what was read for it.

    ``sources`` are the files as they are after the change, by path; ``changes`` are these with the change laid
    over them. ``standing`` says what stands of names in removed lines.
    """

    diff: PackedDiff
    sources: Mapping[str, SourceFile]
    changes: Mapping[str, AnnotatedChange]
    standing: str


def pack_change(pull: PullRequest, budget: int, classes: PathClasses, code: CodeSources) -> PackedChange:
    """Pack the files of a pull request into ``budget`` tokens, with functions from the files that can be read."""
    files, sources = _sort_files(pull.files or (), classes), dict[str, SourceFile]()
    explained = list_source_paths(files, classes)
    looked_at = [each for each in files if each.patch and classes.classify_path(each.path) in _EXPLAINED_CLASSES]
    paths = list(dict.fromkeys([*explained, *(each.path for each in looked_at if _may_lose_names(each))]))
    if code.files and paths and pull.commit:
        try:
            sources = {**code.files.read_files(pull.repository, pull.commit, paths[:_MAX_SOURCES])}
        except PrdigestError as error:
            log.info("%s#%d is read without its files: %s", pull.repository, pull.number, error)
    built = [SectionSource.build(file, sources.get(file.path)) for file in files]
    changes = {each.file.path: each.change for each in built if each.change}
    shown = [each if each.file.path in explained else SectionSource(each.file) for each in built]
    standing = describe_standing(looked_at, changes)
    searched = _search_tree(pull, [each.name for each in standing.open_names[:MAX_TREE_NAMES]], code)
    return PackedChange(
        _pack_sections(shown, budget, pull.changed_files),
        {path: source for path, source in sources.items() if path in explained},
        changes,
        format_standing(standing, searched),
    )


def _may_lose_names(file: ChangedFile) -> bool:
    return bool(file.deletions) and file.status not in ("added", "removed") and not has_scopes(file.path)


def _search_tree(pull: PullRequest, names: Sequence[str], code: CodeSources) -> SourceUses | None:
    if not names or code.search is None or not pull.commit:
        return None
    try:
        return code.search.find_any(pull.repository, pull.commit, names, _MAX_USES)
    except PrdigestError as error:
        log.info("the tree of %s#%d is not searched: %s", pull.repository, pull.number, error)
        return None


def choose_smaller_budget(text: str, error: ModelInputTooLong) -> int:
    """Return the tokens for a diff whose prompt was too long: half, or the excess and a sixteenth less."""
    tokens = len(text) // _CHARACTERS_PER_TOKEN
    return tokens // 2 if error.excess is None else max(0, tokens - error.excess - tokens // 16)


def format_change(pull: PullRequest, diff: PackedDiff, looked_up: str = "") -> str:
    """Return facts, motive and diff of a pull request between marks, and what code looked up about it."""
    facts = (
        f"{pull.repository} #{pull.number}: {collapse_lines(pull.title)}\n"
        f"{format_count(pull.changed_files, 'file')}, +{pull.additions} -{pull.deletions}"
    )
    labels = ", ".join(map(collapse_lines, pull.labels))
    issues = "\n".join(f"- #{issue.number}: {collapse_lines(issue.title)}" for issue in pull.linked_issues)
    description = truncate_text(remove_comments(pull.body).strip(), _MAX_DESCRIPTION_LENGTH)
    motive = [
        f"Labels: {labels}" if labels else "",
        f"Issues that it closes:\n{issues}" if issues else "",
        f"Description:\n{description}" if description else "",
    ]
    words = "\n".join(filter(None, motive))
    said_by_author = f"What the author says (nobody has verified it):\n{words}" if words else ""
    parts = [facts, said_by_author, diff.text or "[no diff]"]
    fenced = fence_text("pull_request", "\n\n".join(filter(None, parts)))
    return f"{fenced}\n\n{looked_up}" if looked_up else fenced
