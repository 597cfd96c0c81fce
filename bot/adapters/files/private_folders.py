"""Folders and files that only this user may read: what people asked and wrote is in them."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import IO

_FOLDER, _FILE = 0o700, 0o600
_OTHERS = 0o077


def make_private(folder: Path) -> None:
    """Make a folder that only this user may enter, and the parents that are missing. Raises OSError."""
    for each in reversed((folder, *folder.parents)):
        if not each.is_dir():
            each.mkdir(mode=_FOLDER, exist_ok=True)


def open_private(path: Path) -> IO[bytes]:
    """Open a file to add to it; a new one is for this user alone. Raises OSError."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, _FILE), "ab")


def tighten(folder: Path, ours: frozenset[str]) -> None:
    """Take from others what an earlier version let them read: all that has one of the names in a folder.

    The folder itself is closed too, unless it holds something else: then it serves others as well.

    Raises:
        OSError: a mode can't be changed.
    """
    names = {each.name for each in folder.iterdir()}
    for name in names & ours:
        _close(folder / name)
        for inside, folders, files in os.walk(folder / name):
            for each in (*folders, *files):
                _close(Path(inside) / each)
    if names <= ours:
        _close(folder)


def _close(path: Path) -> None:
    """What is gone meanwhile, or another user's, is left; a socket and a link have no mode to change."""
    with suppress(FileNotFoundError):
        found = path.lstat()
        kinds = {stat.S_IFDIR: _FOLDER, stat.S_IFREG: _FILE}
        mode = kinds.get(stat.S_IFMT(found.st_mode))
        if mode and found.st_mode & _OTHERS and found.st_uid == os.getuid():
            path.chmod(mode)
