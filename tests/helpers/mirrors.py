"""Mirrors as the bot keeps them, of small repositories that are written for them."""

import tempfile
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from bot.platform.git.folder import BRANCH, MirrorFolder, hold_file
from impact.repository import Repository
from impact.testing.clones import building, git


def put_mirror(root: Path, repository: str, states: Sequence[Mapping[str, bytes | None]]) -> list[str]:
    """Make the mirror of a repository with a commit for each state; gives their hashes."""
    made = Path(tempfile.mkdtemp(dir=root.parent)) / "made"
    with building(made) as builder:
        marks = [builder.commit(f"State {at}", files) for at, files in enumerate(states)]
        commits = [builder.sha(mark) for mark in marks]
    fill_mirror(root, repository, made)
    return commits


def fill_mirror(root: Path, repository: str, made: Path) -> None:
    """Make the mirror of a repository from a clone."""
    folder = MirrorFolder(root, Repository.parse(repository))
    with hold_file(folder.lock, 5) as is_held:
        assert is_held
        new = folder.make_new()
        git(new, "init", "-q", "--bare", "--template=", ".")
        folder.write_settings(new)
        git(new, "fetch", "-q", str(made), f"+refs/heads/main:{BRANCH}")
        folder.put_in_place(new)
        folder.record_update(datetime.now(UTC))
