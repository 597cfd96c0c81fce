"""The files of a repository as they are after one pull request, for a model that may quote what it is shown."""

from __future__ import annotations

import logging
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from types import MappingProxyType
from typing import TYPE_CHECKING

from bot.errors import MirrorUnavailable, SourceUnavailable, UsageError
from bot.platform import deadlines
from bot.platform.models.prompts import MAX_RESULT_LENGTH, join_items, limit_lines
from bot.platform.pulls.diff import DiffLine
from bot.platform.pulls.models import ChangedFile, PullRequest
from bot.platform.source.excerpts import (
    MAX_EXCERPT_LINES,
    SourceExcerpt,
    find_name,
    list_uses,
    mark_lines,
    split_excerpt,
)
from bot.platform.source.models import SourceFiles, SourceUse, SourceUses
from bot.text import format_count
from impact.coverage import COMPLETE, Coverage, CoveredList, CoveredPart, UnreadFile, holds_text
from impact.repository import Repository
from impact.source.models import SourceFile, SourceProblem
from impact.text.strings import collapse_lines, quote_input, truncate_text

if TYPE_CHECKING:
    from bot.platform.git.mirror import GitMirror
    from bot.platform.git.reading import MirrorReader
    from bot.platform.packages.index import PackageIndex


# --- what an answer rests on

_MAX_ITEMS = 8
_MAX_PATH_LENGTH = 80


class Provenance:
    """Record of what the model was shown for one answer; each is named once, in the order of reading."""

    def __init__(self) -> None:
        # by their kinds
        self._seen: defaultdict[str, dict[str, None]] = defaultdict(dict)

    def add_days(self, title: str) -> None:
        self._seen["days"][title] = None

    def add_summary(self, number: int) -> None:
        self._seen["summaries"][f"#{number}"] = None

    def add_discussion(self, number: int) -> None:
        """Add what people wrote about a pull request."""
        self._seen["discussions"][f"#{number}"] = None

    def add_file(self, number: int, path: str) -> None:
        self._seen["files"][f"{shorten_path(path)} after #{number}"] = None

    def add_search(self, title: str) -> None:
        self._seen["searches"][title] = None

    def add_gap(self, what: str) -> None:
        """Add something that the answer could not take into account."""
        self._seen["gaps"][what] = None

    def add_diff(self, pull: PullRequest, files: tuple[ChangedFile, ...], left_out: tuple[str, ...]) -> None:
        if any(file.patch for file in files):
            self._seen["diffs"][f"#{pull.number}"] = None
        elif files and all(file.patch == "" for file in files):
            self.add_gap(f"the diff of #{pull.number} (not available)")
        self.add_unloaded([pull])
        self.add_unread_files(pull, files)
        for file in files:
            if file.patch is not None and file.path in left_out:
                self.add_gap(f"parts of {shorten_path(file.path)} of #{pull.number} (truncated)")

    def add_unloaded(self, pulls: Iterable[PullRequest]) -> None:
        for pull in pulls:
            if pull.files is None:
                self.add_gap(f"#{pull.number} (its files could not be loaded)")

    def add_unread_files(self, pull: PullRequest, files: tuple[ChangedFile, ...] | None = None) -> None:
        for file in (pull.files or ()) if files is None else files:
            what = f"{shorten_path(file.path)} of #{pull.number}"
            if file.is_unreadable:
                self.add_gap(f"{what} (its diff can't be read)")
            elif file.unread:
                self.add_gap(f"{format_count(file.unread, 'changed line')} of {what} (truncated)")
            elif file.patch is None and file.changed_lines:
                self.add_gap(f"{what} (too large, GitHub sends no diff)")
            elif file.patch is None and file.status != "renamed":
                self.add_gap(f"{what} (binary or empty)")

    @property
    def sources(self) -> str:
        seen = self._seen
        diffs, searches = [*seen["diffs"]], [*seen["searches"]]
        summaries = [number for number in seen["summaries"] if number not in diffs]
        parts = (
            # who searched the days has their list
            _format_list("", [f"the list of {title}" for title in seen["days"] if title not in searches]),
            _format_list("diffs of " if len(diffs) > 1 else "the diff of ", diffs),
            _format_list("summaries of " if len(summaries) > 1 else "the summary of ", summaries),
            _format_list("the discussion of ", [*seen["discussions"]]),
            _format_list("parts of ", [*seen["files"]]),
            _format_list("searched ", searches),
        )
        return "; ".join(filter(None, parts))

    @property
    def gaps(self) -> str:
        """What was not seen, as a clause; empty if nothing is missing."""
        return _format_list("", [*self._seen["gaps"]])


def _format_list(lead: str, items: list[str]) -> str:
    more = [f"{len(items) - _MAX_ITEMS} more"] if len(items) > _MAX_ITEMS else []
    return lead + ", ".join([*items[:_MAX_ITEMS], *more]) if items else ""


def shorten_path(path: str) -> str:
    return truncate_text(collapse_lines(path), _MAX_PATH_LENGTH)


# --- reading

log = logging.getLogger(__name__)

# changed files that are searched without a mirror
MAX_SEARCHED_FILES = 50
# characters of a file, which may have long lines: some 5,000 tokens
MAX_FILE_LENGTH = 20_000
# lines with a name that are shown, and characters of each
MAX_USES = 100
_MAX_USE_LENGTH, _LEAD = 300, 100
_MAX_NUMBERS_LENGTH = 200
NO_NAME = "Which name? Give it as it stands in the code."
NO_MIRROR = "there is no mirror of the repository"
_SEPARATORS = re.compile(r"[-_.]+")
# files that say which packages and versions are required, or were chosen
_REQUIREMENTS = re.compile(
    r"(?:^|/)(?:[^/]*(?:requirements|constraints)[^/]*\.(?:txt|in)|requirements/[^/]+\.(?:txt|in)|pyproject\.toml"
    r"|setup\.(?:py|cfg)|environment\.ya?ml|Pipfile|[^/]*(?:Docker|Container)file[^/]*|[^/]+\.lock|pylock\.toml)$",
    re.I,
)
# commits of a path that are shown, and characters of the first line of each message
MAX_CHANGES = 20
_MAX_TITLE_LENGTH = 120
# characters of one line of a file
_MAX_LINE_LENGTH = 2_000


@dataclass(frozen=True, slots=True)
class CodeSources:
    """Where code is read: whole files at a commit, a search over all, and packages. Each may be missing."""

    files: SourceFiles | None = None
    search: MirrorReader | None = None
    packages: PackageIndex | None = None


def update_mirror(mirror: GitMirror | None, repository: Repository) -> None:
    """Update the mirror of a repository, if there is one, in half of the time left. A failure is only logged."""
    if mirror is None:
        return
    try:
        with deadlines.bound_work(deadlines.get_seconds_left() / 2):
            mirror.update(repository)
    except MirrorUnavailable as error:
        level = logging.INFO if error.is_known else logging.WARNING
        log.log(level, "files of %s are read from GitHub where the mirror lacks them: %s", repository, error)


class PullSource:
    """Reader of files at the commit of one pull request. Its texts are limited, and not fenced.

    ``excerpts`` are the lines that were shown: only these can be quoted. ``known`` are files that were read
    before; without ``reads_to_search``, a search does not read the other changed files.
    """

    def __init__(
        self,
        pull: PullRequest,
        code: CodeSources,
        provenance: Provenance,
        known: Mapping[str, SourceFile] = MappingProxyType({}),
        *,
        reads_to_search: bool = True,
    ) -> None:
        self.excerpts: list[SourceExcerpt] = []
        self._pull = pull
        self._code = code
        self.provenance = provenance
        self.packages = code.packages
        self._files = dict(known)
        self._reads_to_search = reads_to_search
        # at which commit the files are
        self.where = f"at the {'merge' if pull.merge_commit else 'head'} commit of #{pull.number}"

    def read_part(self, path: str, first: int = 1, last: int = 0, around: str = "") -> str:
        """Return the lines that :func:`select_lines` chooses, or why there are none. Raises PrdigestError."""
        file = self._read_files([path])[path]
        if file.problem:
            return self._explain_problem(file)
        whole = mark_lines(file, find_change(self._pull, path))
        numbers, head = select_lines(file, first, last, around)
        excerpts = [*fit_excerpts(split_excerpt(whole, numbers))]
        self.excerpts += excerpts
        self.provenance.add_file(self._pull.number, path)
        about = (
            f"{path} {self.where}, {format_count(len(file.lines), 'line')}; {head} {self._explain_marks(whole)}"
        )
        texts = ("\n".join(f"{line.new}: {line.mark}{line.text}" for line in each.lines) for each in excerpts)
        hidden = len(numbers) - sum(len(each.lines) for each in excerpts)
        cut = f"[cut: {hidden} lines not shown; ask for fewer]" if hidden else ""
        return "\n".join(filter(None, (about, "\n…\n".join(texts), cut)))

    def find_uses(self, name: str, *, is_part: bool = False) -> str:
        """Return the uses of a name, as a whole word or anywhere in one. Raises PrdigestError.

        With a mirror, the whole tree is searched, else the changed files.
        """
        if not name:
            raise UsageError(NO_NAME)
        pull, reason = self._pull, NO_MIRROR
        if self._code.search is not None and pull.commit:
            try:
                everywhere = self._code.search.find_uses(
                    pull.repository, pull.commit, name, MAX_USES, is_part=is_part
                )
            except SourceUnavailable as error:
                log.info("%s is not searched at %s: %s", pull.repository, pull.commit, error)
                reason = str(error).rstrip(".")
            else:
                kind = "for it" if is_part else "for the whole word"
                nothing = f"is not in the tree {self.where}: all text files were searched {kind}."
                return self._show_uses(name, everywhere, "all files", [], COMPLETE, nothing)
        # those with the most changes first
        paths = [file.path for file in pull.largest_files if file.status != "removed"][:MAX_SEARCHED_FILES]
        if not self._reads_to_search:
            paths = [path for path in paths if path in self._files]
        if self._code.files is None or not paths:
            return (
                f"The tree {self.where} could not be read ({reason}), so names can't be searched for: say so, or "
                "read the diff."
            )
        unread = f"The rest of the tree could not be read ({reason}): {quote_input(name)} may be used there too."
        return self._search_files(name, [*self._read_files(paths).values()], unread, is_part=is_part)

    def find_requirements(self, package: str) -> str:
        """Return the lines of lists of requirements that have a package's name or a part. Raises PrdigestError."""
        word = _SEPARATORS.sub("-", package.lower())
        if not word.strip("-"):
            raise UsageError("Name a package.")
        read, notes = self.read_requirements()
        uses = tuple(
            SourceUse(file.path, number, shorten_use(file.lines[number - 1], package))
            for file in read
            for number in _list_requirements(file.lines, word)
        )
        where = f"the {format_count(len(read), 'list')} of requirements"
        return self._show_uses(package, SourceUses(uses, is_complete=not notes), where, notes, COMPLETE)

    def read_requirements(self) -> tuple[list[SourceFile], list[str]]:
        """Return the lists of requirements of the tree, and what of them could not be read. Raises UsageError."""
        pull, search = self._pull, self._code.search
        if search is None:
            raise UsageError(f"The tree could not be read ({NO_MIRROR}).")
        try:
            listed = search.list_paths(pull.repository, pull.commit)
        except SourceUnavailable as error:
            raise UsageError(f"The tree {self.where} could not be read: {error}") from error
        # what people wrote first, and the nearest to the top
        paths = sorted(
            filter(_REQUIREMENTS.search, listed), key=lambda path: (".lock" in path, path.count("/"), path)
        )
        files, left_out = [*self._read_files(paths[:MAX_SEARCHED_FILES]).values()], paths[MAX_SEARCHED_FILES:]
        notes = [self._explain_problem(file) for file in files if file.problem]
        notes += [f"{format_count(len(left_out), 'list')} of requirements could not be read."] if left_out else []
        return [file for file in files if not file.problem], notes

    def list_changes(self, path: str) -> str:
        """Return the last commits that changed a file or folder, newest first. Raises PrdigestError."""
        pull = self._pull
        if self._code.search is None:
            raise UsageError("There is no mirror of the repository, so the history of a path is not known.")
        try:
            changes = self._code.search.list_changes(pull.repository, pull.commit, path, MAX_CHANGES)
        except SourceUnavailable as error:
            log.info("the history of %s is not read at %s: %s", pull.repository, pull.commit, error)
            raise UsageError("The mirror lacks this commit, so the history of a path is not known.") from error
        is_cut = len(changes) < MAX_CHANGES and not self._code.search.has_whole_history(pull.repository)
        older = "What changed it before the mirror's history begins could not be read." if is_cut else ""
        if not changes:
            which = "commit in the mirror" if is_cut else "commit"
            nothing = f"No {which} up to that of #{pull.number} changed {quote_input(path)}."
            return " ".join(filter(None, [older, nothing]))
        lines = (
            f"{each.committed_at:%Y-%m-%d} {each.commit[:9]} "
            f"{truncate_text(collapse_lines(each.title), _MAX_TITLE_LENGTH)}"
            for each in changes
        )
        more = ", and older ones" if len(changes) == MAX_CHANGES else ""
        count = format_count(len(changes), "commit")
        return "\n".join([*filter(None, [older]), f"{count} of {quote_input(path)}, newest first{more}:", *lines])

    def _read_files(self, paths: Sequence[str]) -> Mapping[str, SourceFile]:
        pull, missing = self._pull, [path for path in paths if path not in self._files]
        if missing and self._code.files is not None and pull.commit:
            try:
                self._files |= self._code.files.read_files(pull.repository, pull.commit, missing)
            except SourceUnavailable as error:
                log.info("files of %s#%d can't be read: %s", pull.repository, pull.number, error)
        for path in missing:
            self._files.setdefault(path, SourceFile(path, problem=SourceProblem.UNAVAILABLE))
        return {path: self._files[path] for path in paths}

    def _search_files(self, name: str, files: Sequence[SourceFile], unread_tree: str, *, is_part: bool) -> str:
        pull, readable = self._pull, [file for file in files if not file.problem]
        uses = tuple(
            SourceUse(file.path, number, shorten_use(lines[number - 1], name))
            for file in readable
            for lines in (file.lines,)
            for number in list_uses(lines, name, is_part=is_part)
        )
        notes = [unread_tree, *(self._explain_problem(file) for file in files if file.problem)]
        removed = sum(file.status == "removed" for file in pull.files or ())
        unsearched = pull.changed_files - len(files) - removed
        notes += [f"{format_count(unsearched, 'changed file')} not searched."] if unsearched > 0 else []
        where = f"the {format_count(len(readable), 'changed file')} that can be read"
        hidden = [UnreadFile(file.path, str(file.problem)) for file in files if file.problem]
        unread = sum(map(holds_text, hidden)) + max(0, unsearched)
        coverage = Coverage.of(CoveredPart("changed files", unread, len(files) + max(0, unsearched)))
        return self._show_uses(name, SourceUses(uses, is_complete=True), where, notes, coverage)

    def _show_uses(
        self,
        name: str,
        source_uses: SourceUses,
        where: str,
        notes: Sequence[str],
        coverage: Coverage,
        nothing: str = "",
    ) -> str:
        """Return the uses after the notes; ``nothing`` is said of a name without any where all was searched."""
        lines = [f"{use.path}:{use.line}: {use.text}" for use in source_uses.uses[:MAX_USES]]
        # what is not shown can't be quoted
        shown = sum(length <= MAX_RESULT_LENGTH for length in accumulate(len(line) + 1 for line in lines))
        for use in source_uses.uses[:shown]:
            # whether a line of a changed file is changed is not known here
            line = DiffLine(" ", use.text, use.line, use.line)
            self.excerpts.append(SourceExcerpt(use.path, (line,), find_change(self._pull, use.path) is None))
        self.provenance.add_search(f"{where} after #{self._pull.number} for {shorten_path(name)}")
        at_least = "" if source_uses.is_complete else "at least "
        count = format_count(len(source_uses.uses), "line has", "lines have")
        about = f"{at_least}{count} {quote_input(name)} in {where} {self.where}:"
        if nothing and source_uses.is_complete and not source_uses.uses:
            about = f"{quote_input(name)} {nothing}"
        head = "\n".join(CoveredList(source_uses.uses, coverage).render(str, lambda _: (about,), about))
        bounded = limit_lines(notes, MAX_RESULT_LENGTH, "line", "read the diff")
        if bounded.hidden_count:
            self.provenance.add_gap(f"{bounded.hidden_count} files (too long)")
        hidden = len(source_uses.uses) - shown
        cut = f"[cut: {format_count(hidden, 'line')} not shown]" if hidden else ""
        return "\n".join(filter(None, (bounded.text, head, *lines[:shown], cut)))

    def _explain_problem(self, file: SourceFile) -> str:
        number = self._pull.number
        self.provenance.add_gap(f"{shorten_path(file.path)} after #{number} ({file.problem})")
        if file.problem is SourceProblem.MISSING:
            return f"{file.path} is not in the tree {self.where}."
        why = "" if file.problem is SourceProblem.UNAVAILABLE else f": {file.problem}"
        return f"{file.path} {self.where} could not be read{why}."

    def _explain_marks(self, whole: SourceExcerpt) -> str:
        number = self._pull.number
        if not whole.has_marks:
            return f"Which of them #{number} changed is not known."
        if any(line.mark == "+" for line in whole.lines):
            return f"Those with + were added by #{number}, the others are unchanged."
        return f"#{number} added none of the file's lines."


def _list_requirements(lines: Sequence[str], word: str) -> Iterator[int]:
    """Yield the numbers of the lines with a word, and of the versions that lock files have below a name."""
    names = False
    for number, line in enumerate(lines, 1):
        text = line[:_MAX_LINE_LENGTH].strip()
        has_word = not text.startswith("#") and word in _SEPARATORS.sub("-", text.lower())
        if has_word or (names and text.startswith("version")):
            yield number
        names = has_word and text.startswith("name")


def find_change(pull: PullRequest, path: str) -> ChangedFile | None:
    """Return the change of a file; where the files are not loaded or not all listed, one that says nothing."""
    listed = pull.files or ()
    change = next((file for file in listed if file.path == path), None)
    if change is None and (pull.files is None or len(listed) < pull.changed_files):
        return ChangedFile(path, "unknown", 0, 0)
    return change


def select_lines(file: SourceFile, first: int, last: int, around: str) -> tuple[Sequence[int], str]:
    """Return the lines ``around`` a name, or from ``first`` to ``last`` (0: the limit), and what that is."""
    count, name = len(file.lines), around.strip()
    if name:
        is_part = not list_uses(file.lines, name)
        shown, uses = find_name(file, name, is_part=is_part)
        hidden = [str(number) for number in sorted({*uses} - {*shown})]
        others = f", not shown: {join_items(hidden, _MAX_NUMBERS_LENGTH)}" if hidden else ""
        count_text = format_count(len(uses), "line has", "lines have")
        inside = " inside of words" if is_part and uses else ""
        return shown, f"{count_text} {quote_input(name)}{inside}{others}."
    if first > count:
        return (), f"there is no line {first}."
    last = min(last or count, first + MAX_EXCERPT_LINES - 1, count)
    return range(first, last + 1), f"lines {first} to {last}."


def fit_excerpts(excerpts: Iterable[SourceExcerpt]) -> Iterator[SourceExcerpt]:
    """Yield the excerpts up to the limit of characters, the last one perhaps cut."""
    room = MAX_FILE_LENGTH
    for excerpt in excerpts:
        lines: list[DiffLine] = []
        for line in excerpt.lines:
            shown = replace(line, text=truncate_text(line.text, _MAX_LINE_LENGTH))
            room -= len(shown.text) + 10
            if room < 0:
                break
            lines.append(shown)
        if lines:
            yield SourceExcerpt(excerpt.path, tuple(lines), excerpt.has_marks)
        if room < 0:
            return


def shorten_use(text: str, name: str) -> str:
    if len(text) <= _MAX_USE_LENGTH:
        return text
    begin = max(text.find(name) - _LEAD, 0)
    return f"{'…' if begin else ''}{truncate_text(text[begin:], _MAX_USE_LENGTH)}"
