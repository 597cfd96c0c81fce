"""Parser for the records that ``git diff-tree -z --raw --numstat`` writes.

Every part ends with a zero byte, and paths are read by count, so that nothing in a message or a path can be read
as something else.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from impact.source.trees import BlobChange, BlobVersion, TreeCommit

LOG_FORMAT = "%H%x00%ct%x00%an%x00%B"

# characters; the sentences about a revert or a repair are at the beginning
_MAX_MESSAGE = 2_000
# an adaptation may name many causes
_MAX_LONG_MESSAGE = 20_000
# bytes kept of one part, a message or a path: far more than is kept of either in the end
_MAX_PART = 1 << 16
# a damaged commit may be later than a datetime allows, or have no time at all
_MAX_SECONDS = 253_370_764_800
# Python refuses to parse thousands of digits
_MAX_DIGITS = 100
# parts of ``mode mode hash hash status``; the modes of regular files, executable or not, begin with it
_FACTS_OF_CHANGE, _REGULAR_MODE = 5, "100"
_STATUS = {"A": "added", "D": "removed", "R": "renamed"}
_SURROGATES = re.compile("[\ud800-\udfff]")
# all but tabs and line breaks
_CONTROLS = re.compile("[\0-\x08\v\f\x0e-\x1f\x7f-\x9f]")


@dataclass(frozen=True, slots=True)
class CommitFile:
    """A changed file of a commit, with its status in GitHub's words, and its earlier path if it was renamed."""

    path: str
    status: str
    additions: int
    deletions: int
    previous_path: str | None = None


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit of a branch and its changes against the first parent. The time is the committer's, in UTC."""

    sha: str
    committed_at: datetime
    author: str
    message: str
    files: tuple[CommitFile, ...]


def remove_controls(text: str) -> str:
    """Return a text without what steers terminals or can't be encoded."""
    return _CONTROLS.sub("", _SURROGATES.sub("\ufffd", text))


def parse_commits(pieces: Iterable[bytes]) -> Iterator[Commit]:
    """Yield the commits of a stream of bytes that arrives in pieces."""
    for record in _parse_records(pieces):
        yield Commit(
            record.sha.strip(),
            parse_instant(record.seconds),
            remove_controls(record.author),
            remove_controls(record.message)[:_MAX_MESSAGE].strip(),
            tuple(_build_changed_file(change, record.lines) for change in record.changes),
        )


def parse_tree_commits(
    pieces: Iterable[bytes], clean: Callable[[str], str] = remove_controls
) -> Iterator[TreeCommit]:
    """Yield the commits of a stream of bytes with the contents that they changed.

    ``clean`` returns what is kept of a message.
    """
    for record in _parse_records(pieces):
        yield TreeCommit(
            record.sha.strip(),
            parse_instant(record.seconds),
            clean(record.message)[:_MAX_LONG_MESSAGE].strip(),
            tuple(_build_blob_change(change, record.lines) for change in record.changes if any(change.blobs)),
        )


class _PartReader:
    """Reader of parts, one by one, with a look at the next one."""

    def __init__(self, parts: Iterator[bytes]) -> None:
        self._parts = parts
        self.next = next(parts, None)

    def take_part(self) -> bytes:
        """Return the next part and move on; empty at the end."""
        part = self.next or b""
        self.next = next(self._parts, None)
        return part

    def take_text(self) -> str:
        """Return the next part as text. Invalid UTF-8 is replaced."""
        return self.take_part().decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class _PathChange:
    """A path, its status in GitHub's words, any earlier path, and the hashes of its content, if regular."""

    path: str
    status: str
    previous: str | None
    blobs: tuple[str, str]


@dataclass(frozen=True, slots=True)
class _CommitRecord:
    """The parts of one commit as git wrote them, and the added and deleted lines by path."""

    sha: str
    seconds: str
    author: str
    message: str
    changes: tuple[_PathChange, ...]
    lines: Mapping[str, tuple[int, int]]


def _split_parts(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the parts between zero bytes, each cut at 65,536 bytes, because a message may have any length."""
    rest = b""
    for piece in pieces:
        first, *others = piece.split(b"\0")
        rest += first[: _MAX_PART - len(rest)]
        for other in others:
            yield rest
            rest = other[:_MAX_PART]
    if rest.strip():
        yield rest


def _parse_records(pieces: Iterable[bytes]) -> Iterator[_CommitRecord]:
    parts = _PartReader(_split_parts(pieces))
    while parts.next is not None:
        yield _parse_record(parts)


def _parse_record(parts: _PartReader) -> _CommitRecord:
    sha, seconds, author, message = (parts.take_text() for _ in range(4))
    changes, lines = [], {}
    # a line break separates the message from what follows it
    while parts.next is not None and parts.next.lstrip(b"\n").startswith(b":"):
        changes.append(_parse_change(parts))
    while parts.next is not None and parts.next.count(b"\t") >= 2:
        path, added, deleted = _parse_numstat(parts)
        lines[path] = (added, deleted)
    return _CommitRecord(sha, seconds, author, message, tuple(changes), lines)


def _build_changed_file(change: _PathChange, lines: Mapping[str, tuple[int, int]]) -> CommitFile:
    added, deleted = lines.get(change.path, (0, 0))
    return CommitFile(change.path, change.status, added, deleted, change.previous)


def _build_blob_change(change: _PathChange, lines: Mapping[str, tuple[int, int]]) -> BlobChange:
    old, new = change.blobs
    return BlobChange(
        BlobVersion(change.previous or change.path, old) if old else None,
        BlobVersion(change.path, new) if new else None,
        *lines.get(change.path, (0, 0)),
    )


def _parse_change(parts: _PartReader) -> _PathChange:
    """Read ``:modes shas status`` and a path, for a rename the old and the new one."""
    facts = parts.take_text().lstrip("\n:").split(" ")
    letter = facts[-1][:1]
    first = _parse_path(parts)
    if letter not in "RC":
        return _PathChange(first, _STATUS.get(letter, "modified"), None, _find_blobs(facts))
    return _PathChange(_parse_path(parts), _STATUS.get(letter, "added"), first, _find_blobs(facts))


def _find_blobs(facts: Sequence[str]) -> tuple[str, str]:
    """Return the hashes on both sides from ``mode mode hash hash status``; empty for no regular file."""
    if len(facts) != _FACTS_OF_CHANGE:
        return "", ""
    modes, blobs = facts[:2], facts[2:4]
    old, new = (blob if mode.startswith(_REGULAR_MODE) else "" for mode, blob in zip(modes, blobs, strict=True))
    return old, new


def _parse_numstat(parts: _PartReader) -> tuple[str, int, int]:
    """Read ``added deleted path``. For a rename the path is empty and two follow. Binary files have no lines."""
    added, deleted, path = parts.take_text().split("\t", 2)
    if not path:
        parts.take_part()
        return _parse_path(parts), _parse_count(added), _parse_count(deleted)
    return sys.intern(path), _parse_count(added), _parse_count(deleted)


def _parse_path(parts: _PartReader) -> str:
    # the same few thousand paths repeat
    return sys.intern(parts.take_text())


def parse_instant(seconds: str) -> datetime:
    """Return the instant (UTC) of a commit's time in seconds; of a damaged one, an instant that can be used."""
    return datetime.fromtimestamp(min(_parse_count(seconds), _MAX_SECONDS), UTC)


def _parse_count(text: str) -> int:
    """Return a count, 0 for what is not a number of at most 100 digits."""
    is_count = text.isascii() and text.isdecimal() and len(text) <= _MAX_DIGITS
    return int(text) if is_count else 0
