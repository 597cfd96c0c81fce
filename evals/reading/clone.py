"""A local clone in place of a mirror and of GitHub: files, searches, and changes of merges as it sends them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from bot.errors import SourceUnavailable
from bot.platform.cleaning import parse_files
from bot.platform.git.folder import GitFailure, GitProcess, open_process
from bot.platform.git.reading import UNKNOWN_COMMIT, MirrorReader, build_revision
from bot.platform.pulls.models import ChangedFile, PullRequest
from impact.git.commands import build_command, build_environment
from impact.history.merges import extract_description
from impact.repository import Repository
from impact.source.models import DiffSide

# settings of the clone that would change what the commands write
_PLAIN_OUTPUT = (
    "diff.suppressBlankEmpty=false",
    "grep.column=false",
    "log.follow=false",
    "submodule.recurse=false",
)
# seconds of one command
_MAX_SECONDS = 30.0
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


class CloneReader(MirrorReader):
    """Reader of the clone in a folder, whatever repository is asked for.

    The settings of this user count, as one of them allows clones of other owners.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, seconds=_MAX_SECONDS)

    @contextmanager
    def open_command(
        self, repository: Repository, *arguments: str | bytes, lines: bytes = b""
    ) -> Iterator[GitProcess]:
        """Start a command in the clone.

        Raises:
            SourceUnavailable: the clone can't be read, or lacks the commit. In place of the GitFailure that the
                block raises, too.
        """
        options = build_command("git", self.root, settings=_PLAIN_OUTPUT)
        environment = {**build_environment(self.root), "GIT_LITERAL_PATHSPECS": "1"}
        try:
            with open_process([*options, *arguments], environment, _MAX_SECONDS, lines) as process:
                yield process
        except GitFailure as error:
            if any(words in error.stderr for words in UNKNOWN_COMMIT):
                raise SourceUnavailable(f"The clone of {repository} does not have that commit.") from error
            raise SourceUnavailable(f"The clone of {repository} can't be read: {error}.") from error


def load_files(reader: CloneReader, pull: PullRequest) -> PullRequest:
    """Return a merge of the clone with the patches of its files, and its commit message as its description.

    A squash commit's message has the description, or the messages of its branch; its title stands beside it.

    Raises:
        SourceUnavailable: the commit can't be read.
    """
    listed = (pull.files or ())[:_MAX_FILES]
    sides = (build_revision(pull.commit, DiffSide.OLD), build_revision(pull.commit))
    try:
        output = _read_diff(reader, pull, *sides)
    except SourceUnavailable:
        # the first commit has no parent
        output = _read_diff(reader, pull, "--root", "--no-commit-id", sides[1])
    # both lists are in git's order. A file that has no patch in the clone's diff has none at GitHub either
    patches = [_extract_patch(section) for section in _split_sections(output)][: len(listed)]
    patches += [None] * (len(listed) - len(patches))
    items = [_describe_file(file, patch) for file, patch in zip(listed, patches, strict=True)]
    return replace(pull, files=tuple(parse_files(items)), body=extract_description(pull.commit_message))


def _read_diff(reader: CloneReader, pull: PullRequest, *revisions: str) -> bytes:
    with reader.open_command(pull.repository, "diff-tree", *_DIFF_OPTIONS, *revisions, "--") as process:
        output = process.output.read(_MAX_DIFF + 1)
        if len(output) <= _MAX_DIFF:
            process.require_success()
            return output
    # the last file of a diff that is cut is not whole
    return output[: max(output.rfind(b"\ndiff --git "), 0)]


def _split_sections(output: bytes) -> Iterator[bytes]:
    """Yield the part of each changed file, which begins with its ``diff --git`` line."""
    # no line of a file begins so, as each has a mark. A file that became a link has two parts with the same line.
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
