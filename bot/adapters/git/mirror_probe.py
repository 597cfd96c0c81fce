"""The doctor's look at mirrors: nothing is fetched."""

from __future__ import annotations

import re
from pathlib import Path

from bot.adapters.git.isolation import build_isolated_environment
from bot.adapters.git.mirror_folder import MirrorFolder, measure_size
from bot.adapters.git.processes import GitFailure, run_git
from bot.domain.pull_requests.models import Repository
from bot.ports.probes import MirrorStatus
from impact.git.commands import build_command

# seconds and bytes of one command
_SECONDS, _MAX_OUTPUT = 5.0, 1_000
_VERSION = re.compile(rb"git version (\d{1,4})\.(\d{1,4})")


class GitMirrorProbe:
    """:class:`bot.ports.probes.MirrorProbe` of the mirrors in a folder."""

    def __init__(self, root: Path, program: str = "git") -> None:
        self._root = root
        self._program = program

    def read_version(self) -> tuple[int, int] | None:
        """Return the version of git; None if there is no such program."""
        command = build_command(self._program, Path.cwd(), "--version")
        try:
            output = run_git(command, build_isolated_environment(Path.cwd()), _SECONDS, _MAX_OUTPUT)
        except GitFailure:
            return None
        match = _VERSION.match(output)
        return (int(match[1]), int(match[2])) if match else None

    def read_status(self, repository: Repository) -> MirrorStatus:
        """Return the state of the mirror of a repository."""
        folder = MirrorFolder(self._root, repository)
        failure = folder.read_failure()
        return MirrorStatus(
            exists=folder.exists,
            problem=folder.find_problem(),
            size=measure_size(folder.path),
            updated_at=folder.read_update_time(),
            failure=failure.sentence if failure else "",
        )
