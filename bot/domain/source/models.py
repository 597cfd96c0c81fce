"""What is known of a whole repository at a commit: its files, lines with a name, and a path's history."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class TreeFile:
    """A file of a tree. ``content`` is git's hash of its bytes: the same content has the same hash anywhere."""

    path: str
    content: str
    size: int


@dataclass(frozen=True, slots=True)
class RepositoryTree:
    """The files of a repository at a commit, by path. ``is_partial``: there are more than could be listed."""

    commit: str
    files: tuple[TreeFile, ...]
    is_partial: bool = False


@dataclass(frozen=True, slots=True)
class SourceUse:
    """A line of a file with a name in it. ``line`` counts from 1; a long ``text`` is cut."""

    path: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class SourceUses:
    """The lines that were found. Without ``is_complete`` there may be more: a limit ended the search."""

    uses: tuple[SourceUse, ...]
    is_complete: bool


@dataclass(frozen=True, slots=True)
class SourceChange:
    """A commit that changed a path, with the first line of its message. ``committed_at`` is in UTC."""

    commit: str
    committed_at: datetime
    title: str
