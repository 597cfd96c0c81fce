"""The server below the local Slack and its page: what it reads, and what it does not."""

import socket
import time
from collections.abc import Iterator

import pytest

from localslack.loopback import Loopback, Request, Response


class Echo(Loopback):
    max_bytes = 5

    def handle(self, request: Request) -> Response:
        return Response(200, request.body)


@pytest.fixture
def echo() -> Iterator[Echo]:
    with Echo() as server:
        yield server


def answer(server: Loopback, sent: bytes) -> bytes:
    """All that comes until the server hangs up."""
    with socket.create_connection(("127.0.0.1", int(server.url.rpartition(":")[2])), timeout=5) as line:
        line.sendall(sent)
        line.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: line.recv(4_096), b""))


@pytest.mark.parametrize(
    ("sent", "status", "fragment"),
    [
        (b"POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\nhi", 200, b"hi"),
        (b"POST / HTTP/1.1\r\n\r\n", 200, b""),
        (b"POST / HTTP/1.1\r\nContent-Length: 6\r\n\r\n", 400, b"too large"),
        (b"POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n", 400, b"too large"),
        (b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400, b"length"),
        (b"POST / HTTP/1.1\r\nContent-Length: two\r\n\r\n", 400, b"length"),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n", 400, b"length"),
        (b"GET http://[ HTTP/1.1\r\n\r\n", 400, b"Invalid"),
    ],
)
def test_bodies_are_read_as_far_as_their_length_is_known_and_small(
    echo: Echo, sent: bytes, status: int, fragment: bytes
) -> None:
    response = answer(echo, sent)
    assert response.startswith(b"HTTP/1.1 %d " % status)
    assert fragment in response.partition(b"\r\n\r\n")[2]
    # what was not read is not taken for another request
    assert response.count(b"HTTP/1.1") == 1


def test_it_ends_at_once_and_answers_nobody_then() -> None:
    with Echo() as server:
        began = time.monotonic()
    # its thread would be waited for for five seconds
    assert time.monotonic() - began < 4
    with pytest.raises(OSError, match="refused"):
        answer(server, b"")
