"""Interface to the files of a repository at a commit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from bot.domain.pull_requests.diff import DiffSide
from bot.domain.pull_requests.models import Repository
from bot.domain.source.models import SourceFile


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
