"""The tools that read files as they are after a pull request, and search them for a name."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate

from bot.domain.errors import SourceUnavailable, UsageError
from bot.domain.pull_requests.diff import DiffLine
from bot.domain.pull_requests.models import ChangedFile, PullRequest
from bot.domain.pull_requests.reference import Reference
from bot.domain.source.excerpts import (
    MAX_EXCERPT_LINES,
    NamePlaces,
    SourceExcerpt,
    find_name,
    list_uses,
    mark_lines,
    split_excerpt,
)
from bot.domain.source.models import SourceFile, SourceProblem
from bot.domain.source.search import SourceUse, SourceUses
from bot.domain.text.strings import format_count, quote_input, truncate_text
from bot.services.questions.archive import CodeSources
from bot.services.questions.tools.context_text import join_items
from bot.services.questions.tools.reading_session import MAX_RESULT_LENGTH, ReadingSession
from bot.services.questions.tools.schemas import FileArguments, UsesArguments

log = logging.getLogger(__name__)

# of a file, which may have long lines: some 5,000 tokens
MAX_FILE_LENGTH = 20_000
# lines with a name that are shown, and characters of each; changed files that are searched without a mirror
MAX_USES = 100
_MAX_USE_LENGTH, _LEAD = 300, 100
_MAX_NUMBERS_LENGTH = 200
# characters of one line of a file
_MAX_LINE_LENGTH = 2_000
MAX_SEARCHED_FILES = 50
_ELLIPSIS = "…"


class SourceTools:
    """The tools over the files of the repositories that a session may read.

    They remember the lines that were shown: only these can be quoted. Each tool returns a text, and raises
    PrdigestError.
    """

    def __init__(self, session: ReadingSession, code: CodeSources) -> None:
        self._session = session
        self._code = code
        self._files: dict[tuple[Reference, str], SourceFile] = {}
        self._excerpts: dict[Reference, list[SourceExcerpt]] = {}

    def get_excerpts(self, reference: Reference) -> Sequence[SourceExcerpt]:
        """Return the lines that were shown of files as they are after a pull request."""
        return tuple(self._excerpts.get(reference, ()))

    # the tools

    def read_file(self, arguments: FileArguments) -> str:
        """Read a part of a file."""
        pull = self._session.get_entry(self._session.parse_repository(arguments.repository), arguments.number).pull
        path = arguments.path.strip()
        file = self._read_files(pull, [path])[path]
        if file.problem:
            return self._explain_problem(pull, file)
        whole = mark_lines(file, _find_change(pull, path))
        numbers, head = _select_lines(file, arguments)
        excerpts = _fit_excerpts(split_excerpt(whole, numbers))
        self._excerpts.setdefault(_get_reference(pull), []).extend(excerpts)
        self._session.provenance.add_file(pull.number, path)
        shown = sum(len(each.lines) for each in excerpts)
        cut = [] if shown == len(numbers) else [f"[cut: {len(numbers) - shown} lines not shown; ask for fewer]"]
        about = f"{path} {_describe_commit(pull)}, {format_count(len(file.lines), 'line')}; {head}"
        return "\n".join([f"{about} {_explain_marks(pull, whole)}", *_format_excerpts(excerpts), *cut])

    def find_uses(self, arguments: UsesArguments) -> str:
        """Find the uses of a name: everywhere with a mirror, else in the changed files."""
        pull = self._session.get_entry(self._session.parse_repository(arguments.repository), arguments.number).pull
        name = arguments.name.strip()
        if not name:
            raise UsageError("Which name? Give it as it stands in the code.")
        everywhere = self._search_everywhere(pull, name)
        if everywhere is not None:
            return self._show_uses(pull, name, everywhere, "all files", [])
        files = self._read_changed_files(pull)
        return _explain_no_code(pull) if files is None else self._search_files(pull, name, files)

    def _search_files(self, pull: PullRequest, name: str, files: Sequence[SourceFile]) -> str:
        """Find the uses of a name in these files, and say what was not searched."""
        readable = [file for file in files if not file.problem]
        uses = tuple(
            SourceUse(file.path, number, _shorten(lines[number - 1], name))
            for file, lines in ((file, file.lines) for file in readable)
            for number in list_uses(lines, name)
        )
        notes = [self._explain_problem(pull, file) for file in files if file.problem]
        unsearched = pull.changed_files - len(files) - _count_removed(pull)
        notes += [f"{format_count(unsearched, 'changed file')} not searched."] if unsearched > 0 else []
        notes.append("Other files were not searched: the name may be used there too.")
        where = f"the {format_count(len(readable), 'changed file')} that can be read"
        return self._show_uses(pull, name, SourceUses(uses, is_complete=True), where, notes)

    # how they read

    def _read_files(self, pull: PullRequest, paths: Sequence[str]) -> Mapping[str, SourceFile]:
        """Return files as they are after a pull request; without a source, with a problem."""
        reference = _get_reference(pull)
        missing = [path for path in paths if (reference, path) not in self._files]
        if missing:
            read = self._request_files(pull, missing)
            self._files |= {(reference, path): read[path] for path in missing}
        return {path: self._files[reference, path] for path in paths}

    def _request_files(self, pull: PullRequest, paths: Sequence[str]) -> Mapping[str, SourceFile]:
        if self._code.files is not None and pull.commit:
            try:
                return self._code.files.read_files(pull.repository, pull.commit, paths)
            except SourceUnavailable as error:
                log.info("files of %s#%d can't be read: %s", pull.repository, pull.number, error)
        return {path: SourceFile(path, problem=SourceProblem.UNAVAILABLE) for path in paths}

    def _search_everywhere(self, pull: PullRequest, name: str) -> SourceUses | None:
        """Return the uses in all files, None if these can't be searched. Raises UsageError for no name."""
        if self._code.search is None or not pull.commit:
            return None
        try:
            return self._code.search.find_uses(pull.repository, pull.commit, name, MAX_USES)
        except SourceUnavailable as error:
            log.info("%s is not searched at %s: %s", pull.repository, pull.commit, error)
            return None

    def _read_changed_files(self, pull: PullRequest) -> list[SourceFile] | None:
        """Return the changed files, those with the most changes first; None if there are none to read."""
        paths = [file.path for file in pull.largest_files if file.status != "removed"][:MAX_SEARCHED_FILES]
        if self._code.files is None or not paths:
            return None
        return list(self._read_files(pull, paths).values())

    # what they say

    def _show_uses(self, pull: PullRequest, name: str, found: SourceUses, where: str, notes: Sequence[str]) -> str:
        uses = _fit_uses(found.uses)
        self._note_uses(pull, uses)
        self._session.provenance.add_uses(pull.number, name, where)
        at_least = "" if found.is_complete else "at least "
        count = format_count(len(found.uses), "line has", "lines have")
        head = f"{at_least}{count} {quote_input(name)} in {where} {_describe_commit(pull)}:"
        shown_notes = self._session.limit_lines(notes, "read the diff", "files") if notes else ""
        hidden = len(found.uses) - len(uses)
        cut = f"[cut: {format_count(hidden, 'line')} not shown]" if hidden else ""
        return "\n".join(part for part in (head, shown_notes, *map(_format_use, uses), cut) if part)

    def _note_uses(self, pull: PullRequest, uses: Iterable[SourceUse]) -> None:
        """Remember the lines that are shown. Whether a line of a changed file is changed is not known here."""
        for use in uses:
            line = DiffLine(" ", use.text, use.line, use.line)
            excerpt = SourceExcerpt(use.path, (line,), _find_change(pull, use.path) is None)
            self._excerpts.setdefault(_get_reference(pull), []).append(excerpt)

    def _explain_problem(self, pull: PullRequest, file: SourceFile) -> str:
        self._session.provenance.add_unread_source(pull.number, file.path, str(file.problem))
        return f"{file.path} {_describe_commit(pull)} can't be shown: {file.problem}."


def _select_lines(file: SourceFile, arguments: FileArguments) -> tuple[Sequence[int], str]:
    """Return the numbers of the lines to show, and what is shown, as a sentence."""
    count, name = len(file.lines), arguments.around.strip()
    if name:
        places = find_name(file, name)
        count_text = format_count(len(places.uses), "line has", "lines have")
        return places.shown, f"{count_text} {quote_input(name)}{_name_hidden(places)}."
    last = min(arguments.last or count, arguments.first + MAX_EXCERPT_LINES - 1, count)
    if arguments.first > count:
        return (), f"there is no line {arguments.first}."
    return range(arguments.first, last + 1), f"lines {arguments.first} to {last}."


def _name_hidden(places: NamePlaces) -> str:
    """Return the numbers of the lines with the name that are not shown."""
    shown = set(places.shown)
    hidden = [str(number) for number in places.uses if number not in shown]
    return f", not shown: {join_items(hidden, _MAX_NUMBERS_LENGTH)}" if hidden else ""


def _fit_excerpts(excerpts: Iterable[SourceExcerpt]) -> list[SourceExcerpt]:
    """Return the excerpts up to the limit of characters, the last one perhaps cut."""
    fitting, room = [], MAX_FILE_LENGTH
    for excerpt in excerpts:
        lines: list[DiffLine] = []
        for line in excerpt.lines:
            shown = replace(line, text=truncate_text(line.text, _MAX_LINE_LENGTH))
            room -= len(shown.text) + 10
            if room < 0:
                break
            lines.append(shown)
        if lines:
            fitting.append(SourceExcerpt(excerpt.path, tuple(lines), excerpt.has_marks))
        if room < 0:
            break
    return fitting


def _format_excerpts(excerpts: Iterable[SourceExcerpt]) -> list[str]:
    lines: list[str] = []
    for excerpt in excerpts:
        lines += [_ELLIPSIS] if lines else []
        lines += [f"{line.new}: {line.mark}{line.text}" for line in excerpt.lines]
    return lines


def _explain_marks(pull: PullRequest, whole: SourceExcerpt) -> str:
    if not whole.has_marks:
        return f"Which of them #{pull.number} changed is not known."
    if any(line.mark == "+" for line in whole.lines):
        return f"Those with + were added by #{pull.number}, the others are unchanged."
    return f"#{pull.number} added none of the file's lines."


def _find_change(pull: PullRequest, path: str) -> ChangedFile | None:
    """Return the change of a file; where the files are not loaded or not all listed, one that says nothing."""
    listed = pull.files or ()
    change = next((file for file in listed if file.path == path), None)
    if change is None and (pull.files is None or len(listed) < pull.changed_files):
        return ChangedFile(path, "unknown", 0, 0)
    return change


def _count_removed(pull: PullRequest) -> int:
    return sum(file.status == "removed" for file in pull.files or ())


def _get_reference(pull: PullRequest) -> Reference:
    return Reference(pull.repository, pull.number)


def _describe_commit(pull: PullRequest) -> str:
    return f"at the {'merge' if pull.merge_commit else 'head'} commit of #{pull.number}"


def _explain_no_code(pull: PullRequest) -> str:
    return f"No file of #{pull.number} can be read here, so names can't be searched for: say so, or read its diff."


def _fit_uses(uses: Sequence[SourceUse]) -> Sequence[SourceUse]:
    """Return the uses that are shown, from the first one: what is not shown can't be quoted."""
    lengths = accumulate(len(_format_use(use)) + 1 for use in uses[:MAX_USES])
    return uses[: sum(length <= MAX_RESULT_LENGTH for length in lengths)]


def _format_use(use: SourceUse) -> str:
    return f"{use.path}:{use.line}: {use.text}"


def _shorten(text: str, name: str) -> str:
    """Return a line, or of a long one what is around a name."""
    if len(text) <= _MAX_USE_LENGTH:
        return text
    begin = max(text.find(name) - _LEAD, 0)
    return f"{_ELLIPSIS if begin else ''}{truncate_text(text[begin:], _MAX_USE_LENGTH)}"
