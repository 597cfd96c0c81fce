"""The HTTP server of the web process: waitress, with limits on how long a client may keep it waiting.

Waitress limits a connection by the time since its last byte, so that one byte now and then keeps it open for ever;
and when all its connections are in use it accepts no others. Here a request must be complete in time, however its
bytes arrive, and a connection beyond the limit takes the place of the one that has waited longest.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from flask import Flask
from waitress import wasyncore
from waitress.adjustments import Adjustments
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError
from waitress.server import TcpWSGIServer
from waitress.task import ThreadedTaskDispatcher

from bot.domain.errors import NotSetUp

log = logging.getLogger(__name__)

_THREADS = 16
# the number at which waitress itself stops accepting connections; those below are reached long before
_FAR_AWAY = 100_000
_SWEEP = 1.0  # seconds between two searches for connections that are late
# seconds for requests that are being answered; they take milliseconds
_LAST_REQUESTS = 3.0
# seconds for idle threads to end
_LAST_THREADS = 0.5


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits on how long the server waits for a client, in seconds of monotonic time, and on connections at once.

    ``Bounds.request`` applies to the first byte of a connection, and to the rest of a request after its first
    byte: Slack cancels its own requests after 3. ``Bounds.idle`` applies to the next request of a connection that
    stays open; the usual load balancers close theirs after 60. ``Bounds.connections`` leaves half of the 1,024
    open files that a process may usually have to everything else. ``Bounds.address`` counts the connections of one
    address; a proxy in front is one address. No connection is closed for another within ``Bounds.grace``: its
    request may be on its way, as when many come at once.
    """

    request: float = 10.0
    idle: float = 120.0
    connections: int = 500
    address: int = 200
    grace: float = 2.0


class _Parser(HTTPRequestParser):  # type: ignore[misc]
    """A parser that refuses a request if two headers give its end. A proxy in front may believe the other one."""

    def parse_header(self, header_plus: bytes) -> None:
        """Parse the header and refuse contradictory lengths. Raises ParsingError."""
        super().parse_header(header_plus)
        is_sized = "CONTENT_LENGTH" in self.headers
        # a header that is still here was ignored: HTTP/1.0 does not know it
        if (self.chunked and is_sized) or "TRANSFER_ENCODING" in self.headers:
            raise ParsingError("Content-Length and Transfer-Encoding can't be combined")


class _Channel(HTTPChannel):  # type: ignore[misc]
    """A connection that knows since when it has waited for its client, and until when it does."""

    parser_class = _Parser

    def __init__(self, server: _Server, *arguments: Any, **options: Any) -> None:
        super().__init__(server, *arguments, **options)
        self._bounds = server.bounds
        self.since = time.monotonic()
        self.deadline = self.since + self._bounds.request

    @property
    def waits(self) -> bool:
        """Whether the next step is the client's."""
        return not self.requests and not self.will_close

    def may_go(self, now: float) -> bool:
        """Return whether the connection may be closed to make room for another.

        ``now`` is in monotonic seconds.
        """
        return self.waits and now - self.since >= self._bounds.grace

    def received(self, data: bytes) -> bool:
        """Receive bytes; the first byte of a request starts its time limit."""
        if self.request is None:
            # never later than before: blank lines between requests would otherwise extend it for ever
            self.deadline = min(self.deadline, time.monotonic() + self._bounds.request)
        return bool(super().received(data))

    def service(self) -> None:
        """Answer the requests that are complete, then wait for the client again."""
        try:
            super().service()
        finally:
            self.since = time.monotonic()
            self.deadline = self.since + (self._bounds.idle if self.request is None else self._bounds.request)


class _Server(TcpWSGIServer):  # type: ignore[misc]
    """A server that closes late connections and, when there are too many, the one that has waited longest."""

    channel_class = _Channel

    def __init__(self, *arguments: Any, bounds: Bounds, **options: Any) -> None:
        self.bounds = bounds
        self._next_sweep = 0.0
        self._let_go = 0
        super().__init__(*arguments, **options)

    def readable(self) -> bool:
        """Return whether to accept connections; waitress calls it before each wait for events."""
        now = time.monotonic()
        if now >= self._next_sweep:
            self._next_sweep = now + _SWEEP
            self._sweep(now)
        if len(self.active_channels) >= self.bounds.connections and not self._make_room(now):
            # a new client waits in the backlog until a connection ends or may be closed
            return False
        return bool(super().readable())

    def handle_accept(self) -> None:
        """Accept a connection and hold its address to its limit."""
        super().handle_accept()
        if len(self.active_channels) > self.bounds.address:
            self._make_room_for_others(time.monotonic())

    def _make_room(self, now: float) -> bool:
        """Return whether there is room for one more connection, at once or after one is closed."""
        channels = self._present()
        return len(channels) < self.bounds.connections or self._close_oldest(channels, now)

    def _make_room_for_others(self, now: float) -> None:
        """Close a connection of the address that has most if that has more than it may have."""
        by_address: dict[str, list[_Channel]] = defaultdict(list)
        for channel in self._present():
            by_address[channel.addr[0]].append(channel)
        most = max(by_address.values(), key=len, default=[])
        if len(most) > self.bounds.address:
            self._close_oldest(most, now)

    def _present(self) -> list[_Channel]:
        """Return the connections that are not about to be closed."""
        return [channel for channel in self.active_channels.values() if not channel.will_close]

    def _close_oldest(self, channels: Iterable[_Channel], now: float) -> bool:
        """Close the connection that has waited longest, of those that may be closed.

        Return whether there was one.
        """
        waiting = [channel for channel in channels if channel.may_go(now)]
        self._close(sorted(waiting, key=lambda channel: channel.since)[:1])
        return bool(waiting)

    def _sweep(self, now: float) -> None:
        """Close the connections whose time is over and log how many were closed since the last line."""
        channels = self.active_channels.values()
        self._close(channel for channel in channels if channel.waits and now > channel.deadline)
        if self._let_go:
            # one line for all, so that a thousand connections do not fill the log
            log.info("closed %d connections that kept the server waiting or were too many", self._let_go)
            self._let_go = 0

    def _close(self, channels: Iterable[_Channel]) -> None:
        """Mark connections for the loop, which closes them in its next round."""
        for channel in channels:
            # the loop closes it in its next round
            channel.will_close = True
            self._let_go += 1


@contextmanager
def serving(app: Flask, host: str, port: int, most_bytes: int, bounds: Bounds = Bounds()) -> Iterator[int]:
    """Serve an application until the end of the block; yield its port. A body has fewer than ``most_bytes``.

    Raises:
        NotSetUp: the port can't be used.
    """
    sockets: dict[int, wasyncore.dispatcher] = {}
    server = _server(app, host, port, most_bytes, bounds, sockets)
    loop = threading.Thread(target=server.run, daemon=True, name="web")
    loop.start()
    log.info("listening on port %s", server.effective_port)
    try:
        yield int(server.effective_port)
    finally:
        _finish(server.task_dispatcher)
        server.task_dispatcher.shutdown(timeout=_LAST_THREADS)
        # closed by the thread that waits for them: a running select would find bad file descriptors
        server.trigger.pull_trigger(lambda: wasyncore.close_all(sockets))
        loop.join()


def _server(
    app: Flask, host: str, port: int, most_bytes: int, bounds: Bounds, sockets: dict[int, wasyncore.dispatcher]
) -> _Server:
    """Create the server, listening but not yet running. Raises NotSetUp if the port can't be used."""
    settings = Adjustments(
        host=host,
        port=port,
        threads=_THREADS,
        connection_limit=_FAR_AWAY,
        max_request_body_size=most_bytes,
        # select does not support file descriptors above 1,023
        asyncore_use_poll=True,
    )
    dispatcher = ThreadedTaskDispatcher()
    dispatcher.set_thread_count(settings.threads)
    try:
        return _Server(
            app, sockets, dispatcher=dispatcher, adj=settings, sockinfo=settings.listen[0], bounds=bounds
        )
    except OSError as error:
        dispatcher.shutdown(timeout=_LAST_THREADS)
        raise NotSetUp(f"PORT {port} can't be used ({error.strerror}): set it to another one.") from error


def _finish(dispatcher: ThreadedTaskDispatcher) -> None:
    """Wait until the requests that are being answered are finished, at most ``_LAST_REQUESTS`` seconds."""
    end = time.monotonic() + _LAST_REQUESTS
    while (dispatcher.queue or dispatcher.active_count) and time.monotonic() < end:
        time.sleep(0.05)
