"""The keeper of an embedded store: starts the server, and stops it a few seconds after its last use."""

from __future__ import annotations

import fcntl
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from bot.platform.private_folders import open_private_file
from bot.platform.store.embedded.process import run_server
from bot.platform.store.embedded.server_connection import is_answering, open_connection
from bot.platform.store.embedded.socket_path import KEEPER_LOCK_FILE, START_SECONDS, get_socket_path

# seconds without a client until the keeper ends; a command soon after another needs no new server
LINGER_SECONDS = 3.0
# seconds for the first client to connect
_FIRST_CLIENT_SECONDS = 10.0
# a lock held for longer than this is a keeper's, not that of a process that checks for a keeper
_LOCK_CHECK_SECONDS = 1.0
_POLL_SECONDS = 0.05
# only this user may read what the keeper and the server write
_UMASK = 0o077


def has_keeper(state: Path) -> bool:
    """Return whether a keeper runs for a state directory."""
    with _open_lock_file(state) as descriptor:
        return not try_lock(descriptor, fcntl.LOCK_SH)


def run_keeper(state: Path) -> None:
    """Run the server of a state directory until nobody uses it. Return at once if another keeper runs it."""
    path = get_socket_path(state)
    with _open_lock_file(state) as descriptor:
        if not _acquire_keeper_lock(descriptor, path):
            return
        if is_answering(path):
            # the server's keeper died; this process replaces it
            _wait_until_unused(path, LINGER_SECONDS)
            return
        with run_server(state / "valkey") as server:
            # the server loads its data at about a hundred megabytes a second
            while not is_answering(path):
                if server.poll() is not None:
                    sys.exit(
                        f"The server ended with code {server.returncode}: see {state / 'valkey' / 'valkey.log'}."
                    )
                time.sleep(_POLL_SECONDS)
            _wait_until_unused(path, _FIRST_CLIENT_SECONDS)


def _acquire_keeper_lock(descriptor: int, path: Path) -> bool:
    """Acquire the keeper's lock, and return whether this succeeded.

    Wait while another keeper stops its server; give up if that one goes on.
    """
    began = time.monotonic()
    while not try_lock(descriptor):
        waited = time.monotonic() - began
        if waited > START_SECONDS or (waited > _LOCK_CHECK_SECONDS and is_answering(path)):
            return False
        time.sleep(_POLL_SECONDS)
    return True


@contextmanager
def _open_lock_file(state: Path) -> Iterator[int]:
    """Open the lock file for the block, and yield its descriptor."""
    with open_private_file(state / KEEPER_LOCK_FILE) as file:
        yield file.fileno()


def try_lock(descriptor: int, kind: int = fcntl.LOCK_EX) -> bool:
    """Lock an open file unless another process holds the lock, and return whether it is locked now."""
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _wait_until_unused(path: Path, idle_seconds: float) -> None:
    """Wait until no other client was connected for ``idle_seconds``, then stop the server.

    Return as well if somebody else stopped it.
    """
    with suppress(OSError), open_connection(path) as connection:
        unused_since = time.monotonic()
        while time.monotonic() - unused_since < idle_seconds:
            time.sleep(LINGER_SECONDS / 10)
            if connection.count_other_clients():
                unused_since, idle_seconds = time.monotonic(), LINGER_SECONDS
        connection.shut_down()


if __name__ == "__main__":
    os.umask(_UMASK)
    # the caller waits for this process, and must neither wait for the keeper nor reap it as its child
    if os.fork() == 0:
        run_keeper(Path(sys.argv[1]))
