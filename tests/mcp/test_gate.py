"""What the server over HTTP lets through: raw requests to a real server, in this process for short limits."""

import http.client
import json
import logging
import resource
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.server import Server

from bot.app import App
from bot.errors import ConfigurationError
from bot.mcp.calls import AgentTools
from bot.mcp.declaration import TextPage, Tool
from bot.mcp.http import HttpLimits, HttpServer
from bot.mcp.server import build_server
from bot.mcp.tools import TOOLS
from bot.settings import ListenAddress
from tests.helpers.agents import TOKEN, is_alive, make_tools
from tests.helpers.checks import eventually, is_one_sentence, is_readable

pytestmark = pytest.mark.slow

LIMITS = HttpLimits(
    body_bytes=4_000,
    request_seconds=0.6,
    connection_seconds=3.0,
    connections=8,
    requests=6,
    grace_seconds=0.2,
    header_bytes=4_000,
)
PATIENT = replace(LIMITS, request_seconds=600.0, connection_seconds=600.0)
AUTHORIZED = f"Bearer {TOKEN}"
JSON = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


@contextmanager
def serving(protocol: Server[Any], limits: HttpLimits) -> Iterator[int]:
    hosts = frozenset({"mcp.example.com"})
    server = HttpServer(protocol, TOKEN, ListenAddress("127.0.0.1", 0), hosts, limits)
    thread = threading.Thread(target=server.run)
    thread.start()
    eventually(lambda: is_alive(server.port))
    try:
        yield server.port
    finally:
        server.stop()
        thread.join(20)
    assert not thread.is_alive()


@pytest.fixture(scope="module")
def port(app: App) -> Iterator[int]:
    with serving(build_server(make_tools(app)), LIMITS) as served:
        yield served


@pytest.fixture(scope="module")
def patient_port(app: App) -> Iterator[int]:
    with serving(build_server(make_tools(app)), PATIENT) as served:
        yield served


def ask(
    port: int, body: object = LIST, method: str = "POST", path: str = "/mcp", **headers: str
) -> tuple[int, str]:
    """The status and the text of an answer; a header with an empty value is left out."""
    sent = {"Host": f"127.0.0.1:{port}", "Authorization": AUTHORIZED, **JSON, **headers}
    text = body if isinstance(body, str) else json.dumps(body)
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=20)) as connection:
        connection.putrequest(method, path, skip_host=True)
        for name, value in {**sent, "Content-Length": str(len(text))}.items():
            if value:
                connection.putheader(name, value)
        connection.endheaders(text.encode())
        answer = connection.getresponse()
        assert answer.getheader("Connection") == "close"
        return answer.status, answer.read().decode()


def test_a_request_with_the_token_is_answered(port: int) -> None:
    status, text = ask(port)
    assert status == 200
    assert len(json.loads(text)["result"]["tools"]) == len(TOOLS)


def test_clients_of_earlier_versions_begin_with_a_handshake(port: int) -> None:
    began = {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "tests", "version": "1"}}
    status, text = ask(port, {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": began})
    assert status == 200
    answered = json.loads(text)["result"]
    assert answered["protocolVersion"] == "2025-03-26"
    assert answered["serverInfo"]["name"] == "prdigest"
    assert "not instructions" in answered["instructions"]
    assert ask(port, LIST, **{"MCP-Protocol-Version": "2025-03-26"})[0] == 200


@pytest.mark.parametrize("text", ["\\ud800", "\\udc00\\ud800", "\\u0000", "\\u202e", "\\uffff"])
def test_odd_signs_in_arguments_are_survived(port: int, text: str) -> None:
    call = {"name": f"tool-{text}", "arguments": {f"key-{text}": text}}
    for name in (call["name"], "pull_request"):
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {**call, "name": name}}
        status, answer = ask(port, json.dumps(body).replace("\\\\u", "\\u"))
        assert status in (200, 400)
        assert "Traceback" not in answer
        assert status == 400 or json.loads(answer)["result"]["isError"]


@pytest.mark.parametrize(
    "value",
    [
        "",
        "Bearer",
        "Bearer ",
        "Bearer wrong",
        f"Bearer {TOKEN[:-1]}",
        f"Bearer {TOKEN}x",
        f"Basic {TOKEN}",
        TOKEN,
        f"bearer  {TOKEN.upper()}",
        "Bearer \u00e9" * 3,
    ],
)
def test_without_the_token_nothing_is_answered(port: int, value: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        status, text = ask(port, Authorization=value.encode().decode("latin-1"))
    assert status == 401
    assert "tools" not in text
    assert TOKEN not in text + caplog.text


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example:80", "", "mcp.example"]
)
def test_another_host_is_refused(port: int, host: str) -> None:
    """A name of somebody else that leads to this machine is how a web page would get here."""
    # a request without a host is refused before its body is read: a reset for the rest would overtake the answer
    status, text = ask(port, LIST if host else "", Host=host)
    assert status in (400, 421)
    assert "tools" not in text


@pytest.mark.parametrize("origin", ["https://evil.example", "http://127.0.0.1.evil.example", "null", "file://"])
def test_the_page_of_another_host_is_refused(port: int, origin: str) -> None:
    status, text = ask(port, Origin=origin)
    assert status == 403
    assert "tools" not in text


@pytest.mark.parametrize("name", ["localhost:1234", "mcp.example.com", "mcp.example.com:443"])
def test_the_hosts_of_the_settings_are_let_through(port: int, name: str) -> None:
    assert ask(port, Host=name, Origin=f"https://{name}")[0] == 200


@pytest.mark.parametrize(
    ("method", "path", "expected"),
    [
        ("GET", "/mcp", 405),
        ("DELETE", "/mcp", 405),
        ("PUT", "/mcp", 405),
        ("POST", "/", 404),
        ("POST", "/mcp/../etc/passwd", 404),
        ("POST", "//mcp", 404),
        ("POST", "/mcp/", 404),
    ],
)
def test_there_is_nothing_else(port: int, method: str, path: str, expected: int) -> None:
    assert ask(port, method=method, path=path)[0] == expected


@pytest.mark.parametrize(
    "body",
    [
        "",
        "{",
        "[]",
        "null",
        "\x00",
        '{"jsonrpc": "2.0"}',
        "[" * 1_900 + "]" * 1_900,
        '{"a":' * 600 + "1" + "}" * 600,
    ],
)
def test_what_is_no_request_is_refused_in_words(port: int, body: str) -> None:
    status, text = ask(port, body)
    assert status == 400
    assert "Traceback" not in text
    assert is_alive(port)


def test_a_body_has_a_bound(port: int) -> None:
    big = {**LIST, "params": {"_meta": {"x": "y" * LIMITS.body_bytes}}}
    assert ask(port, big)[0] == 413


def test_headers_have_a_bound(port: int) -> None:
    # it may be refused while it is still on its way
    with suppress(OSError):
        assert ask(port, **{"X-Long": "y" * 1_000 * LIMITS.header_bytes})[0] == 400
    assert is_alive(port)


@pytest.mark.parametrize(
    "sent",
    [
        "",
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n",
        f"POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: {AUTHORIZED}\r\nContent-Length: 99\r\n\r\n{{",
    ],
    ids=["nothing", "half a head", "half a body"],
)
def test_a_slow_client_is_let_go(port: int, sent: str) -> None:
    began = time.monotonic()
    with closing(socket.create_connection(("127.0.0.1", port), timeout=20)) as client:
        client.sendall(sent.encode())
        while client.recv(4_096):
            pass
    assert time.monotonic() - began >= LIMITS.request_seconds / 2


# --- connections before the token


def get_health(port: int, source: str = "127.0.0.1") -> int:
    with closing(
        http.client.HTTPConnection("127.0.0.1", port, timeout=20, source_address=(source, 0))
    ) as connection:
        connection.request("GET", "/healthz")
        return connection.getresponse().status


def count_open(clients: Sequence[socket.socket]) -> int:
    return sum(not is_closed(each) for each in clients)


def is_closed(client: socket.socket) -> bool:
    if not is_readable(client.fileno(), 0):
        return False
    try:
        return client.recv(65_536) == b""
    except ConnectionError:
        return True


@contextmanager
def open_many(port: int, count: int, sent: bytes, source: str = "127.0.0.1") -> Iterator[list[socket.socket]]:
    with ExitStack() as stack:
        clients = []
        for _ in range(count):
            client = socket.create_connection(("127.0.0.1", port), timeout=20, source_address=(source, 0))
            stack.enter_context(closing(client))
            client.sendall(sent)
            clients.append(client)
        yield clients


@pytest.mark.parametrize(
    "sent", [b"", b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nX: "], ids=["nothing", "half a head"]
)
def test_who_has_no_token_shuts_nobody_out(patient_port: int, sent: bytes) -> None:
    """They would be open for minutes."""
    with open_many(patient_port, 70, sent) as idle:
        assert get_health(patient_port, "127.0.0.9") == 200
        assert ask(patient_port)[0] == 200
        eventually(lambda: count_open(idle) <= LIMITS.connections)
        with open_many(patient_port, 1, sent, "127.0.0.9") as (other,), open_many(patient_port, 70, sent):
            assert get_health(patient_port) == 200
            # the one of its address gives way last
            assert not is_closed(other)


def test_no_more_are_open_than_promised_however_young() -> None:
    limits = replace(LIMITS, grace_seconds=600.0, request_seconds=600.0, connection_seconds=600.0)
    with serving(Server("test"), limits) as port, open_many(port, 60, b"GET /mcp HTTP/1.1\r\n\r\n") as clients:
        # without a host they are refused one by one, and those behind them get their turn
        assert [b" 400 " in each.recv(4_096) for each in clients] == [True] * 60


def test_without_descriptors_little_is_logged_and_it_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    own = len([*Path("/proc/self/fd").iterdir()])
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with serving(Server("test"), replace(PATIENT, connections=500)) as port, ExitStack() as stack:
        waiting = [stack.enter_context(closing(socket.socket())) for _ in range(60)]
        resource.setrlimit(resource.RLIMIT_NOFILE, (own + 60 + 30, hard))
        try:
            for each in waiting:
                each.settimeout(20)
                each.connect(("127.0.0.1", port))
            eventually(lambda: "no connection can be accepted" in caplog.text)
            # as those that wait give theirs back
            time.sleep(3)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        assert get_health(port) == 200
    assert len(caplog.text) < 5_000
    assert "Traceback" not in caplog.text


# --- calls


def test_of_those_with_the_token_some_are_told_to_wait(app: App) -> None:
    blocking = BlockingTool()
    with serving(blocking.build(app), LIMITS) as port:
        clients = [send_call(port) for _ in range(LIMITS.requests)]
        try:
            eventually(lambda: ask(port)[0] == 503)
            assert get_health(port) == 200
        finally:
            blocking.end.set()
            for each in clients:
                each.close()
        eventually(lambda: ask(port)[0] == 200)


def test_who_cancels_does_not_free_the_slot_of_a_call(app: App) -> None:
    blocking = BlockingTool()

    async def cancel_many() -> None:
        async with Client(blocking.build(app)) as client:
            try:
                for _ in range(7):
                    with anyio.move_on_after(0.2):
                        await client.call_tool("block", {})
                assert len(blocking.running) == 4
            finally:
                blocking.end.set()
            # each slot comes back with its thread
            for _ in range(8):
                with anyio.fail_after(20):
                    assert not (await client.call_tool("block", {})).is_error

    anyio.run(cancel_many)


@dataclass
class BlockingTool:
    end: threading.Event = field(default_factory=threading.Event)
    running: set[int] = field(default_factory=set)

    def build(self, app: App) -> Server[Any]:
        def run(_session: object, _arguments: object) -> str:
            self.running.add(threading.get_ident())
            self.end.wait(30)
            self.running.discard(threading.get_ident())
            return "done"

        tool = Tool("block", "Block", "Blocks.", TextPage, run)
        return build_server(AgentTools(app, "test", lambda: 0.0, lambda: "0badc0de", [tool]))


def send_call(port: int) -> socket.socket:
    """A client whose call was sent, and is not answered yet."""
    body = json.dumps({**LIST, "method": "tools/call", "params": {"name": "block", "arguments": {}}})
    head = [f"{name}: {value}" for name, value in {"Authorization": AUTHORIZED, **JSON}.items()]
    lines = ["POST /mcp HTTP/1.1", "Host: localhost", *head, f"Content-Length: {len(body)}", "", body]
    client = socket.create_connection(("127.0.0.1", port), timeout=20)
    client.sendall("\r\n".join(lines).encode())
    return client


# --- where a request ends


@pytest.mark.parametrize(
    ("version", "headers", "expected"),
    [
        ("1.1", ["Transfer-Encoding: chunked"], b" 200 "),
        ("1.1", ["Transfer-Encoding: chunked", "Content-Length: 5"], b" 400 "),
        ("1.1", ["Content-Length: 5", "Transfer-Encoding: chunked"], b" 400 "),
        ("1.1", ["content-length: 0", "transfer-ENCODING: Chunked"], b" 400 "),
        ("1.1", ["Content-Length: 5", "Content-Length: 6"], b" 400 "),
        ("1.0", ["Transfer-Encoding: chunked"], b" 400 "),
    ],
)
def test_a_request_whose_end_is_told_twice_is_refused(
    port: int, version: str, headers: list[str], expected: bytes
) -> None:
    body = json.dumps(LIST)
    own = [f"{name}: {value}" for name, value in {"Authorization": AUTHORIZED, **JSON}.items()]
    lines = [
        f"POST /mcp HTTP/{version}",
        "Host: localhost",
        *own,
        *headers,
        "",
        f"{len(body):x}",
        body,
        "0",
        "",
        "",
    ]
    with closing(socket.create_connection(("127.0.0.1", port), timeout=20)) as client:
        client.sendall("\r\n".join(lines).encode())
        answer = b"".join(iter(lambda: client.recv(4_096), b""))
    assert expected in answer.splitlines()[0] + b" "
    assert answer.count(b"HTTP/1.1 ") == 1


def test_a_port_in_use_is_one_sentence() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        address = ListenAddress("127.0.0.1", listener.getsockname()[1])
        with pytest.raises(ConfigurationError) as refused:
            HttpServer(Server("test"), TOKEN, address)
    assert is_one_sentence(str(refused.value))
