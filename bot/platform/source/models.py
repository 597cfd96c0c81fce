from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from impact.repository import Repository
from impact.source.models import DiffSide, SourceFile, SourceVersions


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


class SourceFiles(Protocol):
    def read_files(
        self, repository: Repository, commit: str, paths: Sequence[str], side: DiffSide = DiffSide.NEW
    ) -> Mapping[str, SourceFile]:
        """Return each file of ``paths`` at a commit, or with ``DiffSide.OLD`` at its first parent.

        A file that can't be read comes with its problem. All paths are read in one call where possible. ``commit``
        is a full hash. Before the first commit of a repository, every file is missing. Raises SourceUnavailable
        without the commit, and what :class:`bot.platform.pulls.sources.PullRequests` raises.
        """


class SourceVersionReader(Protocol):
    def read_versions(
        self, repository: Repository, commit: str, old: Sequence[str], new: Sequence[str]
    ) -> SourceVersions:
        """Return the files at the paths ``old`` of the first parent of a commit, and at ``new`` of the commit.

        Both sides are read in one call where possible. All else is as in :meth:`SourceFiles.read_files`.
        """
