"""Interface to the files of a local clone at every commit of its branch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from bot.domain.pull_requests.models import Repository
from impact.source.models import SourceFile
from impact.source.trees import BlobVersion, LineCommit, TreeCommit


@dataclass(frozen=True, slots=True)
class CloneFacts:
    """Facts about a clone: the branch that is read, and the repository on GitHub if it was cloned from there."""

    branch: str
    repository: Repository | None
    is_shallow: bool


class CloneTrees(Protocol):
    """A local clone, which no method changes. Every method may raise UsageError and PrdigestError."""

    def read_facts(self) -> CloneFacts:
        """Return which branch is read, and of which repository this is a clone."""

    def list_line(self) -> tuple[LineCommit, ...]:
        """Return the commits on the branch's first-parent line, oldest first."""

    def find_commit(self, revision: str) -> str:
        """Return the full hash of a commit by its hash, which may be short; empty if there is none."""

    def find_tag(self, tag: str) -> str:
        """Return the last commit of the branch that a tag holds, as a full hash; empty if there is none."""

    def iterate_commits(self, line: Sequence[LineCommit]) -> Iterator[TreeCommit]:
        """Yield some commits of the line with what each changed, in their order."""

    def list_files(self, commit: str) -> Mapping[str, str]:
        """Return the hash of each regular file of a commit by its path."""

    def read_file(self, version: BlobVersion) -> SourceFile:
        """Return a file with its text, or with its problem: a missing one is unavailable."""


# opens a clone by its folder and branch, and closes it at the end of the block; a process of its own can do it too
TreesOpener = Callable[[Path, str | None], AbstractContextManager[CloneTrees]]
