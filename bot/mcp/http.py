"""The server over streamable HTTP: a gate with a token, and a bound on everything that a client may take.

No session is kept: each request carries what it needs, so that nobody can use up sessions or take over another's.
Each connection has one request.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import anyio
import uvicorn
from mcp.server import Server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from bot.errors import ConfigurationError
from bot.settings import ListenAddress

log = logging.getLogger(__name__)

PATH = "/mcp"
HEALTH_PATH = "/healthz"
_BACKLOG = 128
_STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)


@dataclass(frozen=True, slots=True)
class HttpLimits:
    """What a client may take: bytes of a body, seconds for a request to arrive and for all of it, connections.

    A call takes 50 seconds at most; what is left of ``connection_seconds`` is for the answer on its way.
    """

    body_bytes: int = 256_000
    request_seconds: float = 10.0
    connection_seconds: float = 75.0
    connections: int = 64
    header_bytes: int = 16_384
    shutdown_seconds: int = 5


class TokenGate:
    """An ASGI application that lets requests with the token through to ``app``, and answers health checks itself.

    The token is compared in constant time, and is in no log and no answer.
    """

    def __init__(self, app: ASGIApp, token: str, limits: HttpLimits) -> None:
        self._app = app
        self._expected = token.encode()
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_last(message: Message) -> None:
            """Send an answer after which the connection is closed."""
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), (b"connection", b"close")]}
            await send(message)

        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif (refusal := self._check(scope)) is not None:
            await refusal(scope, receive, send_last)
        else:
            await self._app(scope, _BoundedReceive(receive, self._limits.request_seconds), send_last)

    def _check(self, scope: Scope) -> Response | None:
        """Return the answer to a request that does not get through, None for one that does."""
        if scope["path"] == HEALTH_PATH:
            return JSONResponse({"ok": True})
        if scope["path"] != PATH:
            return PlainTextResponse("Not found", 404)
        values = Headers(scope=scope).getlist("authorization")
        scheme, _, token = values[0].partition(" ") if len(values) == 1 else ("", "", "")
        if not hmac.compare_digest(token.strip().encode(), self._expected) or scheme.lower() != "bearer":
            log.info("a request without the token is refused")
            return PlainTextResponse(
                "Send the token: Authorization: Bearer …", 401, {"WWW-Authenticate": "Bearer"}
            )
        if scope["method"] != "POST":
            # no session and no stream is kept, so there is nothing to open or to end
            return PlainTextResponse("Use POST", 405, {"Allow": "POST"})
        return None


class _BoundedReceive:
    """What a client sends, which has to arrive in time."""

    def __init__(self, receive: Receive, seconds: float) -> None:
        self._receive = receive
        self._deadline = anyio.current_time() + seconds
        self._has_body = False

    async def __call__(self) -> Message:
        if self._has_body:
            # what comes after the body is that the client has left
            return await self._receive()
        with anyio.move_on_after(max(self._deadline - anyio.current_time(), 0.0)):
            message = await self._receive()
            self._has_body = not message.get("more_body", False)
            return message
        return {"type": "http.disconnect"}


def _build_app(server: Server[Any], token: str, host: str, hosts: frozenset[str], limits: HttpLimits) -> TokenGate:
    # a page of another host must not reach this one, and a name of this machine may resolve to it from anywhere:
    # so names are checked, of hosts and of origins
    own = f"[{host}]" if ":" in host else host
    names = dict.fromkeys(("127.0.0.1", "localhost", "[::1]", own, *sorted(hosts)))
    origins = [f"{scheme}://{name}" for name in names for scheme in ("http", "https")]
    inner = server.streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,
        stateless_http=True,
        max_request_body_size=limits.body_bytes,
        transport_security=TransportSecuritySettings(
            allowed_hosts=[pattern for name in names for pattern in (name, f"{name}:*")],
            allowed_origins=[pattern for origin in origins for pattern in (origin, f"{origin}:*")],
        ),
    )
    return TokenGate(inner, token, limits)


class _QuietServer(uvicorn.Server):
    """A server that SIGTERM ends as it ends the other processes: what runs is finished, and the code is 0."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop by a signal until the end of the block; only the main thread gets any."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        earlier = {number: signal.signal(number, self.handle_exit) for number in _STOP_SIGNALS}
        try:
            yield
        finally:
            for number, handler in earlier.items():
                signal.signal(number, handler)


class HttpServer:
    """The server. It listens as soon as it is made, and answers while it runs.

    ``hosts`` are those by whose names clients come.
    """

    def __init__(
        self,
        server: Server[Any],
        token: str,
        address: ListenAddress,
        hosts: frozenset[str] = frozenset(),
        limits: HttpLimits = HttpLimits(),
    ) -> None:
        """Raise ConfigurationError if the port can't be used."""
        host, port = address.host, address.port
        self._host = host
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            self._listener = socket.create_server((host, port), family=family, backlog=_BACKLOG)
        except OSError as error:
            raise ConfigurationError(
                f"PRDIGEST_MCP_ADDRESS: port {port} of {host} can't be used ({error.strerror}): set another one."
            ) from error
        config = uvicorn.Config(
            _build_app(server, token, host, hosts, limits),
            http=_build_protocol(limits),
            ws="none",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            limit_concurrency=limits.connections,
            h11_max_incomplete_event_size=limits.header_bytes,
            timeout_graceful_shutdown=limits.shutdown_seconds,
        )
        self._server = _QuietServer(config)

    @property
    def port(self) -> int:
        return int(self._listener.getsockname()[1])

    def run(self) -> None:
        """Serve until SIGTERM, Ctrl-C or ``stop``."""
        with self._listener:
            log.info("MCP on http://%s:%d%s", self._host, self.port, PATH)
            self._server.run(sockets=[self._listener])

    def stop(self) -> None:
        """Stop, from any thread."""
        self._server.should_exit = True


def _build_protocol(limits: HttpLimits) -> type[asyncio.Protocol]:
    """Return uvicorn's protocol with an end to each connection, however slowly its client sends or reads."""

    class TimedProtocol(H11Protocol):
        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._ends = (
                self.loop.call_later(limits.request_seconds, self._close_without_request),
                self.loop.call_later(limits.connection_seconds, transport.abort),
            )

        def connection_lost(self, exc: Exception | None) -> None:
            for end in self._ends:
                end.cancel()
            super().connection_lost(exc)

        def _close_without_request(self) -> None:
            # uvicorn has them when all have arrived
            if not self.headers:
                self.transport.abort()

    return TimedProtocol
