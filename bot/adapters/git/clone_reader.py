"""Commands that read a local clone at a commit, in place of a mirror. They need no network and change nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bot.adapters.git.commands import build_command, build_environment
from bot.adapters.git.mirror_reader import UNKNOWN_COMMIT
from bot.adapters.git.processes import GitFailure, GitProcess, open_process
from bot.domain.errors import SourceUnavailable
from bot.domain.pull_requests.models import Repository

# settings of the clone that would change what the commands write
_PLAIN_OUTPUT = (
    "diff.suppressBlankEmpty=false",
    "grep.column=false",
    "log.follow=false",
    "submodule.recurse=false",
)


class CloneReader:
    """Reader of the clone in a folder, whatever repository is asked for. ``seconds`` limits one command.

    The settings of this user count, as one of them allows clones of other owners.
    """

    def __init__(self, path: Path, program: str = "git", seconds: float = 30.0) -> None:
        self._path = path
        self._program = program
        self._seconds = seconds

    @contextmanager
    def open_command(
        self, repository: Repository, *arguments: str | bytes, lines: bytes = b""
    ) -> Iterator[GitProcess]:
        """Start a command in the clone.

        Raises:
            SourceUnavailable: the clone can't be read, or lacks the commit. In place of the GitFailure that the
                block raises, too.
        """
        options = build_command(self._program, self._path, settings=_PLAIN_OUTPUT)
        environment = {**build_environment(self._path), "GIT_LITERAL_PATHSPECS": "1"}
        try:
            with open_process([*options, *arguments], environment, self._seconds, lines) as process:
                yield process
        except GitFailure as error:
            if any(words in error.stderr for words in UNKNOWN_COMMIT):
                raise SourceUnavailable(f"The clone of {repository} does not have that commit.") from error
            raise SourceUnavailable(f"The clone of {repository} can't be read: {error}.") from error
