"""The server over streamable HTTP: a gate with a token or Slack's signature, and bounds on what clients may take.

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
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import anyio
import uvicorn
from anyio import to_thread
from mcp.server import Server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from bot.errors import ConfigurationError, StoreUnavailable, UsageError
from bot.mcp.slackbot import SlackbotDoor
from bot.platform.slack.client import SIGNATURE
from bot.settings import ListenAddress

log = logging.getLogger(__name__)

PATH = "/mcp"
HEALTH_PATH = "/healthz"
_BACKLOG = 128
# seconds until the next attempt, if no descriptor is left, and between two looks for a place
_ACCEPT_PAUSE, _ROOM_PAUSE = 1.0, 0.05
_STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)


@dataclass(frozen=True, slots=True)
class HttpLimits:
    """What a client may take: bytes of a body, seconds for a request to arrive and for all of it, connections.

    A call takes 50 seconds at most; what is left of ``connection_seconds`` is for the answer on its way. Of the
    ``connections``, ``requests`` may have the token: the others are for health checks and refusals.
    None is closed for another within ``grace_seconds``: its request may be on its way.
    """

    body_bytes: int = 256_000
    request_seconds: float = 10.0
    connection_seconds: float = 75.0
    connections: int = 64
    requests: int = 48
    grace_seconds: float = 2.0
    header_bytes: int = 16_384
    shutdown_seconds: int = 5


# who asks by a request that Slack signed, in the scope of that request
ASKER = "prdigest.asker"


class TokenGate:
    """An ASGI application for health checks and what has the token, compared in constant time and never shown.

    With a ``door``, also for what Slack signed in place of that.
    """

    def __init__(self, app: ASGIApp, token: str, limits: HttpLimits, door: SlackbotDoor | None) -> None:
        self._app = app
        self._door = door
        self._expected = token.encode()
        self._limits = limits
        self._requests = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_last(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), (b"connection", b"close")]}
            await send(message)

        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif (refusal := self._check(scope)) is not None:
            await refusal(scope, receive, send_last)
        else:
            bounded = _BoundedReceive(receive, self._limits.request_seconds)
            if self._is_for_door(Headers(scope=scope)):
                # counted from then on: what nobody signed takes no place of those with the token
                refusal = await self._admit(scope, bounded) or self._check(scope)
            if refusal is not None:
                await refusal(scope, receive, send_last)
                return
            self._requests += 1
            try:
                await self._app(scope, bounded, send_last)
            finally:
                self._requests -= 1

    def _has_token(self, scheme: str, token: str) -> bool:
        is_known = hmac.compare_digest(token.strip().encode(), self._expected)
        return is_known and scheme.lower() == "bearer"

    def _is_for_door(self, headers: Headers) -> bool:
        return self._door is not None and SIGNATURE in headers and "authorization" not in headers

    async def _admit(self, scope: Scope, receive: _BoundedReceive) -> Response | None:
        """Note in the scope who asks; return a refusal of what Slack did not sign. The whole body is signed."""
        body, is_whole = bytearray(), False
        while not is_whole:
            message = await receive()
            if message["type"] != "http.request":
                return PlainTextResponse("The request did not arrive in time", 408)
            body += message.get("body", b"")
            is_whole = not message.get("more_body", False)
            if len(body) > self._limits.body_bytes:
                return PlainTextResponse("The request is too long", 413)
        try:
            admit = self._door.admit  # type: ignore[union-attr]  # asked before
            scope[ASKER] = await to_thread.run_sync(admit, dict(Headers(scope=scope)), bytes(body))
        except UsageError as error:
            log.info("a signed request is refused: %s", error)
            return PlainTextResponse(str(error), 401)
        except StoreUnavailable as error:
            log.warning("a signed request is not admitted: %s", error)
            return PlainTextResponse("Try again in a minute", 503, {"Retry-After": "60"})
        receive.give_back(bytes(body))
        return None

    def _check(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        # a proxy in front may believe the other one
        if "transfer-encoding" in headers and ("content-length" in headers or scope["http_version"] == "1.0"):
            return PlainTextResponse("Content-Length and Transfer-Encoding can't be combined", 400)
        if scope["path"] == HEALTH_PATH:
            return JSONResponse({"ok": True})
        if scope["path"] != PATH:
            return PlainTextResponse("Not found", 404)
        values = headers.getlist("authorization")
        scheme, _, token = values[0].partition(" ") if len(values) == 1 else ("", "", "")
        if not self._is_for_door(headers) and not self._has_token(scheme, token):
            log.info("a request without the token is refused")
            return PlainTextResponse(
                "Send the token: Authorization: Bearer …", 401, {"WWW-Authenticate": "Bearer"}
            )
        if scope["method"] != "POST":
            # no session and no stream is kept, so there is nothing to open or to end
            return PlainTextResponse("Use POST", 405, {"Allow": "POST"})
        if self._requests >= self._limits.requests:
            return PlainTextResponse("Too many requests: try again in a minute", 503, {"Retry-After": "60"})
        return None


class _BoundedReceive:
    def __init__(self, receive: Receive, seconds: float) -> None:
        self._receive = receive
        self._deadline = anyio.current_time() + seconds
        self._has_body = False
        self._body: bytes | None = None

    def give_back(self, body: bytes) -> None:
        """Let the whole body come once more."""
        self._body = body

    async def __call__(self) -> Message:
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        if self._has_body:
            # what comes after the body is that the client has left
            return await self._receive()
        with anyio.move_on_after(max(self._deadline - anyio.current_time(), 0.0)):
            message = await self._receive()
            self._has_body = not message.get("more_body", False)
            return message
        return {"type": "http.disconnect"}


def _build_app(
    server: Server[Any],
    token: str,
    host: str,
    hosts: frozenset[str],
    limits: HttpLimits,
    door: SlackbotDoor | None,
) -> TokenGate:
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
    return TokenGate(inner, token, limits, door)


class _TimedProtocol(H11Protocol):
    """uvicorn's protocol with an end to each connection, however slowly its client sends or reads."""

    def __init__(self, limits: HttpLimits, **options: Any) -> None:
        super().__init__(**options)
        self._limits = limits

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.opened_at = self.loop.time()
        self._ends = (
            self.loop.call_later(self._limits.request_seconds, self._close_without_request),
            self.loop.call_later(self._limits.connection_seconds, transport.abort),
        )

    def connection_lost(self, exc: Exception | None) -> None:
        for end in self._ends:
            end.cancel()
        super().connection_lost(exc)

    def _close_without_request(self) -> None:
        # uvicorn has them when all have arrived
        if not self.headers:
            self.transport.abort()


class _BoundedServer(uvicorn.Server):
    """A server with a bound on its connections: one more takes the place of one that waits for its client.

    SIGTERM ends it as it ends the other processes: what runs is finished, and the code is 0.
    """

    def __init__(self, config: uvicorn.Config, limits: HttpLimits) -> None:
        super().__init__(config)
        self._limits = limits

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept connections here: asyncio takes all that come, and logs each for which no descriptor is left."""
        await super().startup(sockets=[])
        self._accepting = [asyncio.create_task(self._accept(each)) for each in sockets or ()]

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for each in self._accepting:
            each.cancel()
        await super().shutdown(sockets)

    async def _accept(self, listener: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        listener.settimeout(0)
        while True:
            try:
                client, _ = await loop.sock_accept(listener)
            except OSError as error:
                log.warning("no connection can be accepted: %s", error.strerror)
                self._close_waiting()
                await asyncio.sleep(_ACCEPT_PAUSE)
                continue
            try:
                # with its bytes unread: those that come behind it wait in the backlog
                while len(self.server_state.connections) >= self._limits.connections and not self._close_waiting():
                    await asyncio.sleep(_ROOM_PAUSE)
                await loop.connect_accepted_socket(self._make_protocol, client)
            except OSError:
                client.close()
            except asyncio.CancelledError:
                client.close()
                raise

    def _make_protocol(self) -> asyncio.Protocol:
        return _TimedProtocol(
            self._limits, config=self.config, server_state=self.server_state, app_state=self.lifespan.state
        )

    def _close_waiting(self) -> bool:
        """Close the connection that has waited longest, of the address with most; return whether it may be."""
        open_connections = [each for each in self.server_state.connections if isinstance(each, _TimedProtocol)]
        by_address: defaultdict[str, list[_TimedProtocol]] = defaultdict(list)
        for each in open_connections:
            if not each.headers:
                by_address[each.client[0] if each.client else ""].append(each)
        crowd: list[_TimedProtocol] = max(by_address.values(), key=len, default=[])
        chosen = min(crowd, key=lambda each: each.opened_at, default=None)
        if chosen and chosen.opened_at > chosen.loop.time() - self._limits.grace_seconds:
            return False
        if chosen:
            chosen.transport.abort()
            # it is gone with the next turn of the loop
            self.server_state.connections.discard(chosen)
        return chosen is not None

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
    """A server for clients that come by the names ``hosts``. It listens as soon as it is made."""

    def __init__(
        self,
        server: Server[Any],
        token: str,
        address: ListenAddress,
        hosts: frozenset[str] = frozenset(),
        limits: HttpLimits = HttpLimits(),
        door: SlackbotDoor | None = None,
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
            _build_app(server, token, host, hosts, limits, door),
            ws="none",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            h11_max_incomplete_event_size=limits.header_bytes,
            timeout_graceful_shutdown=limits.shutdown_seconds,
        )
        self._server = _BoundedServer(config, limits)

    @property
    def port(self) -> int:
        return int(self._listener.getsockname()[1])

    def run(self) -> None:
        """Serve until SIGTERM, Ctrl-C or ``stop``."""
        with self._listener:
            log.info("MCP on http://%s:%d%s", self._host, self.port, PATH)
            self._server.run(sockets=[self._listener])

    def stop(self) -> None:
        self._server.should_exit = True
