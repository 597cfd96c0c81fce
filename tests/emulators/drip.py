"""A service that drips: what stands between the bot and an emulator hands on its answers byte by byte.

Each byte begins a read timeout anew, in the headers as in the body, of a stream too, and over TLS.
"""

from __future__ import annotations

import http.client
import socket
import ssl
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Literal, Self
from urllib.parse import urlsplit

Where = Literal["headers", "body"]
# what a proxy does not hand on
_OWN = {"connection", "transfer-encoding", "content-length", "host"}


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, drip: Drip) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.drip = drip

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up is what these tests are about."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def setup(self) -> None:
        super().setup()
        self.server.drip.connections += 1

    def _serve(self) -> None:
        drip = self.server.drip
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        drip.paths.append(self.path)
        status, headers, answer = drip.ask(self.command, self.path, dict(self.headers), body)
        how = "Transfer-Encoding: chunked" if drip.is_chunked else f"Content-Length: {len(answer)}"
        lines = [f"HTTP/1.1 {status} Said", *(f"{name}: {value}" for name, value in headers), how, "", ""]
        head, whole = "\r\n".join(lines).encode(), answer
        if drip.is_chunked:
            whole = b"%x\r\n%s\r\n0\r\n\r\n" % (len(answer), answer)
        drips = drip.interval is not None and drip.match in self.path
        if drips and drip.where == "headers":
            self._drip(head)
        else:
            self.wfile.write(head)
        if drips:
            self._drip(whole)
        else:
            self.wfile.write(whole)

    def _drip(self, data: bytes) -> None:
        """Byte by byte, until the drip stops: then the rest at once."""
        drip = self.server.drip
        for place in range(0, len(data), drip.piece):
            if drip.interval is None:
                self.wfile.write(data[place:])
                return
            self.wfile.write(data[place : place + drip.piece])
            drip.stopped.wait(drip.interval)

    do_GET = do_POST = _serve

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the name is the base class's)
        """Quiet."""


class Drip:
    """Stands before the service at ``target``.

    ``interval`` is seconds after each ``piece`` of bytes; None: as it comes.
    ``match`` is part of the paths that drip, ``where`` whether the headers do too; ``paths`` are those of all
    requests, of which some share ``connections``. With ``context`` it speaks TLS.
    """

    def __init__(self, target: str, where: Where = "headers", context: ssl.SSLContext | None = None) -> None:
        self._target = urlsplit(target)
        self.where: Where = where
        self.interval: float | None = None
        self.match = ""
        self.is_chunked = False
        self.piece = 1
        self.paths: list[str] = []
        self.connections = 0
        self.stopped = threading.Event()
        self._scheme = "https" if context else "http"
        self._server = _Server(self)
        if context:
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        """Where the bot is to ask: the target's address, here."""
        host = "localhost" if self._scheme == "https" else "127.0.0.1"
        return f"{self._scheme}://{host}:{self._server.server_port}{self._target.path}"

    def heal(self) -> None:
        """Answer as the service does."""
        self.interval = None
        self.stopped.set()

    def ask(
        self, method: str, path: str, headers: dict[str, str], body: bytes
    ) -> tuple[int, list[tuple[str, str]], bytes]:
        """The service's own answer, whole."""
        there = http.client.HTTPConnection(str(self._target.hostname), self._target.port, timeout=60)
        given = {name: value for name, value in headers.items() if name.lower() not in _OWN}
        try:
            there.request(method, path, body, given)
            answer = there.getresponse()
            kept = [(name, value) for name, value in answer.getheaders() if name.lower() not in _OWN]
            return answer.status, kept, answer.read()
        finally:
            there.close()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.heal()
        self._server.shutdown()
        self._thread.join(timeout=5)
        with suppress(OSError):
            self._server.socket.shutdown(socket.SHUT_RDWR)
        self._server.server_close()
