"""Interfaces to the files of a repository at a commit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from bot.domain.pull_requests.diff import DiffSide
from bot.domain.pull_requests.models import Repository
from bot.domain.source.models import RepositoryTree, SourceChange, SourceUses
from impact.source.models import SourceFile, SourceVersions


class SourceFiles(Protocol):
    """Source of whole files."""

    def read_files(
        self, repository: Repository, commit: str, paths: Sequence[str], side: DiffSide = DiffSide.NEW
    ) -> Mapping[str, SourceFile]:
        """Return each file of ``paths`` at a commit, or with ``DiffSide.OLD`` at its first parent.

        A file that can't be read comes with its problem. All paths are read in one call where possible. ``commit``
        is a full hash. Before the first commit of a repository, every file is missing.

        Raises:
            SourceUnavailable: the commit is not there.
            PrdigestError: what :class:`bot.ports.PullRequests` raises.
        """


class SourceVersionReader(Protocol):
    """Source of files before and after a commit."""

    def read_versions(
        self, repository: Repository, commit: str, old: Sequence[str], new: Sequence[str]
    ) -> SourceVersions:
        """Return the files at the paths ``old`` of the first parent of a commit, and at ``new`` of the commit.

        Both sides are read in one call where possible. All else is as in :meth:`SourceFiles.read_files`.

        Raises:
            SourceUnavailable: the commit is not there.
            PrdigestError: what :class:`bot.ports.PullRequests` raises.
        """


class SourceTrees(Protocol):
    """Source of the list of all files of a repository."""

    def list_tree(self, repository: Repository, until: datetime | None = None) -> RepositoryTree:
        """List the files at the newest commit of the default branch, without links and submodules.

        With an aware instant ``until`` it is the newest commit of that time.

        Raises:
            SourceUnavailable: there is no commit.
            PrdigestError: what :class:`bot.ports.PullRequests` raises.
        """


class SourceSearch(Protocol):
    """Search over all files of a repository at a commit.

    Both methods raise SourceUnavailable if the commit is not there, and UsageError if what to look for is no name
    or no path.
    """

    def find_uses(self, repository: Repository, commit: str, name: str, limit: int) -> SourceUses:
        """Return the first ``limit`` lines that have a name as a whole word, by path and line."""

    def list_changes(self, repository: Repository, commit: str, path: str, limit: int) -> tuple[SourceChange, ...]:
        """Return the last ``limit`` commits up to a commit that changed a file or folder, newest first.

        A merge counts as one commit: what it brought to the branch.
        """


class SourceMirror(Protocol):
    """Copies of repositories, from which files are read without asking GitHub."""

    def update(self, repository: Repository) -> None:
        """Bring the copy of a repository up to date, or make it. This may take minutes the first time.

        Raises:
            MirrorUnavailable: that failed. What was copied before can still be read.
        """
