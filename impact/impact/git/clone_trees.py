"""The files of a local clone at every commit of its branch, by the hashes of their contents."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property
from pathlib import Path

from impact.errors import ImpactError
from impact.git.blob_reader import BlobReader
from impact.git.clone import CloneFacts, GitClone
from impact.git.diff_tree import parse_tree_commits, remove_controls
from impact.source.models import SourceFile
from impact.source.revisions import is_tag
from impact.source.trees import BlobVersion, LineCommit, TreeCommit

_HASH = re.compile(r"[0-9a-f]{7,64}", re.A)
# a file that is missing ends the list of changes; more of them are a partial clone, where renames can't be seen
_MAX_FAILURES = 10


class CloneTrees:
    """The files of a clone, which no method changes. Each may raise UsageError and ImpactError."""

    def __init__(
        self,
        path: Path,
        branch: str | None = None,
        program: str = "git",
        clean: Callable[[str], str] = remove_controls,
    ) -> None:
        """``clean`` returns what is kept of a commit's message. Texts of files are read as they are."""
        self._arguments = (path, branch, program, clean)
        self._clean = clean
        self._clone = GitClone(path, branch, program)
        self._blobs = BlobReader(path, program)

    def __reduce__(self) -> tuple[type[CloneTrees], tuple[Path, str | None, str, Callable[[str], str]]]:
        # another process opens the clone again
        return CloneTrees, self._arguments

    def read_facts(self) -> CloneFacts:
        return self._clone.read_facts()

    def list_line(self) -> tuple[LineCommit, ...]:
        """Return the commits on the branch's first-parent line, oldest first."""
        return self._line

    def find_commit(self, revision: str) -> str:
        """Return the full hash of a commit by its hash, which may be short; empty if there is none."""
        text = revision.strip().casefold()
        return self._clone.find_commit(text) if _HASH.fullmatch(text) else ""

    def find_tag(self, tag: str) -> str:
        """Return the branch's last commit that a tag holds, as of a release branch; empty if there is none."""
        return self._clone.find_merge_base(f"refs/tags/{tag}") if is_tag(tag) else ""

    def iterate_commits(self, line: Sequence[LineCommit], *, counts_lines: bool = True) -> Iterator[TreeCommit]:
        """Yield some commits of the line with what each changed, in their order.

        To count the changed lines takes ten times as long as all else. Where a content is missing, the lines and
        inexact renames of that commit are not known.
        """
        done, failures = 0, 0
        while done < len(line):
            try:
                changes = self._clone.stream_changes(line[done:], counts_lines=counts_lines)
                for commit in parse_tree_commits(changes, self._clean):
                    yield commit
                    done += 1
            except ImpactError:
                failures += 1
                # the one that it stopped at, or all that are left
                plain = line[done : done + 1] if failures <= _MAX_FAILURES else line[done:]
                changes = self._clone.stream_changes(plain, has_contents=False)
                yield from parse_tree_commits(changes, self._clean)
                done += len(plain)

    def list_files(self, commit: str) -> Mapping[str, str]:
        """Return the hash of each regular file of a commit by its path."""
        return self._clone.list_files(commit)

    def find_lines(self, commit: str, texts: Collection[str]) -> list[tuple[str, str]] | None:
        """Return the path and text of each line of a commit that has one of some texts; None if it can't tell."""
        return self._clone.find_lines(commit, texts)

    def read_file(self, version: BlobVersion) -> SourceFile:
        """Return a file with its text, or with its problem: a missing one is unavailable."""
        return self._blobs.read_file(version)

    def close(self) -> None:
        self._blobs.close()

    @cached_property
    def _line(self) -> tuple[LineCommit, ...]:
        return tuple(self._clone.list_line())


@contextmanager
def open_clone_trees(
    path: Path, branch: str | None = None, clean: Callable[[str], str] = remove_controls
) -> Iterator[CloneTrees]:
    """Open a clone for the block. ``clean`` returns what is kept of a commit's message."""
    trees = CloneTrees(path, branch, clean=clean)
    try:
        yield trees
    finally:
        trees.close()


# opens a clone by its folder and branch, and closes it at the end of the block; a process of its own can do it too
TreesOpener = Callable[[Path, str | None], AbstractContextManager[CloneTrees]]
