"""A connection to the embedded server for the few things that are asked of it before anybody uses it.

Without a library for Redis: to import one takes a fifth of a second, and each first command waits for the keeper.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedRWPair
from pathlib import Path

_TIMEOUT_SECONDS = 5.0


class ServerConnection:
    """A connection to an embedded server. Whatever goes wrong is an OSError; nothing is tried again."""

    def __init__(self, stream: BufferedRWPair) -> None:
        self._stream = stream

    def is_answering(self) -> bool:
        """Return whether the server has loaded its data and answers.

        One whose disk is full says so in place of a PONG. It runs all the same: another start would not help.
        """
        return self._send_command(b"PING").startswith((b"+PONG", b"-MISCONF "))

    def count_other_clients(self) -> int:
        """Return how many other clients are connected."""
        length = self._send_command(b"CLIENT LIST TYPE normal")
        if not length.startswith(b"$"):
            raise ConnectionError(f"The server does not list its clients: {length!r}")
        lines = self._stream.read(int(length[1:]))
        # the end of the reply
        self._stream.readline()
        # one line for each client
        return lines.count(b"\n") - 1

    def shut_down(self) -> None:
        """Tell the server to end, and wait until it closes the connection. Its log of writes has the data."""
        self._send_command(b"SHUTDOWN NOSAVE")

    def _send_command(self, command: bytes) -> bytes:
        """Send a command, and return the first line of the reply; nothing if the connection ends."""
        self._stream.write(command + b"\r\n")
        self._stream.flush()
        return self._stream.readline().rstrip(b"\r\n")


@contextmanager
def open_connection(path: Path) -> Iterator[ServerConnection]:
    """Connect to the server that listens at a path, for the block.

    Raises:
        OSError: nobody listens there.
    """
    with socket.socket(socket.AF_UNIX) as plain:
        plain.settimeout(_TIMEOUT_SECONDS)
        plain.connect(os.fspath(path))
        with plain.makefile("rwb") as stream:
            yield ServerConnection(stream)


def is_answering(path: Path) -> bool:
    """Return whether a server answers at the path."""
    try:
        with open_connection(path) as connection:
            return connection.is_answering()
    except OSError:
        return False
