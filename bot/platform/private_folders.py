"""Folders and files that only this user may read, because they hold what people asked and wrote."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import IO

_FOLDER_MODE, _FILE_MODE = 0o700, 0o600
_OTHERS_MASK = 0o077


def make_private_folder(folder: Path) -> None:
    """Create a folder that only this user may enter, and its missing parents. Raise OSError."""
    for each in reversed((folder, *folder.parents)):
        if not each.is_dir():
            each.mkdir(mode=_FOLDER_MODE, exist_ok=True)


def open_private_file(path: Path) -> IO[bytes]:
    """Open a file for appending. A new file is readable by this user alone. Raise OSError."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, _FILE_MODE), "ab")


def try_lock(descriptor: int, *, is_shared: bool = False) -> bool:
    """Lock an open file unless another process holds the lock, and return whether it is locked now."""
    # what only platforms with locks have
    from fcntl import LOCK_EX, LOCK_NB, LOCK_SH, flock  # noqa: PLC0415

    try:
        flock(descriptor, (LOCK_SH if is_shared else LOCK_EX) | LOCK_NB)
    except BlockingIOError:
        return False
    return True


def restrict_permissions(folder: Path, ours: frozenset[str]) -> None:
    """Remove the access of other users to the named files and folders in a folder.

    The folder itself is restricted too, unless it holds something else and so serves others as well. Raises
    OSError: a mode can't be changed.
    """
    names = {each.name for each in folder.iterdir()}
    for name in names & ours:
        _restrict_mode(folder / name)
        for inside, folders, files in os.walk(folder / name):
            for each in (*folders, *files):
                _restrict_mode(Path(inside) / each)
    if names <= ours:
        _restrict_mode(folder)


def _restrict_mode(path: Path) -> None:
    """Restrict the mode of a file or folder of this user. Skip a missing one, sockets and links."""
    with suppress(FileNotFoundError):
        status = path.lstat()
        kinds = {stat.S_IFDIR: _FOLDER_MODE, stat.S_IFREG: _FILE_MODE}
        mode = kinds.get(stat.S_IFMT(status.st_mode))
        if mode and status.st_mode & _OTHERS_MASK and status.st_uid == os.getuid():
            path.chmod(mode)
