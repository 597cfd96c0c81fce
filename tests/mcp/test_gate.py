"""What the server over HTTP lets through: raw requests to a real server, in this process for short limits."""

from __future__ import annotations

import http.client
import json
import logging
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing, suppress

import pytest
from mcp.server import Server

from bot.app import App
from bot.errors import ConfigurationError
from bot.mcp.http import HttpLimits, HttpServer
from bot.mcp.server import build_server
from bot.settings import ListenAddress
from tests.helpers.agents import TOKEN, is_alive, make_tools
from tests.helpers.checks import eventually, is_one_sentence

pytestmark = pytest.mark.slow

LIMITS = HttpLimits(
    body_bytes=4_000, request_seconds=0.6, connection_seconds=3.0, connections=8, header_bytes=4_000
)
AUTHORIZED = f"Bearer {TOKEN}"
JSON = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


@pytest.fixture(scope="module")
def port(app: App) -> Iterator[int]:
    protocol = build_server(make_tools(app))
    hosts = frozenset({"mcp.example.com"})
    server = HttpServer(protocol, TOKEN, ListenAddress("127.0.0.1", 0), hosts, LIMITS)
    thread = threading.Thread(target=server.run)
    thread.start()
    eventually(lambda: is_alive(server.port))
    yield server.port
    server.stop()
    thread.join(20)
    assert not thread.is_alive()


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
    assert len(json.loads(text)["result"]["tools"]) == 16


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


def test_connections_have_a_bound_and_come_back(port: int) -> None:
    idle = [socket.create_connection(("127.0.0.1", port), timeout=20) for _ in range(LIMITS.connections + 2)]
    try:
        assert ask_refused(port) == 503
    finally:
        for each in idle:
            each.close()
    eventually(lambda: ask(port)[0] == 200)


def ask_refused(port: int) -> int:
    """The status of an answer that uvicorn itself gives."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=20)) as connection:
        connection.request("GET", "/healthz")
        return connection.getresponse().status


def test_a_port_in_use_is_one_sentence() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        address = ListenAddress("127.0.0.1", listener.getsockname()[1])
        with pytest.raises(ConfigurationError) as refused:
            HttpServer(Server("test"), TOKEN, address)
    assert is_one_sentence(str(refused.value))
