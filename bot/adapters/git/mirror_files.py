"""Whole files at a commit, read from a mirror."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import IO

from bot.adapters.git.mirror_reader import MirrorReader, build_revision, encode_path
from bot.adapters.git.processes import GitFailure
from bot.domain.errors import SourceUnavailable
from bot.domain.pull_requests.diff import DiffSide
from bot.domain.pull_requests.models import Repository
from bot.platform.cleaning import clean_code
from impact.source.models import MAX_SOURCE_BYTES, SourceFile, SourceProblem, SourceVersions
from impact.source.reading import build_source_file, find_type_problem

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


class GitMirrorFiles:
    """:class:`bot.ports.SourceFiles` from the mirrors that a reader reads."""

    def __init__(self, reader: MirrorReader) -> None:
        self._reader = reader

    def read_files(
        self, repository: Repository, commit: str, paths: Sequence[str], side: DiffSide = DiffSide.NEW
    ) -> Mapping[str, SourceFile]:
        """Return each file of ``paths`` at a commit, or at its first parent. See :class:`bot.ports.SourceFiles`.

        No file is opened before its size is known.
        """
        revision = build_revision(commit, side)
        names = {path: encode_path(path) for path in dict.fromkeys(paths)}
        known = [name for name in names.values() if name]
        try:
            entries = dict(
                chain.from_iterable(
                    self._list_entries(repository, revision, part) for part in _divide_names(known)
                )
            )
        except SourceUnavailable:
            if side is DiffSide.NEW or not self._is_first(repository, commit):
                raise
            entries = {}
        entries_by_path = {path: entries.get(name) if name else None for path, name in names.items()}
        files = {path: SourceFile(path, problem=SourceProblem.MISSING) for path in names}
        files |= {
            path: SourceFile(path, problem=entry.problem) for path, entry in entries_by_path.items() if entry
        }
        readable = {path: entry for path, entry in entries_by_path.items() if entry and not entry.problem}
        return files | dict(self._read_contents(repository, readable))

    def read_versions(
        self, repository: Repository, commit: str, old: Sequence[str], new: Sequence[str]
    ) -> SourceVersions:
        """Return files before and after a commit. See :class:`bot.ports.SourceVersionReader`."""
        before = self.read_files(repository, commit, old, DiffSide.OLD) if old else {}
        return SourceVersions(before, self.read_files(repository, commit, new) if new else {})

    def _is_first(self, repository: Repository, commit: str) -> bool:
        """Return whether a commit has no parent. Raises SourceUnavailable if it is unknown."""
        arguments = ("rev-list", "--max-parents=0", "--no-walk", build_revision(commit))
        with self._reader.open_command(repository, *arguments) as process:
            is_first = bool(process.output.read(1))
            process.require_success()
        return is_first

    def _list_entries(
        self, repository: Repository, revision: str, names: Sequence[bytes]
    ) -> Iterator[tuple[bytes, _TreeEntry]]:
        """Yield what a commit has at some paths, and perhaps at others. Raises SourceUnavailable."""
        arguments: tuple[str | bytes, ...] = ("ls-tree", "-z", "-l", "-t", "--full-tree", revision, "--", *names)
        with self._reader.open_command(repository, *arguments) as process:
            listed = process.output.read(_MAX_LIST + 1)
            if len(listed) > _MAX_LIST:
                raise GitFailure("its list of files is too long")
            process.require_success()
            yield from map(_parse_entry, filter(None, listed.split(b"\0")))

    def _read_contents(
        self, repository: Repository, entries: Mapping[str, _TreeEntry]
    ) -> Iterator[tuple[str, SourceFile]]:
        """Yield the files with their contents. Raises SourceUnavailable."""
        if not entries:
            return
        # in their order, as the same content may be at several paths
        lines = b"".join(entry.content + b"\n" for entry in entries.values())
        with self._reader.open_command(repository, "cat-file", "--batch", lines=lines) as process:
            for path, entry in entries.items():
                data = _read_content(process.output, entry)
                if data is None:
                    process.require_success()
                    raise GitFailure("a file is missing", "bad object")
                yield path, build_source_file(path, data, clean_code)
            process.require_success()


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
    """Yield paths in parts that fit into a command line."""
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
