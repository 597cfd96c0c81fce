"""Calls to the embedded server. Its keeper needs three commands; to import a client library would take longer."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from io import BufferedReader
from pathlib import Path

# ends a server, which then hangs up without an answer
STOP_COMMAND = "SHUTDOWN NOSAVE"
# seconds for each step of a call
_TIMEOUT = 5.0

# sends a command and returns the answer. Raises OSError
Call = Callable[[str], bytes]


@contextmanager
def open_socket(path: Path) -> Iterator[Call]:
    """Connect to the server at the path of a socket for the block, and yield what sends a command.

    Raises:
        OSError: nobody answers there, or with an error, as a server does that loads its data.
    """
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(_TIMEOUT)
        connection.connect(str(path))
        with connection.makefile("rb") as answers:
            yield partial(_call, connection, answers)


def _call(connection: socket.socket, answers: BufferedReader, command: str) -> bytes:
    connection.sendall(f"{command}\r\n".encode())
    line = answers.readline()
    kind, content = line[:1], line[1:].strip()
    if kind == b"+":
        return content
    if kind == b"$":
        # the line's end follows
        return answers.read(int(content) + 2)[:-2]
    raise OSError(content.decode(errors="replace") or "the server hung up")
