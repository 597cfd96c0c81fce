"""The records that ``git diff-tree -z --raw --numstat`` writes, as commits.

Every part ends with a zero byte and paths are taken by count, so that nothing in a message or a path can be read
as something else.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from bot.adapters.records.cleaning import line_of, text_of
from bot.domain.history.commits import Commit
from bot.domain.pull_requests.models import ChangedFile

FORMAT = "%H%x00%ct%x00%an%x00%B"

# characters; what says that something is taken back or repaired stands at the beginning
_MESSAGE = 2_000
# bytes of one part that are kept, of a message or a path: far more than is kept of either
_PART = 1 << 16
# a damaged commit may lie beyond what a date can say, or have no time at all
_LAST = 253_370_764_800
# Python refuses to read thousands of digits
_MOST_DIGITS = 100
_STATUS = {"A": "added", "D": "removed", "R": "renamed"}


def commits_in(pieces: Iterable[bytes]) -> Iterator[Commit]:
    """The commits of a stream that comes in pieces."""
    parts = _Parts(_parts(pieces))
    while parts.next is not None:
        yield _commit(parts)


class _Parts:
    """Parts one by one, with a look at the next."""

    def __init__(self, parts: Iterator[bytes]) -> None:
        self._parts = parts
        self.next = next(parts, None)

    def take(self) -> bytes:
        taken = self.next or b""
        self.next = next(self._parts, None)
        return taken

    def text(self) -> str:
        return self.take().decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class _Change:
    path: str
    status: str
    previous: str | None


def _parts(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """What stands between zero bytes, up to a length: a message may be as long as somebody liked."""
    rest = b""
    for piece in pieces:
        first, *others = piece.split(b"\0")
        rest += first[: _PART - len(rest)]
        for other in others:
            yield rest
            rest = other[:_PART]
    if rest.strip():
        yield rest


def _commit(parts: _Parts) -> Commit:
    sha, seconds, author, message = (parts.text() for _ in range(4))
    changes, lines = [], {}
    # a line break stands between a message and what follows it
    while parts.next is not None and parts.next.lstrip(b"\n").startswith(b":"):
        changes.append(_change(parts))
    while parts.next is not None and parts.next.count(b"\t") >= 2:
        path, added, deleted = _numstat(parts)
        lines[path] = (added, deleted)
    files = tuple(
        ChangedFile(change.path, change.status, *lines.get(change.path, (0, 0)), None, change.previous)
        for change in changes
    )
    return Commit(
        line_of(sha.strip()),
        datetime.fromtimestamp(min(_count(seconds), _LAST), UTC),
        line_of(author),
        text_of(message, _MESSAGE).strip(),
        files,
    )


def _change(parts: _Parts) -> _Change:
    """``:modes shas status``, then a path, of a rename the old and the new one."""
    letter = parts.text().rsplit(" ", 1)[-1][:1]
    first = _path(parts)
    if letter not in "RC":
        return _Change(first, _STATUS.get(letter, "modified"), None)
    return _Change(_path(parts), _STATUS.get(letter, "added"), first)


def _numstat(parts: _Parts) -> tuple[str, int, int]:
    """``added deleted path``; of a rename the path is empty and two follow. Binary files have no lines."""
    added, deleted, path = parts.text().split("\t", 2)
    if not path:
        parts.take()
        return _path(parts), _count(added), _count(deleted)
    return sys.intern(path), _count(added), _count(deleted)


def _path(parts: _Parts) -> str:
    # the same few thousand paths come again and again
    return sys.intern(parts.text())


def _count(text: str) -> int:
    is_count = text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS
    return int(text) if is_count else 0
