"""Where the embedded store of a state directory listens."""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from bot.errors import StoreUnavailable

# the length that the kernel allows for a socket's path: 108 bytes on Linux, 104 on macOS, with the closing NUL
MAX_SOCKET_PATH = 103
# seconds for a server to answer after its start, or to end after it was stopped
START_SECONDS = 15.0
# the file in a state directory that its keeper locks
KEEPER_LOCK_FILE = "keeper.lock"
SOCKET_FILE = "valkey.sock"


def get_socket_path(state: Path) -> Path:
    """Return the path by which clients reach the server of a state directory.

    This is the socket in the directory or, if its path is too long for the kernel, a link to it with a short path.
    """
    path = state.resolve() / SOCKET_FILE
    return path if _is_short_enough(path) else _build_short_path(state.resolve())


def link_socket(state: Path) -> None:
    """Create the link to the socket of a state directory if its own path is too long.

    Raises:
        OSError: it can't be created.
        StoreUnavailable: its folder belongs to another user.
    """
    path, socket = get_socket_path(state), state.resolve() / SOCKET_FILE
    if path == socket:
        return
    path.parent.mkdir(mode=0o700, exist_ok=True)
    _require_own_folder(path.parent)
    if not path.is_symlink() or path.readlink() != socket:
        path.unlink(missing_ok=True)
        # two processes may create it at once
        with suppress(FileExistsError):
            path.symlink_to(socket)


def unlink_socket(state: Path) -> None:
    """Remove the link to the socket, if there is one."""
    path = get_socket_path(state)
    if path.parent != state.resolve():
        with suppress(OSError):
            path.unlink(missing_ok=True)
            path.parent.rmdir()


def _is_short_enough(path: Path) -> bool:
    """Return whether the kernel accepts a path for a socket."""
    return len(os.fsencode(path)) <= MAX_SOCKET_PATH


def _build_short_path(state: Path) -> Path:
    """Return a path in the folder for temporary files, or in /tmp if that path is too long as well."""
    name = hashlib.sha256(os.fsencode(state)).hexdigest()[:16]
    folders = (tempfile.gettempdir(), "/tmp")  # noqa: S108 (the folder in it is checked to be ours)
    paths = [Path(folder) / f"prdigest-{os.getuid()}-{name}" / SOCKET_FILE for folder in folders]
    return next((path for path in paths if _is_short_enough(path)), paths[-1])


def _require_own_folder(folder: Path) -> None:
    """Raise StoreUnavailable for a folder of another user, which may exist in the shared /tmp."""
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
        raise StoreUnavailable(f"{folder} belongs to another user: set PRDIGEST_STATE_DIR to a shorter path.")
