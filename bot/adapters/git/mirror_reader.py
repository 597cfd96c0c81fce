"""Commands that read a mirror at a commit. They need no network and change nothing."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bot.adapters.git.isolation import build_isolated_environment
from bot.adapters.git.mirror_folder import MirrorFolder
from bot.adapters.git.processes import GitFailure, GitProcess, open_process
from bot.domain.errors import SourceUnavailable
from bot.domain.pull_requests.diff import DiffSide
from bot.domain.pull_requests.models import Repository
from impact.git.commands import build_command

log = logging.getLogger(__name__)

# a part of a hash may be that of another commit by now
_WHOLE_HASH = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
# what git says of a commit that it does not have
UNKNOWN_COMMIT = ("Not a valid object name", "unable to resolve revision", "bad revision", "unknown revision")


class MirrorReader:
    """Reader of the mirrors in a folder. ``seconds`` is the limit of one command."""

    def __init__(self, root: Path, program: str = "git", seconds: float = 10.0) -> None:
        self._root = root
        self._program = program
        self._seconds = seconds

    @contextmanager
    def open_command(
        self, repository: Repository, *arguments: str | bytes, lines: bytes = b""
    ) -> Iterator[GitProcess]:
        """Start a command in the mirror of a repository.

        Raises:
            SourceUnavailable: there is no mirror, it can't be read, or it lacks the commit. In place of the
                GitFailure that the block raises, too.
        """
        folder = MirrorFolder(self._root, repository)
        problem = folder.find_problem()
        if problem:
            raise SourceUnavailable(f"The mirror of {repository} can't be used: {problem}.")
        options = build_command(self._program, folder.path, "--git-dir=.")
        try:
            with open_process(
                [*options, *arguments], build_isolated_environment(folder.path), self._seconds, lines
            ) as process:
                yield process
        except GitFailure as error:
            raise self._translate_failure(error, folder, repository) from error

    def _translate_failure(
        self, error: GitFailure, folder: MirrorFolder, repository: Repository
    ) -> SourceUnavailable:
        """Return the error of the domain, and record damage."""
        if error.hints_at_damage:
            folder.record_damage()
            log.warning("the mirror of %s is damaged, the next update makes it again: %s", repository, error)
        elif any(words in error.stderr for words in UNKNOWN_COMMIT):
            return SourceUnavailable(f"The mirror of {repository} does not have that commit.")
        return SourceUnavailable(f"The mirror of {repository} can't be read: {error}.")


def build_revision(commit: str, side: DiffSide = DiffSide.NEW) -> str:
    """Return git's name for a commit, or for its first parent. Raises SourceUnavailable unless it is a hash.

    With the name of its type, git says of an unknown commit that it is unknown, not that it is broken.
    """
    sha = commit.lower()
    if not _WHOLE_HASH.fullmatch(sha):
        raise SourceUnavailable("A commit can't be read without its whole hash.")
    return f"{sha}^1" if side is DiffSide.OLD else f"{sha}^{{commit}}"


def encode_path(path: str) -> bytes | None:
    """Return a path as git has it; None for what can't be one, such as a path with ``..`` in it."""
    try:
        name = path.encode()
    except UnicodeEncodeError:
        return None
    is_path = b"\0" not in name and not {b"", b".", b".."} & set(name.split(b"/"))
    return name if is_path else None
