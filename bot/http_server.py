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
from typing import TYPE_CHECKING, Any

from waitress import wasyncore
from waitress.adjustments import Adjustments
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError
from waitress.server import TcpWSGIServer
from waitress.task import ThreadedTaskDispatcher
from waitress.trigger import trigger

from bot.errors import ConfigurationError

if TYPE_CHECKING:
    from wsgiref.types import WSGIApplication

log = logging.getLogger(__name__)

_WORKER_THREADS = 16
# the number at which waitress itself stops accepting connections; those below are reached long before
_WAITRESS_CONNECTION_LIMIT = 100_000
_SWEEP_INTERVAL = 1.0  # seconds between two searches for connections that are late
# seconds for requests that are being answered; they take milliseconds
_REQUEST_GRACE = 3.0
# seconds for idle threads to end
_THREAD_GRACE = 0.5


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """Limits on how long the server waits for a client, in monotonic seconds, and on connections at once.

    ``request_timeout`` is for the first byte, and for the rest of a request: Slack cancels its own after 3.
    ``idle_timeout`` is for the next request; usual load balancers close after 60. ``max_connections`` leaves
    half of the usual 1,024 files to everything else; for ``max_per_address`` a proxy is one address. No
    connection is closed for another within ``grace_period``: its request may be on its way.
    """

    request_timeout: float = 10.0
    idle_timeout: float = 120.0
    max_connections: int = 500
    max_per_address: int = 200
    grace_period: float = 2.0


class _StrictRequestParser(HTTPRequestParser):  # type: ignore[misc]
    """A parser that refuses a request if two headers give its end. A proxy in front may believe the other one."""

    def parse_header(self, header_plus: bytes) -> None:
        super().parse_header(header_plus)
        is_sized = "CONTENT_LENGTH" in self.headers
        # a header that is still here was ignored: HTTP/1.0 does not know it
        if (self.chunked and is_sized) or "TRANSFER_ENCODING" in self.headers:
            raise ParsingError("Content-Length and Transfer-Encoding can't be combined")


class _TimedChannel(HTTPChannel):  # type: ignore[misc]
    """A connection that knows since when it has waited for its client, and until when it does."""

    parser_class = _StrictRequestParser

    def __init__(self, server: _LimitedServer, *arguments: Any, **options: Any) -> None:
        super().__init__(server, *arguments, **options)
        self._bounds = server.bounds
        self.waiting_since = time.monotonic()
        self.deadline = self.waiting_since + self._bounds.request_timeout

    @property
    def is_waiting_for_client(self) -> bool:
        return not self.requests and not self.will_close

    def may_be_closed(self, now: float) -> bool:
        return self.is_waiting_for_client and now - self.waiting_since >= self._bounds.grace_period

    def received(self, data: bytes) -> bool:
        """Receive bytes; the first byte of a request starts its time limit."""
        if self.request is None:
            # never later than before: blank lines between requests would otherwise extend it for ever
            self.deadline = min(self.deadline, time.monotonic() + self._bounds.request_timeout)
        return bool(super().received(data))

    def service(self) -> None:
        """Answer the requests that are complete, then wait for the client again."""
        try:
            super().service()
        finally:
            self.waiting_since = time.monotonic()
            self.deadline = self.waiting_since + (
                self._bounds.idle_timeout if self.request is None else self._bounds.request_timeout
            )


class _LimitedServer(TcpWSGIServer):  # type: ignore[misc]
    """A server that closes late connections and, when there are too many, the one that has waited longest."""

    channel_class = _TimedChannel

    def __init__(self, *arguments: Any, bounds: ConnectionLimits, **options: Any) -> None:
        self.bounds = bounds
        self._next_sweep = 0.0
        self._closed_count = 0
        super().__init__(*arguments, **options)

    def readable(self) -> bool:
        """Return whether to accept connections; waitress calls it before each wait for events."""
        now = time.monotonic()
        if now >= self._next_sweep:
            self._next_sweep = now + _SWEEP_INTERVAL
            self._close_late_channels(now)
        if len(self.active_channels) >= self.bounds.max_connections:
            channels = self._list_open_channels()
            if len(channels) >= self.bounds.max_connections and not self._close_oldest(channels, now):
                # a new client waits in the backlog until a connection ends or may be closed
                return False
        return bool(super().readable())

    def handle_accept(self) -> None:
        """Accept a connection; close one of the address that has most if that has more than it may have."""
        super().handle_accept()
        if len(self.active_channels) > self.bounds.max_per_address:
            by_address: dict[str, list[_TimedChannel]] = defaultdict(list)
            for channel in self._list_open_channels():
                by_address[channel.addr[0]].append(channel)
            most = max(by_address.values(), key=len, default=[])
            if len(most) > self.bounds.max_per_address:
                self._close_oldest(most, time.monotonic())

    def _list_open_channels(self) -> list[_TimedChannel]:
        return [channel for channel in self.active_channels.values() if not channel.will_close]

    def _close_oldest(self, channels: Iterable[_TimedChannel], now: float) -> bool:
        """Close the connection that has waited longest, of those that may be closed, if there is one."""
        waiting = [channel for channel in channels if channel.may_be_closed(now)]
        self._mark_closing(sorted(waiting, key=lambda channel: channel.waiting_since)[:1])
        return bool(waiting)

    def _close_late_channels(self, now: float) -> None:
        channels = self.active_channels.values()
        self._mark_closing(
            channel for channel in channels if channel.is_waiting_for_client and now > channel.deadline
        )
        if self._closed_count:
            # one line for all, so that a thousand connections do not fill the log
            log.info("closed %d connections that kept the server waiting or were too many", self._closed_count)
            self._closed_count = 0

    def _mark_closing(self, channels: Iterable[_TimedChannel]) -> None:
        for channel in channels:
            # the loop closes it in its next round
            channel.will_close = True
            self._closed_count += 1


@contextmanager
def serve_app(
    app: WSGIApplication,
    host: str,
    port: int,
    most_bytes: int,
    bounds: ConnectionLimits = ConnectionLimits(),
    variable: str = "PORT",
) -> Iterator[int]:
    """Serve an application until the end of the block; yield its port. Bodies have fewer than ``most_bytes``.

    Raises ConfigurationError, which names the setting ``variable``, if the port can't be used.
    """
    sockets: dict[int, wasyncore.dispatcher] = {}
    adjustments = Adjustments(
        host=host,
        port=port,
        threads=_WORKER_THREADS,
        connection_limit=_WAITRESS_CONNECTION_LIMIT,
        max_request_body_size=most_bytes,
        # select does not support file descriptors above 1,023
        asyncore_use_poll=True,
    )
    dispatcher, listen = ThreadedTaskDispatcher(), adjustments.listen[0]
    dispatcher.set_thread_count(adjustments.threads)
    try:
        server = _LimitedServer(
            app, sockets, dispatcher=dispatcher, adj=adjustments, sockinfo=listen, bounds=bounds
        )
    except OSError as error:
        dispatcher.shutdown(timeout=_THREAD_GRACE)
        raise ConfigurationError(
            f"{variable} {port} can't be used ({error.strerror}): set another one."
        ) from error
    loop = threading.Thread(target=server.run, daemon=True, name="web")
    loop.start()
    log.info("listening on port %s", server.effective_port)
    try:
        yield int(server.effective_port)
    finally:
        # the requests that are being answered
        end = time.monotonic() + _REQUEST_GRACE
        while (dispatcher.queue or dispatcher.active_count) and time.monotonic() < end:
            time.sleep(0.05)
        dispatcher.shutdown(timeout=_THREAD_GRACE)
        close_sockets(server.trigger, sockets)
        loop.join()


def close_sockets(wakeup: trigger, sockets: dict[int, wasyncore.dispatcher]) -> None:
    """Close the sockets in the thread that ``wakeup``, one of them, wakes: a running select needs good files."""
    # the end of a request wakes the loop too: it could close the pipe that is about to be written to
    lock = threading.Lock()

    def close() -> None:
        with lock:
            wasyncore.close_all(sockets)

    with lock:
        wakeup.pull_trigger(close)
