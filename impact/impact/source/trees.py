"""The commits of a branch with the contents that each changed, by the hashes that git gives them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class LineCommit:
    """A commit on a branch's line of first parents. ``parent`` is empty for the first one. The time is in UTC."""

    sha: str
    parent: str
    committed_at: datetime


@dataclass(frozen=True, slots=True)
class BlobVersion:
    """A file at a commit: its path and the hash of its content."""

    path: str
    blob: str


@dataclass(frozen=True, slots=True)
class BlobChange:
    """A file before and after a commit; None where there is no regular one. A binary file has no lines."""

    old: BlobVersion | None
    new: BlobVersion | None
    added: int = 0
    deleted: int = 0

    @property
    def path(self) -> str:
        """Its path after the commit, or before it if it is gone."""
        version = self.new or self.old
        return version.path if version else ""


@dataclass(frozen=True, slots=True)
class TreeCommit:
    """A commit with its message and its changes against the first parent. The time is the committer's, in UTC."""

    sha: str
    committed_at: datetime
    message: str
    changes: tuple[BlobChange, ...] = ()
    author: str = ""

    @property
    def lines(self) -> int:
        return sum(change.added + change.deleted for change in self.changes)

    @property
    def paths(self) -> tuple[str, ...]:
        """The changed paths on both sides, each once."""
        sides = (version.path for change in self.changes for version in (change.old, change.new) if version)
        return tuple(dict.fromkeys(sides))
