"""What a mirror has at a commit: whole files, uses of a name, changes of a path. No network, and no change."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from bot.errors import SourceUnavailable, UsageError
from bot.platform.cleaning import MAX_PATH, clean_code, clean_hash, clean_path, clean_text, clean_title
from bot.platform.git.folder import (
    GitFailure,
    GitProcess,
    GitTimeout,
    MirrorFolder,
    build_isolated_environment,
    open_process,
)
from bot.platform.source.models import SourceChange, SourceUse, SourceUses
from impact.git import clone_trees
from impact.git.clone_trees import parse_instant
from impact.git.commands import build_command
from impact.repository import Repository
from impact.source.models import MAX_SOURCE_BYTES, DiffSide, SourceFile, SourceProblem, SourceVersions
from impact.source.reading import build_source_file, find_type_problem
from impact.text.strings import quote_input

log = logging.getLogger(__name__)

# a part of a hash may be that of another commit by now
_WHOLE_HASH = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
# what git says of a commit that it does not have
UNKNOWN_COMMIT = (
    *("Not a valid object name", "unable to resolve revision", "bad revision", "unknown revision"),
    *("malformed object name", "no such commit"),
)


@dataclass(frozen=True)
class MirrorReader:
    """``SourceFiles``, their versions and the search, from the mirrors in a folder. A command has ``seconds``."""

    root: Path
    program: str = "git"
    seconds: float = 10.0
    has_files: bool = True

    @contextmanager
    def open_command(
        self, repository: Repository, *arguments: str | bytes, lines: bytes = b""
    ) -> Iterator[GitProcess]:
        """Start a command in the mirror. Raises SourceUnavailable, also for GitFailures of the block."""
        folder = MirrorFolder(self.root, repository, has_files=self.has_files)
        problem = folder.find_problem()
        if problem:
            raise SourceUnavailable(f"The mirror of {repository} can't be used: {problem}.")
        command = [*build_command(self.program, folder.path, "--git-dir=."), *arguments]
        environment = build_isolated_environment(folder.path)
        try:
            with open_process(command, environment, self.seconds, lines) as process:
                yield process
        except GitFailure as error:
            if error.hints_at_damage:
                folder.record_damage()
                log.warning("the mirror of %s is damaged, the next update makes it again: %s", repository, error)
            elif any(words in error.stderr for words in UNKNOWN_COMMIT):
                raise SourceUnavailable(f"The mirror of {repository} does not have that commit.") from error
            raise SourceUnavailable(f"The mirror of {repository} can't be read: {error}.") from error

    def read_files(
        self, repository: Repository, commit: str, paths: Sequence[str], side: DiffSide = DiffSide.NEW
    ) -> Mapping[str, SourceFile]:
        """Return files at a commit, or at its first parent; none is opened before its size is known."""
        revision = build_revision(commit, side)
        names = {path: encode_path(path) for path in dict.fromkeys(paths)}
        known = [name for name in names.values() if name]
        parts = _divide_names(known)
        try:
            entries = dict(entry for part in parts for entry in self._list_entries(repository, revision, part))
        except SourceUnavailable:
            if side is DiffSide.NEW or not self._is_first(repository, commit):
                raise
            entries = {}
        files, readable = dict[str, SourceFile](), dict[str, _TreeEntry]()
        for path, name in names.items():
            entry = entries.get(name) if name else None
            files[path] = SourceFile(path, problem=entry.problem if entry else SourceProblem.MISSING)
            if entry and not entry.problem:
                readable[path] = entry
        return files | dict(self._read_contents(repository, readable))

    def read_versions(
        self, repository: Repository, commit: str, old: Sequence[str], new: Sequence[str]
    ) -> SourceVersions:
        """Return files before and after a commit. See :class:`bot.platform.source.models.SourceVersionReader`."""
        before = self.read_files(repository, commit, old, DiffSide.OLD) if old else {}
        return SourceVersions(before, self.read_files(repository, commit, new) if new else {})

    def _is_first(self, repository: Repository, commit: str) -> bool:
        # as it was written: where the history of a mirror ends, git itself says that there is no parent
        with self.open_command(repository, "cat-file", "commit", build_revision(commit)) as process:
            written, _ = read_output(process)
        return b"\nparent " not in written.partition(b"\n\n")[0]

    def has_commit(self, repository: Repository, commit: str) -> bool:
        try:
            with self.open_command(repository, "cat-file", "-e", build_revision(commit)) as process:
                process.require_success()
        except SourceUnavailable as error:
            log.info("%s of %s is not read from a mirror: %s", commit, repository, error)
            return False
        return True

    def has_whole_history(self, repository: Repository) -> bool:
        with self.open_command(repository, "rev-parse", "--is-shallow-repository") as process:
            output, _ = read_output(process)
        return output.strip() != b"true"

    def list_paths(self, repository: Repository, commit: str) -> tuple[str, ...]:
        """Return the paths of all files of a commit that are UTF-8 and that a system could have."""
        arguments = ("ls-tree", "-r", "-z", "--name-only", "--full-tree", build_revision(commit))
        with self.open_command(repository, *arguments) as process:
            listed = _read_list(process)
        # git itself sets no limit, and who looks for words in a name of megabytes does not end
        names = (name.decode("utf-8", "replace") for name in listed if len(name) <= MAX_PATH)
        return tuple(name for name in names if "\ufffd" not in name)

    def _list_entries(
        self, repository: Repository, revision: str, names: Sequence[bytes]
    ) -> Iterator[tuple[bytes, _TreeEntry]]:
        """Yield what a commit has at some paths, and perhaps at others. Raises SourceUnavailable."""
        arguments: tuple[str | bytes, ...] = ("ls-tree", "-z", "-l", "-t", "--full-tree", revision, "--", *names)
        with self.open_command(repository, *arguments) as process:
            yield from map(_parse_entry, _read_list(process))

    def _read_contents(
        self, repository: Repository, entries: Mapping[str, _TreeEntry]
    ) -> Iterator[tuple[str, SourceFile]]:
        if not entries:
            return
        # in their order, as the same content may be at several paths
        lines = b"".join(entry.content + b"\n" for entry in entries.values())
        with self.open_command(repository, "cat-file", "--batch", lines=lines) as process:
            for path, entry in entries.items():
                data = _read_content(process.output, entry)
                if data is None:
                    process.require_success()
                    raise GitFailure("a file is missing", "bad object")
                yield path, build_source_file(path, data, clean_code)
            process.require_success()

    def find_uses(
        self, repository: Repository, commit: str, name: str, limit: int, *, is_part: bool = False
    ) -> SourceUses:
        """Return the first ``limit`` lines that have a name, by path and line: as a whole word, or anywhere in it.

        Binary files are left out. The search ends after 2,000,000 bytes of lines, and at the reader's time limit.
        """
        _require_name(name)
        return self._search(repository, commit, _build_pattern(name, is_part=is_part), name, limit)

    def find_any(self, repository: Repository, commit: str, names: Sequence[str], limit: int) -> SourceUses:
        """Return the first ``limit`` lines with any of the names as whole words, by one search of that kind."""
        for name in names:
            _require_name(name)
        patterns = ("-w", "-F", *(part for name in names for part in ("-e", name.encode())))
        return self._search(repository, commit, patterns, names[0], limit)

    def _search(
        self, repository: Repository, commit: str, patterns: Sequence[str | bytes], shown: str, limit: int
    ) -> SourceUses:
        revision = build_revision(commit)
        with self.open_command(repository, "grep", *_GREP_OPTIONS, *patterns, revision, "--") as process:
            output, is_whole = read_output(process, accepted=_NO_MATCH)
        uses = list(_parse_uses(output, len(revision) + 1, shown))
        return SourceUses(tuple(uses[:limit]), is_complete=is_whole and len(uses) <= limit)

    def list_changes(self, repository: Repository, commit: str, path: str, limit: int) -> tuple[SourceChange, ...]:
        """Return the last commits that changed a path, newest first, as many as are found in the reader's time.

        Those before the history of the mirror begins are not among them: see :meth:`has_whole_history`.
        """
        revision, name = build_revision(commit), encode_path(path)
        if name is None:
            raise UsageError(f"{quote_input(path)} is not a path of a file or folder in the repository.")
        arguments = ("log", *_LOG_OPTIONS, f"--max-count={limit}", revision, "--", name)
        with self.open_command(repository, *arguments) as process:
            output, _ = read_output(process)
        parts = [part.decode("utf-8", "replace") for part in output.split(b"\0")]
        rows = zip(parts[0::4], parts[1::4], parts[2::4], parts[3::4], strict=False)
        return tuple(
            SourceChange(clean_hash(sha), parse_instant(time), clean_title(title))
            for sha, time, names, title in rows
            # where the history ends, git shows all files as new
            if _HISTORY_END not in names.split(", ")
        )


def build_revision(commit: str, side: DiffSide = DiffSide.NEW) -> str:
    """Return git's name for a commit, or for its first parent. Raises SourceUnavailable unless it is a hash."""
    # with the name of its type, git says of an unknown commit that it is unknown, not that it is broken
    sha = commit.lower()
    if not _WHOLE_HASH.fullmatch(sha):
        raise SourceUnavailable("A commit can't be read without its whole hash.")
    return f"{sha}^1" if side is DiffSide.OLD else f"{sha}^{{commit}}"


def encode_path(path: str) -> bytes | None:
    """Return a path as git has it; None for what can't be one, such as a path with ``..`` in it."""
    try:
        name = path.encode()
    except UnicodeEncodeError:
        return None
    is_path = b"\0" not in name and not {b"", b".", b".."} & set(name.split(b"/"))
    return name if is_path else None


# --- whole files

# bytes of paths in one command, far below what systems take; bytes of one command's list of files
_MAX_ARGUMENTS, _MAX_LIST = 60_000, 20_000_000
# what git lists in place of the size of a file that it can't read
_BAD_SIZE = b"BAD"
# bytes of the line before a file's content
_MAX_HEADER = 200


@dataclass(frozen=True, slots=True)
class _TreeEntry:
    """What a commit has at a path: its mode, the hash of its content, and the bytes of that, 0 for no file."""

    mode: int
    content: bytes
    size: int

    @property
    def problem(self) -> SourceProblem | None:
        """Why the content is not read, as far as that is known without it."""
        too_large = SourceProblem.TOO_LARGE if self.size > MAX_SOURCE_BYTES else None
        return find_type_problem(self.mode) or too_large


def _read_list(process: GitProcess) -> list[bytes]:
    listed = process.output.read(_MAX_LIST + 1)
    if len(listed) > _MAX_LIST:
        raise GitFailure("its list of files is too long")
    process.require_success()
    return [*filter(None, listed.split(b"\0"))]


def _parse_entry(record: bytes) -> tuple[bytes, _TreeEntry]:
    """Return the path and the entry of a record ``mode type hash size<TAB>path``. Raises GitFailure."""
    facts, _, name = record.partition(b"\t")
    mode, _, content, size = facts.split()
    if size == _BAD_SIZE:
        raise GitFailure("a file is missing", "bad object")
    return name, _TreeEntry(int(mode, 8), content, int(size) if size.isdigit() else 0)


def _read_content(output: IO[bytes], entry: _TreeEntry) -> bytes | None:
    """Read one content from the output of ``cat-file --batch``; None if it is not the one that was asked for."""
    header = output.readline(_MAX_HEADER).split()
    if header != [entry.content, b"blob", b"%d" % entry.size]:
        return None
    data = output.read(entry.size + 1)
    return data[:-1] if len(data) == entry.size + 1 else None


def _divide_names(names: Iterable[bytes]) -> Iterator[list[bytes]]:
    part: list[bytes] = []
    size = 0
    for name in names:
        size += len(name) + 1
        if part and size > _MAX_ARGUMENTS:
            yield part
            part, size = [], len(name) + 1
        part.append(name)
    if part:
        yield part


# --- searches

# bytes of output that are read; characters of a name
_MAX_OUTPUT, _MAX_NAME = 2_000_000, 200
# characters of a line that are shown, before the name in it, and of a long line that are searched for credentials
_MAX_LINE, _LEAD, _MAX_SEARCHED = 300, 100, 10_000
_GREP_OPTIONS = ("-n", "-I", "-z", "--full-name", "--no-color", "--no-textconv")
_LOG_OPTIONS = ("-z", "--first-parent", "--no-color", "--encoding=UTF-8", "--format=%H%x00%ct%x00%D%x00%s")
# git's name for a commit whose parents are not in the repository
_HISTORY_END = "grafted"
_IN_WORDS = re.compile(r"\w")
_SIGNS = re.compile(r"[][\\.^$*+?(){}|]")
_NO_MATCH = 1
_ELLIPSIS = "…"


def read_output(process: GitProcess, accepted: int = 0) -> tuple[bytes, bool]:
    """Return the output, and whether no limit ended it; the status ``accepted`` is no failure."""
    output = process.output.read(_MAX_OUTPUT + 1)
    if len(output) > _MAX_OUTPUT:
        return output[:_MAX_OUTPUT], False
    try:
        process.require_success()
    except GitTimeout:
        return output, False
    except GitFailure as failure:
        if failure.status != accepted or failure.hints_at_damage:
            raise
    # git goes on after a file that it can't read
    unread = GitFailure("the files can't be read", process.read_stderr())
    if unread.hints_at_damage:
        raise unread
    return output, True


def _require_name(name: str) -> None:
    if not name.strip() or len(name) > _MAX_NAME or not name.isprintable():
        raise UsageError(f"{quote_input(name)} is not a name to search for: use up to {_MAX_NAME} characters.")


def _build_pattern(name: str, *, is_part: bool) -> tuple[str | bytes, ...]:
    """Return the options of a search. Where a name begins or ends with a sign, anything may stand beside that."""
    begins, ends = (bool(_IN_WORDS.match(sign)) and not is_part for sign in (name[0], name[-1]))
    if begins == ends:
        return (*(("-w",) if begins else ()), "-F", "-e", name.encode())
    escaped = _SIGNS.sub(r"\\\g<0>", name)
    before, after = "(^|[^[:alnum:]_])" if begins else "", "([^[:alnum:]_]|$)" if ends else ""
    return "-E", "-e", f"{before}{escaped}{after}".encode()


def _parse_uses(output: bytes, prefix: int, name: str) -> Iterator[SourceUse]:
    """Yield the lines of git's output, each with ``revision:path``, a zero byte, a number and the text.

    ``prefix`` is the length of the revision with its colon. The last line may be cut.
    """
    at = 0
    while (end := output.find(b"\0", at)) >= 0:
        path = output[at + prefix : end]
        # at most ten digits
        piece = output[end + 1 : end + 11]
        number = piece[: len(piece) - len(piece.lstrip(b"0123456789"))]
        begin = end + 1 + len(number) + 1
        if not number or begin > len(output):
            return
        at = output.find(b"\n", begin)
        line = output[begin : at if at >= 0 else len(output)]
        yield SourceUse(clean_path(path.decode("utf-8", "replace")), int(number), _show_line(line, name))
        if at < 0:
            return
        at += 1


def _show_line(line: bytes, name: str) -> str:
    text = line.decode("utf-8", "replace").rstrip("\r")
    start = max(0, text.find(name) - _MAX_SEARCHED)
    cleaned = clean_code(text[start : start + 2 * _MAX_SEARCHED])
    if len(cleaned) <= _MAX_LINE and len(cleaned) == len(text):
        return cleaned
    begin = max(0, cleaned.find(name) - _LEAD)
    shown = cleaned[begin : begin + _MAX_LINE]
    lead = _ELLIPSIS if start or begin else ""
    return f"{lead}{shown}{_ELLIPSIS if begin + _MAX_LINE < len(cleaned) else ''}"


def open_clone_trees(path: Path, branch: str | None = None) -> AbstractContextManager[clone_trees.CloneTrees]:
    """Open a clone, and end the process that reads it at the end of the block. Credentials are removed."""
    return clone_trees.open_clone_trees(path, branch, clean_text)
