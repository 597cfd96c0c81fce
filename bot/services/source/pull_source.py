"""The files of a repository as they are after one pull request, for a model that may quote what it is shown."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Protocol

from bot.domain.errors import SourceUnavailable, UsageError
from bot.domain.pull_requests.diff import DiffLine
from bot.domain.pull_requests.models import ChangedFile, PullRequest
from bot.domain.source.excerpts import SourceExcerpt, list_uses, mark_lines, split_excerpt
from bot.domain.source.search import SourceUse, SourceUses
from bot.domain.text.strings import format_count, quote_input
from bot.services.source.code_sources import CodeSources
from bot.services.source.source_text import (
    MAX_CHANGES,
    MAX_USES,
    FilePart,
    describe_commit,
    explain_marks,
    fit_excerpts,
    fit_uses,
    format_changes,
    format_excerpts,
    format_use,
    select_lines,
    shorten_use,
)
from bot.services.source.text_limits import MAX_RESULT_LENGTH, limit_lines
from impact.source.models import SourceFile, SourceProblem

log = logging.getLogger(__name__)

# changed files that are searched without a mirror
MAX_SEARCHED_FILES = 50


class SourceRecord(Protocol):
    """A record of what a model was shown of files, and of what it was not."""

    def add_file(self, number: int, path: str) -> None:
        """Add a part of a file as it is after a pull request."""

    def add_unread_source(self, number: int, path: str, problem: str) -> None:
        """Add a file that could not be read; ``problem`` is a clause."""

    def add_uses(self, number: int, name: str, where: str) -> None:
        """Add a search for a name; ``where`` says in which files."""

    def add_gap(self, what: str) -> None:
        """Add something else that was not shown."""


class PullSource:
    """Reader of files at the commit of one pull request. Its texts are limited, and not fenced.

    It remembers the lines that were shown: only these can be quoted. ``known`` are files that were read before;
    without ``reads_to_search``, a search does not read the other changed files.
    """

    def __init__(
        self,
        pull: PullRequest,
        code: CodeSources,
        record: SourceRecord,
        known: Mapping[str, SourceFile] = MappingProxyType({}),
        *,
        reads_to_search: bool = True,
    ) -> None:
        self._pull = pull
        self._code = code
        self._record = record
        self._files = dict(known)
        self._reads_to_search = reads_to_search
        self._excerpts: list[SourceExcerpt] = []

    @property
    def excerpts(self) -> Sequence[SourceExcerpt]:
        """The lines that were shown."""
        return tuple(self._excerpts)

    # what is asked for

    def read_part(self, path: str, part: FilePart) -> str:
        """Return a part of a file, or why it can't be shown. Raises PrdigestError."""
        file = self._read_files([path])[path]
        if file.problem:
            return self._explain_problem(file)
        whole = mark_lines(file, self._find_change(path))
        numbers, head = select_lines(file, part)
        excerpts = fit_excerpts(split_excerpt(whole, numbers))
        self._excerpts.extend(excerpts)
        self._record.add_file(self._pull.number, path)
        shown = sum(len(each.lines) for each in excerpts)
        cut = [] if shown == len(numbers) else [f"[cut: {len(numbers) - shown} lines not shown; ask for fewer]"]
        about = f"{path} {describe_commit(self._pull)}, {format_count(len(file.lines), 'line')}; {head}"
        return "\n".join([f"{about} {explain_marks(self._pull, whole)}", *format_excerpts(excerpts), *cut])

    def find_uses(self, name: str) -> str:
        """Return the uses of a name: everywhere with a mirror, else in the changed files. Raises PrdigestError."""
        if not name:
            raise UsageError("Which name? Give it as it stands in the code.")
        everywhere = self._search_everywhere(name)
        if everywhere is not None:
            return self._show_uses(name, everywhere, "all files", [])
        files = self._read_changed_files()
        return self._explain_no_code() if files is None else self._search_files(name, files)

    def _search_files(self, name: str, files: Sequence[SourceFile]) -> str:
        """Find the uses of a name in these files, and say what was not searched."""
        readable = [file for file in files if not file.problem]
        uses = tuple(
            SourceUse(file.path, number, shorten_use(lines[number - 1], name))
            for file, lines in ((file, file.lines) for file in readable)
            for number in list_uses(lines, name)
        )
        notes = [self._explain_problem(file) for file in files if file.problem]
        unsearched = self._pull.changed_files - len(files) - _count_removed(self._pull)
        notes += [f"{format_count(unsearched, 'changed file')} not searched."] if unsearched > 0 else []
        notes.append("Other files were not searched: the name may be used there too.")
        where = f"the {format_count(len(readable), 'changed file')} that can be read"
        return self._show_uses(name, SourceUses(uses, is_complete=True), where, notes)

    def list_changes(self, path: str) -> str:
        """Return the last commits that changed a file or folder. Raises PrdigestError."""
        pull = self._pull
        if self._code.search is None:
            raise UsageError("There is no mirror of the repository, so the history of a path is not known.")
        try:
            changes = self._code.search.list_changes(pull.repository, pull.commit, path, MAX_CHANGES)
        except SourceUnavailable as error:
            log.info("the history of %s is not read at %s: %s", pull.repository, pull.commit, error)
            raise UsageError("The mirror lacks this commit, so the history of a path is not known.") from error
        return format_changes(pull, path, changes)

    # how it is read

    def _read_files(self, paths: Sequence[str]) -> Mapping[str, SourceFile]:
        """Return files as they are after the pull request; without a source, with a problem."""
        missing = [path for path in paths if path not in self._files]
        if missing:
            read = self._request_files(missing)
            self._files |= {path: read[path] for path in missing}
        return {path: self._files[path] for path in paths}

    def _request_files(self, paths: Sequence[str]) -> Mapping[str, SourceFile]:
        pull = self._pull
        if self._code.files is not None and pull.commit:
            try:
                return self._code.files.read_files(pull.repository, pull.commit, paths)
            except SourceUnavailable as error:
                log.info("files of %s#%d can't be read: %s", pull.repository, pull.number, error)
        return {path: SourceFile(path, problem=SourceProblem.UNAVAILABLE) for path in paths}

    def _search_everywhere(self, name: str) -> SourceUses | None:
        """Return the uses in all files, None if these can't be searched. Raises UsageError for no name."""
        pull = self._pull
        if self._code.search is None or not pull.commit:
            return None
        try:
            return self._code.search.find_uses(pull.repository, pull.commit, name, MAX_USES)
        except SourceUnavailable as error:
            log.info("%s is not searched at %s: %s", pull.repository, pull.commit, error)
            return None

    def _read_changed_files(self) -> list[SourceFile] | None:
        """Return the changed files, those with the most changes first; None if there are none to read."""
        paths = [file.path for file in self._pull.largest_files if file.status != "removed"][:MAX_SEARCHED_FILES]
        if not self._reads_to_search:
            paths = [path for path in paths if path in self._files]
        if self._code.files is None or not paths:
            return None
        return list(self._read_files(paths).values())

    # what is said

    def _show_uses(self, name: str, source_uses: SourceUses, where: str, notes: Sequence[str]) -> str:
        uses = fit_uses(source_uses.uses)
        self._note_uses(uses)
        self._record.add_uses(self._pull.number, name, where)
        at_least = "" if source_uses.is_complete else "at least "
        count = format_count(len(source_uses.uses), "line has", "lines have")
        head = f"{at_least}{count} {quote_input(name)} in {where} {describe_commit(self._pull)}:"
        shown_notes = self._limit_notes(notes)
        hidden = len(source_uses.uses) - len(uses)
        cut = f"[cut: {format_count(hidden, 'line')} not shown]" if hidden else ""
        return "\n".join(part for part in (head, shown_notes, *map(format_use, uses), cut) if part)

    def _limit_notes(self, notes: Sequence[str]) -> str:
        bounded = limit_lines(notes, MAX_RESULT_LENGTH, "line", "read the diff")
        if bounded.hidden_count:
            self._record.add_gap(f"{bounded.hidden_count} files (too long)")
        return bounded.text

    def _note_uses(self, uses: Iterable[SourceUse]) -> None:
        """Remember the lines that are shown. Whether a line of a changed file is changed is not known here."""
        for use in uses:
            line = DiffLine(" ", use.text, use.line, use.line)
            self._excerpts.append(SourceExcerpt(use.path, (line,), self._find_change(use.path) is None))

    def _explain_problem(self, file: SourceFile) -> str:
        self._record.add_unread_source(self._pull.number, file.path, str(file.problem))
        return f"{file.path} {describe_commit(self._pull)} can't be shown: {file.problem}."

    def _explain_no_code(self) -> str:
        number = self._pull.number
        return f"No file of #{number} can be read here, so names can't be searched for: say so, or read its diff."

    def _find_change(self, path: str) -> ChangedFile | None:
        return find_change(self._pull, path)


def find_change(pull: PullRequest, path: str) -> ChangedFile | None:
    """Return the change of a file; where the files are not loaded or not all listed, one that says nothing."""
    listed = pull.files or ()
    change = next((file for file in listed if file.path == path), None)
    if change is None and (pull.files is None or len(listed) < pull.changed_files):
        return ChangedFile(path, "unknown", 0, 0)
    return change


def _count_removed(pull: PullRequest) -> int:
    return sum(file.status == "removed" for file in pull.files or ())
