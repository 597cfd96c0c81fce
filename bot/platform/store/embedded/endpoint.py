"""Where the embedded store of a state directory listens, and what is asked of it before anybody uses it.

Without a library for Redis: to import one takes a fifth of a second, and each first command waits for the keeper.
"""

from __future__ import annotations

import hashlib
import os
import socket
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BufferedRWPair
from pathlib import Path

from bot.errors import StoreUnavailable

# the length that the kernel allows for a socket's path: 108 bytes on Linux, 104 on macOS, with the closing NUL
MAX_SOCKET_PATH = 103
# seconds for a server to answer after its start, or to end after it was stopped
START_SECONDS = 15.0
# seconds for one answer
_TIMEOUT_SECONDS = 5.0
# the file in a state directory that its keeper locks
KEEPER_LOCK_FILE = "keeper.lock"
SOCKET_FILE = "valkey.sock"


def get_socket_path(state: Path) -> Path:
    """Return the path by which clients reach the server of a state directory.

    This is the socket in the directory or, if its path is too long for the kernel, a link to it with a short path:
    in the folder for temporary files, or in /tmp if that path is too long as well.
    """
    path = state.resolve() / SOCKET_FILE
    if _is_short_enough(path):
        return path
    name = hashlib.sha256(os.fsencode(path.parent)).hexdigest()[:16]
    folders = (tempfile.gettempdir(), "/tmp")  # noqa: S108 (the folder in it is checked to be ours)
    paths = [Path(folder) / f"prdigest-{os.getuid()}-{name}" / SOCKET_FILE for folder in folders]
    return next((path for path in paths if _is_short_enough(path)), paths[-1])


def _is_short_enough(path: Path) -> bool:
    return len(os.fsencode(path)) <= MAX_SOCKET_PATH


def link_socket(state: Path) -> None:
    """Create the link to the socket of a state directory if its own path is too long.

    Raises OSError: it can't be created; StoreUnavailable: its folder belongs to another user, as may be in the
    shared /tmp.
    """
    path, target = get_socket_path(state), state.resolve() / SOCKET_FILE
    if path == target:
        return
    path.parent.mkdir(mode=0o700, exist_ok=True)
    status = path.parent.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
        raise StoreUnavailable(f"{path.parent} belongs to another user: set PRDIGEST_STATE_DIR to a shorter path.")
    if not path.is_symlink() or path.readlink() != target:
        path.unlink(missing_ok=True)
        # two processes may create it at once
        with suppress(FileExistsError):
            path.symlink_to(target)


def unlink_socket(state: Path) -> None:
    path = get_socket_path(state)
    if path.parent != state.resolve():
        with suppress(OSError):
            path.unlink(missing_ok=True)
            path.parent.rmdir()


class ServerConnection:
    """A connection to an embedded server. Whatever goes wrong is an OSError; nothing is tried again."""

    def __init__(self, stream: BufferedRWPair) -> None:
        self._stream = stream

    def count_other_clients(self) -> int:
        length = self.send_command(b"CLIENT LIST TYPE normal")
        if not length.startswith(b"$"):
            raise ConnectionError(f"The server does not list its clients: {length!r}")
        lines = self._stream.read(int(length[1:]))
        # the end of the reply
        self._stream.readline()
        # one line for each client
        return lines.count(b"\n") - 1

    def shut_down(self) -> None:
        """Tell the server to end, and wait until it closes the connection. Its log of writes has the data."""
        self.send_command(b"SHUTDOWN NOSAVE")

    def send_command(self, command: bytes) -> bytes:
        """Send a command, and return the first line of the reply; nothing if the connection ends."""
        self._stream.write(command + b"\r\n")
        self._stream.flush()
        return self._stream.readline().rstrip(b"\r\n")


@contextmanager
def open_connection(path: Path) -> Iterator[ServerConnection]:
    """Connect to the server that listens at a path, for the block. Raises OSError if nobody listens there."""
    with socket.socket(socket.AF_UNIX) as plain:
        plain.settimeout(_TIMEOUT_SECONDS)
        plain.connect(os.fspath(path))
        with plain.makefile("rwb") as stream:
            yield ServerConnection(stream)


def is_answering(path: Path) -> bool:
    """Return whether a server has loaded its data and answers, also that its disk is full: a start won't help."""
    try:
        with open_connection(path) as connection:
            return connection.send_command(b"PING").startswith((b"+PONG", b"-MISCONF "))
    except OSError:
        return False
