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
from collections.abc import Iterable, Iterator
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

from bot.domain.errors import ConfigurationError

log = logging.getLogger(__name__)

PATH = "/mcp"
HEALTH_PATH = "/healthz"
_OWN_NAMES = ("127.0.0.1", "localhost", "[::1]")
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


@dataclass(frozen=True, slots=True)
class HttpAddress:
    """Where to listen, and the hosts by whose names clients come."""

    host: str
    port: int
    hosts: frozenset[str] = frozenset()


class TokenGate:
    """An ASGI application that lets requests with the token through to ``app``, and answers health checks itself.

    The token is compared in constant time, and is in no log and no answer.
    """

    def __init__(self, app: ASGIApp, token: str, limits: HttpLimits) -> None:
        self._app = app
        self._expected = token.encode()
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        closing = _close_after(send)
        refusal = self._check(scope)
        if refusal is not None:
            await refusal(scope, receive, closing)
            return
        await self._app(scope, _BoundedReceive(receive, self._limits.request_seconds), closing)

    def _check(self, scope: Scope) -> Response | None:
        """Return the answer to a request that does not get through, None for one that does."""
        if scope["path"] == HEALTH_PATH:
            return JSONResponse({"ok": True})
        if scope["path"] != PATH:
            return PlainTextResponse("Not found", 404)
        if not self._has_token(Headers(scope=scope)):
            log.info("a request without the token is refused")
            return PlainTextResponse(
                "Send the token: Authorization: Bearer …", 401, {"WWW-Authenticate": "Bearer"}
            )
        if scope["method"] != "POST":
            # no session and no stream is kept, so there is nothing to open or to end
            return PlainTextResponse("Use POST", 405, {"Allow": "POST"})
        return None

    def _has_token(self, headers: Headers) -> bool:
        values = headers.getlist("authorization")
        scheme, _, token = values[0].partition(" ") if len(values) == 1 else ("", "", "")
        return hmac.compare_digest(token.strip().encode(), self._expected) and scheme.lower() == "bearer"


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


def _close_after(send: Send) -> Send:
    """Return what sends an answer after which the connection is closed."""

    async def send_last(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", ()), (b"connection", b"close")]}
        await send(message)

    return send_last


def build_app(server: Server[Any], token: str, address: HttpAddress, limits: HttpLimits) -> ASGIApp:
    """Build the application."""
    inner = server.streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,
        stateless_http=True,
        max_request_body_size=limits.body_bytes,
        transport_security=_build_security(address),
    )
    return TokenGate(inner, token, limits)


def _build_security(address: HttpAddress) -> TransportSecuritySettings:
    """Return the hosts and origins that are let through: a page of another host must not reach this one.

    A name of this machine may resolve to it from anywhere; so the names are checked, too.
    """
    own = f"[{address.host}]" if ":" in address.host else address.host
    names = dict.fromkeys((*_OWN_NAMES, own, *sorted(address.hosts)))
    return TransportSecuritySettings(
        allowed_hosts=[*_with_ports(names)],
        allowed_origins=[*_with_ports(f"{scheme}://{name}" for name in names for scheme in ("http", "https"))],
    )


def _with_ports(names: Iterable[str]) -> Iterable[str]:
    for name in names:
        yield from (name, f"{name}:*")


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
    """The server. It listens as soon as it is made, and answers while it runs."""

    def __init__(
        self, server: Server[Any], token: str, address: HttpAddress, limits: HttpLimits = HttpLimits()
    ) -> None:
        """Make it. Raises ConfigurationError if the port can't be used."""
        self._listener = _listen(address)
        self._host = address.host
        config = uvicorn.Config(
            build_app(server, token, address, limits),
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
        """The port on which it listens."""
        return int(self._listener.getsockname()[1])

    def run(self) -> None:
        """Serve until SIGTERM, Ctrl-C or ``stop``."""
        with self._listener:
            log.info("MCP on http://%s:%d%s", self._host, self.port, PATH)
            self._server.run(sockets=[self._listener])

    def stop(self) -> None:
        """Stop, from any thread."""
        self._server.should_exit = True


def _listen(address: HttpAddress) -> socket.socket:
    """Return a socket that listens. Raises ConfigurationError."""
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    try:
        return socket.create_server((address.host, address.port), family=family, backlog=_BACKLOG)
    except OSError as error:
        raise ConfigurationError(
            f"PRDIGEST_MCP_ADDRESS: port {address.port} of {address.host} can't be used ({error.strerror}): set "
            "another one."
        ) from error


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
