"""A loopback HTTP server: the base of the local Slack and of the tests' GitHub and Claude."""

from __future__ import annotations

import json
import socket
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qsl, urlsplit

_MAX_LENGTH_DIGITS = 12  # of a content length


@dataclass(frozen=True)
class Request:
    """One HTTP request as the server sees it; header names are lower case."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        """Parse the body as JSON; an empty body is None. Raises ValueError if it is not JSON."""
        return json.loads(self.body or b"null")

    def read_arguments(self) -> dict[str, Any]:
        """Return query, form and JSON arguments in one mapping: Slack's clients use all three."""
        arguments: dict[str, Any] = dict(self.query)
        kind = self.headers.get("content-type", "")
        if kind.startswith("application/json") and self.body:
            arguments.update(self.json())
        elif kind.startswith("application/x-www-form-urlencoded"):
            arguments.update(parse_qsl(self.body.decode(), keep_blank_values=True))
        return arguments


@dataclass(frozen=True)
class Response:
    """An answer of the server. ``chunks`` is a body sent piece by piece, as for server-sent events."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    chunks: Any = None

    @classmethod
    def of_json(cls, value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
        """Return a response whose body is the value as JSON."""
        all_headers = {"Content-Type": "application/json; charset=utf-8", **(headers or {})}
        return cls(status, json.dumps(value).encode(), all_headers)


class HangUp(Exception):
    """The signal to close the connection without an answer."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    # the standard 5 refuses connections when 50 clients arrive at once
    request_queue_size = 256

    def __init__(self, served: Loopback, port: int) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.served = served
        self._is_stopped = False

    def run(self) -> None:
        """Serve until ``end`` is called. Unlike the standard ``serve_forever``, it does not poll while idle."""
        while not self._is_stopped:
            self.handle_request()

    def end(self) -> None:
        self._is_stopped = True
        with suppress(OSError):
            socket.create_connection(("127.0.0.1", self.server_port), timeout=1).close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore the error: a client that disconnects is not worth a report."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def _serve_request(self) -> None:
        try:
            request = self._read_request()
        except ValueError as error:
            # the body is not read, so the connection can't take another request
            self.close_connection = True
            self._send_response(Response(400, f"{error}".encode(), {"Content-Type": "text/plain"}))
            return
        try:
            self._send_response(self.server.served.handle(request))
        except HangUp:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)

    def _read_request(self) -> Request:
        """Read the request. Raises ValueError if it is unreadable or too large."""
        url, length = urlsplit(self.path), self.headers.get("Content-Length") or "0"
        if "Transfer-Encoding" in self.headers or not (length.isascii() and length.isdecimal()):
            raise ValueError("say the length of the body")
        if len(length) > _MAX_LENGTH_DIGITS or int(length) > self.server.served.max_bytes:
            raise ValueError("the body is too large")
        return Request(
            self.command,
            url.path,
            dict(parse_qsl(url.query, keep_blank_values=True)),
            {name.lower(): value for name, value in self.headers.items()},
            self.rfile.read(int(length)),
        )

    def _send_response(self, response: Response) -> None:
        self.send_response(response.status)
        for name, value in response.headers.items():
            self.send_header(name, value)
        if response.chunks is None:
            self.send_header("Content-Length", str(len(response.body)))
            self.end_headers()
            self.wfile.write(response.body)
            return
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        for chunk in response.chunks:
            self.wfile.write(chunk)
            self.wfile.flush()

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _serve_request  # noqa: N815 (the names are the base class's)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (the name is the base class's)
        """Log nothing: the servers keep their requests in lists."""


class Loopback:
    """Base class of the servers: a context manager that serves ``handle`` on 127.0.0.1.

    A ``port`` of 0 is any free one; ``max_bytes`` is the longest body that it reads. Raises OSError if the port is
    not available.
    """

    max_bytes = 100_000_000

    def __init__(self, port: int = 0) -> None:
        self._server = _Server(self, port)
        self._thread = threading.Thread(target=self._server.run, daemon=True)

    @property
    def url(self) -> str:
        """Base address, without a trailing slash."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def handle(self, request: Request) -> Response:
        """Answer one request. Subclasses implement it."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.end()
        self._thread.join(timeout=5)
        self._server.server_close()
