"""Parser for the records that ``git diff-tree -z --raw --numstat`` writes.

Every part ends with a zero byte, and paths are read by count, so that nothing in a message or a path can be read
as something else.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from bot.adapters.records.cleaning import clean_line, clean_text
from bot.domain.history.commits import Commit
from bot.domain.pull_requests.models import ChangedFile

LOG_FORMAT = "%H%x00%ct%x00%an%x00%B"

# characters; the sentences about a revert or a repair are at the beginning
_MAX_MESSAGE = 2_000
# bytes kept of one part, a message or a path: far more than is kept of either in the end
_MAX_PART = 1 << 16
# a damaged commit may be later than a datetime allows, or have no time at all
_MAX_SECONDS = 253_370_764_800
# Python refuses to parse thousands of digits
_MAX_DIGITS = 100
_STATUS = {"A": "added", "D": "removed", "R": "renamed"}


def parse_commits(pieces: Iterable[bytes]) -> Iterator[Commit]:
    """Yield the commits of a stream of bytes that arrives in pieces."""
    parts = _PartReader(_split_parts(pieces))
    while parts.next is not None:
        yield _parse_commit(parts)


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
    """A changed path, its status in GitHub's words, and its earlier path if it was renamed."""

    path: str
    status: str
    previous: str | None


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


def _parse_commit(parts: _PartReader) -> Commit:
    """Read the parts of one commit."""
    sha, seconds, author, message = (parts.take_text() for _ in range(4))
    changes, lines = [], {}
    # a line break separates the message from what follows it
    while parts.next is not None and parts.next.lstrip(b"\n").startswith(b":"):
        changes.append(_parse_change(parts))
    while parts.next is not None and parts.next.count(b"\t") >= 2:
        path, added, deleted = _parse_numstat(parts)
        lines[path] = (added, deleted)
    files = tuple(
        ChangedFile(change.path, change.status, *lines.get(change.path, (0, 0)), None, change.previous)
        for change in changes
    )
    return Commit(
        clean_line(sha.strip()),
        datetime.fromtimestamp(min(_parse_count(seconds), _MAX_SECONDS), UTC),
        clean_line(author),
        clean_text(message, _MAX_MESSAGE).strip(),
        files,
    )


def _parse_change(parts: _PartReader) -> _PathChange:
    """Read ``:modes shas status`` and a path, for a rename the old and the new one."""
    letter = parts.take_text().rsplit(" ", 1)[-1][:1]
    first = _parse_path(parts)
    if letter not in "RC":
        return _PathChange(first, _STATUS.get(letter, "modified"), None)
    return _PathChange(_parse_path(parts), _STATUS.get(letter, "added"), first)


def _parse_numstat(parts: _PartReader) -> tuple[str, int, int]:
    """Read ``added deleted path``. For a rename the path is empty and two follow. Binary files have no lines."""
    added, deleted, path = parts.take_text().split("\t", 2)
    if not path:
        parts.take_part()
        return _parse_path(parts), _parse_count(added), _parse_count(deleted)
    return sys.intern(path), _parse_count(added), _parse_count(deleted)


def _parse_path(parts: _PartReader) -> str:
    """Read a path."""
    # the same few thousand paths repeat
    return sys.intern(parts.take_text())


def _parse_count(text: str) -> int:
    """Return a count, 0 for what is not a number of at most 100 digits."""
    is_count = text.isascii() and text.isdecimal() and len(text) <= _MAX_DIGITS
    return int(text) if is_count else 0
