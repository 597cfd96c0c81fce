"""A relay: what stands between the bot and an emulator, and hands on requests and answers."""

from __future__ import annotations

import http.client
import socket
import ssl
import threading
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BufferedIOBase
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

# what a relay does not hand on
_OWN = {"connection", "transfer-encoding", "content-length", "host"}
# seconds for the service itself, which answers at once
_SERVICE_SECONDS = 60


@dataclass(frozen=True)
class Asked:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True)
class Answer:
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def head(self, length: str | None = None) -> bytes:
        """Status line and headers; ``length`` is the header that says how long the body is."""
        how = length or f"Content-Length: {len(self.body)}"
        lines = [
            f"HTTP/1.1 {self.status} Said",
            *(f"{name}: {value}" for name, value in self.headers),
            how,
            "",
            "",
        ]
        return "\r\n".join(lines).encode()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, relay: Relay) -> None:
        super().__init__(("127.0.0.1", relay.port), _Handler)
        self.relay = relay

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up is what these tests are about."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def setup(self) -> None:
        super().setup()
        self.server.relay.open_connection(self.connection)

    def finish(self) -> None:
        self.server.relay.end_connection(self.connection)
        super().finish()

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        asked = Asked(self.command, self.path, dict(self.headers), body)
        self.close_connection |= not self.server.relay.serve(asked, self.wfile)

    do_GET = do_POST = _serve

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the name is the base class's)
        """Quiet."""


class Relay:
    """Stands before the service at ``target``, which may be set later. With ``context`` it speaks TLS."""

    def __init__(self, target: str = "", context: ssl.SSLContext | None = None) -> None:
        self.target = target
        # 0 is any; the same one again after the relay was away
        self.port = 0
        self._context = context
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._listen()

    @property
    def url(self) -> str:
        """Where the bot is to ask: the target's address, here."""
        scheme, host = ("https", "localhost") if self._context else ("http", "127.0.0.1")
        return f"{scheme}://{host}:{self.port}{urlsplit(self.target).path}"

    def serve(self, asked: Asked, out: BufferedIOBase) -> bool:
        answer = self.ask(asked)
        out.write(answer.head() + answer.body)
        return True

    def ask(self, asked: Asked) -> Answer:
        """The service's own answer, whole."""
        target = urlsplit(self.target)
        there = http.client.HTTPConnection(str(target.hostname), target.port, timeout=_SERVICE_SECONDS)
        headers = {name: value for name, value in asked.headers.items() if name.lower() not in _OWN}
        try:
            there.request(asked.method, asked.path, asked.body, headers)
            answer = there.getresponse()
            kept = [(name, value) for name, value in answer.getheaders() if name.lower() not in _OWN]
            return Answer(answer.status, tuple(kept), answer.read())
        finally:
            there.close()

    def open_connection(self, connection: socket.socket) -> None:
        with self._lock:
            self._open.add(connection)

    def end_connection(self, connection: socket.socket) -> None:
        with self._lock:
            self._open.discard(connection)

    def leave(self) -> None:
        self._server.shutdown()
        self._thread.join(timeout=5)
        with suppress(OSError):
            self._server.socket.shutdown(socket.SHUT_RDWR)
        self._server.server_close()
        with self._lock:
            still_open = list(self._open)
        for connection in still_open:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def come_back(self) -> None:
        """Listen at the same address again."""
        self._listen()
        self._thread.start()

    def _listen(self) -> None:
        self._server = _Server(self)
        self.port = self._server.server_port
        if self._context:
            self._server.socket = self._context.wrap_socket(self._server.socket, server_side=True)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.leave()
