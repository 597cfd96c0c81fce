"""Clients that keep the web process waiting, or tell twice where a request ends, keep nobody else out."""

import http.client
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

import pytest
from flask import Flask, request

from bot.http_server import ConnectionLimits, serve_app
from tests.helpers.checks import eventually, is_readable
from tests.hostile.tables.framings import FRAMINGS

pytestmark = pytest.mark.slow

LOCAL = "127.0.0.1"
BRIEF = ConnectionLimits(request_timeout=0.5, idle_timeout=2.0, max_connections=60, max_per_address=20)
# several times the longest wait of these bounds, on a busy machine
PATIENCE = 20.0


def app() -> Flask:
    made = Flask(__name__)
    made.add_url_rule("/healthz", "health", view_func=lambda: "here")
    made.add_url_rule("/slack/events", "events", view_func=lambda: str(len(request.get_data())), methods=["POST"])
    return made


@contextmanager
def server(bounds: ConnectionLimits = BRIEF) -> Iterator[int]:
    with serve_app(app(), LOCAL, 0, 1_000_000, bounds) as port:
        yield port


def open_socket(port: int, source: str = LOCAL) -> socket.socket:
    return socket.create_connection((LOCAL, port), timeout=PATIENCE, source_address=(source, 0))


def is_closed(connection: socket.socket) -> bool:
    """Whether the server has let go of a connection on which nothing came."""
    if not is_readable(connection.fileno(), 0):
        return False
    try:
        return connection.recv(65_536) == b""
    except ConnectionError:
        return True


def answer_of(port: int, source: str = LOCAL) -> bytes:
    connection = http.client.HTTPConnection(LOCAL, port, timeout=PATIENCE, source_address=(source, 0))
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().read()
    finally:
        connection.close()


def answer_at_last(port: int, source: str) -> bytes:
    """The answer to a client that asks again if it was so slow that it was let go before its request came."""
    for _ in range(5):
        with suppress(ConnectionError):
            return answer_of(port, source)
    return b""


def is_let_go(connection: socket.socket, drip: bytes) -> bool:
    end = time.monotonic() + PATIENCE
    sent = 0
    while time.monotonic() < end:
        try:
            connection.send(drip[sent % len(drip) :][:1])
        except ConnectionError:
            return True
        sent += 1
        if is_closed(connection):
            return True
        time.sleep(0.1)
    return False


@pytest.mark.parametrize(
    "drip",
    [
        b"GET /healthz HTTP/1.1\r\nX-Long: " + b"a" * 1_000,
        b"\r\n\r\n",
        b"POST /slack/events HTTP/1.1\r\nHost: x\r\nContent-Length: 900000\r\n\r\n" + b"a" * 1_000,
        b"POST /slack/events HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1\r\na\r\n" * 200,
    ],
    ids=["headers", "blank lines", "a body", "chunks"],
)
def test_a_request_has_to_be_whole_in_time_however_its_bytes_come(drip: bytes) -> None:
    head, _, rest = drip.rpartition(b"\r\n\r\n")
    with server() as port, open_socket(port) as connection:
        if head:
            connection.sendall(head + b"\r\n\r\n")
        assert is_let_go(connection, rest or drip)


def test_a_connection_on_which_nothing_comes_is_let_go() -> None:
    with server() as port, open_socket(port) as connection:
        eventually(lambda: is_closed(connection), PATIENCE)


def test_a_connection_stays_open_between_requests() -> None:
    """Longer than a request may take: Slack's and a proxy's connections are used again."""
    with server(ConnectionLimits(request_timeout=0.3, idle_timeout=30.0)) as port:
        connection = http.client.HTTPConnection(LOCAL, port, timeout=PATIENCE)
        for pause in (0.0, 2.5):
            time.sleep(pause)
            connection.request("GET", "/healthz")
            assert connection.getresponse().read() == b"here"
        connection.close()


def open_many(stack: ExitStack, port: int, count: int, source: str, begin: bytes) -> list[socket.socket]:
    opened = []
    for _ in range(count):
        connection = stack.enter_context(open_socket(port, source))
        if begin:
            connection.sendall(begin)
        opened.append(connection)
    return opened


BEGINNINGS = {
    "idle": b"",
    "in the middle of a request": b"GET /healthz HTTP/1.1\r\nX: ",
    "after an answer": b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n",
}


@pytest.mark.parametrize("begin", BEGINNINGS.values(), ids=BEGINNINGS)
@pytest.mark.parametrize("sources", [1, 8], ids=["one address", "eight addresses"])
def test_nobody_is_shut_out_by_a_thousand_connections(sources: int, begin: bytes) -> None:
    """They wait for as long as they may; a client with a whole request is answered at once."""
    patient = ConnectionLimits(
        request_timeout=600.0, idle_timeout=600.0, max_connections=60, max_per_address=20, grace_period=0.0
    )
    with server(patient) as port, ExitStack() as stack:
        for number in range(sources):
            opened = open_many(stack, port, 480 // sources, f"127.0.0.{number + 1}", begin)
            assert answer_at_last(port, f"127.0.0.{number + 1}") == b"here"
        assert answer_at_last(port, "127.0.0.99") == b"here"
        eventually(lambda: sum(map(is_closed, opened)) >= len(opened) - patient.max_per_address, PATIENCE)


def test_the_bounds_hold_with_the_numbers_of_the_product() -> None:
    """Whoever comes while all are young waits at the door for a moment."""
    with server(ConnectionLimits()) as port, ExitStack() as stack:
        for number in range(1, 4):
            open_many(stack, port, 220, f"127.0.0.{number}", b"GET /")
        assert answer_of(port) == b"here"


def test_all_of_many_who_come_at_once_are_answered() -> None:
    """As Slack does through a proxy, which is one address, and slowly: each request comes a while later."""
    with server(ConnectionLimits()) as port, ExitStack() as stack:
        opened = open_many(stack, port, 700, LOCAL, b"")
        for connection in opened:
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert [b" 200 " in connection.recv(65_536) for connection in opened] == [True] * len(opened)


def test_a_connection_that_is_being_answered_is_not_let_go() -> None:
    """However many come meanwhile."""
    made = Flask(__name__)

    @made.get("/slow")
    def answer() -> str:
        time.sleep(1.5)
        return "slow"

    bounds = ConnectionLimits(request_timeout=0.3, idle_timeout=0.3, max_connections=10, max_per_address=5)
    with serve_app(made, LOCAL, 0, 1_000_000, bounds) as port, ExitStack() as stack:
        asked = stack.enter_context(open_socket(port))
        asked.sendall(b"GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
        open_many(stack, port, 40, LOCAL, b"")
        assert b" 200 " in asked.recv(65_536)


def statuses(port: int, sent: bytes) -> list[int]:
    """The status of every answer until the server closes the connection."""
    with open_socket(port) as connection:
        connection.sendall(sent)
        received = b"".join(iter(lambda: _some(connection), b""))
    return [int(line.split()[1]) for line in received.split(b"\r\n") if line.startswith(b"HTTP/1.")]


def _some(connection: socket.socket) -> bytes:
    try:
        return connection.recv(65_536)
    except ConnectionError:
        return b""


@pytest.mark.parametrize(("sent", "status"), [row[1:] for row in FRAMINGS], ids=[row[0] for row in FRAMINGS])
def test_a_request_whose_end_is_in_doubt_is_refused(sent: bytes, status: int) -> None:
    with server() as port:
        assert statuses(port, sent) == [status]
