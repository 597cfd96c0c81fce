"""The changes of merges as GitHub would send them, read from a local clone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from bot.adapters.git.clone_reader import CloneReader
from bot.adapters.git.mirror_reader import build_revision
from bot.adapters.records.cleaning import parse_files
from bot.domain.errors import SourceUnavailable
from bot.domain.history.commits import extract_description
from bot.domain.pull_requests.diff import DiffSide
from bot.domain.pull_requests.models import ChangedFile, PullRequest

# GitHub treats files that are at least half the same as renames, compares as many files, and shows three lines
# around a change
_DIFF_OPTIONS = (
    "-p",
    "-r",
    "--unified=3",
    "--find-renames=50%",
    "-l1000",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--submodule=short",
)
# bytes of one commit's diff: beyond it a file's patch counts as too large
_MAX_DIFF = 40_000_000
# GitHub's list of files ends there (docs.github.com, "List pull requests files")
_MAX_FILES = 3_000
_SECTION = re.compile(rb"^diff --git .*$", re.M)
_HUNK_START = re.compile(rb"^@@ -", re.M)


class CloneChanges:
    """Loader of what the list of a clone's merges lacks: patches and descriptions."""

    def __init__(self, reader: CloneReader) -> None:
        self._reader = reader

    def load_files(self, pull: PullRequest) -> PullRequest:
        """Return a merge of the clone with the patches of its files, and its commit message as its description.

        A squash commit's message has the description, or the messages of its branch; its title stands beside it.

        Raises:
            SourceUnavailable: the commit can't be read.
        """
        listed = (pull.files or ())[:_MAX_FILES]
        patches = self._read_patches(pull)
        # a file that has no patch in the clone's diff has none at GitHub either
        items = [_describe_file(file, patch) for file, patch in _pair_files(listed, patches)]
        return replace(pull, files=tuple(parse_files(items)), body=extract_description(pull.commit_message))

    def _read_patches(self, pull: PullRequest) -> list[str | None]:
        """Return the patch of each changed file, in git's order; None for one without lines."""
        sides = (build_revision(pull.commit, DiffSide.OLD), build_revision(pull.commit))
        try:
            output = self._read_diff(pull, *sides)
        except SourceUnavailable:
            # the first commit has no parent
            output = self._read_diff(pull, "--root", "--no-commit-id", sides[1])
        return [_extract_patch(section) for section in _split_sections(output)]

    def _read_diff(self, pull: PullRequest, *revisions: str) -> bytes:
        with self._reader.open_command(pull.repository, "diff-tree", *_DIFF_OPTIONS, *revisions, "--") as process:
            output = process.output.read(_MAX_DIFF + 1)
            if len(output) <= _MAX_DIFF:
                process.require_success()
                return output
        # the last file of a diff that is cut is not whole
        return output[: max(output.rfind(b"\ndiff --git "), 0)]


def _split_sections(output: bytes) -> Iterator[bytes]:
    """Yield the part of each changed file, which begins with its ``diff --git`` line.

    No line of a file begins so, as each has a mark. A file that became a link has two parts with the same line.
    """
    starts = list(_SECTION.finditer(output))
    ends = [match.start() for match in starts[1:]] + [len(output)]
    previous = b""
    for match, end in zip(starts, ends, strict=True):
        if match.group() != previous:
            yield output[match.start() : end]
        previous = match.group()


def _extract_patch(section: bytes) -> str | None:
    """Return the hunks of a file's part without the newline at its end; None for a binary or an unchanged file."""
    start = _HUNK_START.search(section)
    return section[start.start() :].removesuffix(b"\n").decode("utf-8", "replace") if start else None


def _pair_files(
    files: Iterable[ChangedFile], patches: list[str | None]
) -> Iterator[tuple[ChangedFile, str | None]]:
    """Yield each file with its patch. Both lists are in git's order; beyond a limit there are no patches."""
    for place, file in enumerate(files):
        yield file, patches[place] if place < len(patches) else None


def _describe_file(file: ChangedFile, patch: str | None) -> dict[str, object]:
    """Return a file as GitHub's REST interface sends it."""
    return {
        "filename": file.path,
        "status": file.status,
        "additions": file.additions,
        "deletions": file.deletions,
        "previous_filename": file.previous_path,
        "patch": patch,
    }
