"""Slack's side of Socket Mode: the WebSockets that carry an app's events."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
import uuid
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from urllib.parse import parse_qs, urlsplit

from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.sync.server import Server, ServerConnection, serve

from localslack.errors import InvalidAction, SlackError
from localslack.state.identity import APP_ID
from localslack.state.workspace import Json
from localslack.users.transport import TIMEOUT, Ack

MAX_CONNECTIONS = 10  # connections of one app
PING_SECONDS = 0.1  # Slack's are rarer; a client that is waiting can close only when it receives something
CLOSE_SECONDS = 0.5  # for a client to close its side
RESET = struct.pack("ii", 1, 0)  # a linger time of 0 resets the connection instead of closing it
DEBUG = {"host": "applink-1"}


class SocketModeServer:
    """A server of WebSockets that starts when the first address is requested.

    ``received`` is all that apps have sent. ``linger`` is how many seconds a connection stays open after a
    disconnect message.
    """

    def __init__(self) -> None:
        self.linger = 0.1
        self.received: list[Json] = []
        self._changed = threading.Condition()
        self._links: list[ServerConnection] = []
        self._tickets: set[str] = set()
        self._answers: dict[str, Json] = {}
        self._sent = 0
        self._server: Server | None = None
        self._threads: list[threading.Thread] = []
        self._stopped = False

    # for tests

    @property
    def connections(self) -> int:
        """The number of connections that receive events, without those that are about to close."""
        with self._changed:
            return len(self._links)

    def wait_for_connections(self, number: int = 1, seconds: float = 5.0) -> None:
        """Wait for that many connections. Raises TimeoutError after that many seconds."""
        with self._changed:
            reached = self._changed.wait_for(lambda: len(self._links) == number, seconds)
            if not reached:
                raise TimeoutError(f"{len(self._links)} connections after {seconds} s, not {number}")

    def disconnect(self, reason: str = "refresh_requested") -> None:
        """Announce to the oldest connection that it will close, and close it; the client should reconnect."""
        link = self._release_oldest()
        link.send(json.dumps({"type": "disconnect", "reason": reason, "debug_info": DEBUG}))
        self._start_thread(threading.Timer(self.linger, link.close))

    def drop_connection(self, *, reset: bool = True) -> None:
        """End the oldest connection without an announcement: by a TCP reset, or by closing it."""
        link = self._release_oldest()
        if reset:
            link.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        link.close_socket()

    def deliver_envelope(self, kind: str, payload: Json, *, retry: int = 0, patience: float = 3.0) -> Json | None:
        """Send an envelope through the next connection; return the app's answer, or None without one in time.

        It waits for a connection if there is none: the client is ready a moment before its connection counts.
        """
        deadline = time.monotonic() + patience
        link, envelope = self._next_link(patience), make_envelope(kind, payload, retry)
        if link is None:
            return None
        with suppress(ConnectionClosed):
            link.send(json.dumps(envelope))
        return self._wait_for_answer(envelope["envelope_id"], deadline - time.monotonic())

    # for the emulator

    def make_address(self) -> str:
        """Return an address at which one WebSocket can be opened, once."""
        with self._changed:
            if self._stopped:
                raise SlackError("internal_error")
            if self._server is None:
                self._server = self._start_server()
            ticket = uuid.uuid4().hex
            self._tickets.add(ticket)
            host, port = self._server.socket.getsockname()[:2]
            return f"ws://{host}:{port}/link/?ticket={ticket}&app_id={APP_ID}"

    def stop(self) -> None:
        """Stop the server and its threads."""
        with self._changed:
            self._stopped = True
            server, self._server = self._server, None
        if server:
            server.shutdown()
        for thread in self._threads:
            if isinstance(thread, threading.Timer):
                thread.cancel()
            thread.join(timeout=5)

    # the connection

    def _start_server(self) -> Server:
        server = serve(
            self._serve_connection,
            "127.0.0.1",
            0,
            process_request=self._check_ticket,
            compression=None,
            ping_interval=None,
            close_timeout=CLOSE_SECONDS,
        )
        self._start_thread(threading.Thread(target=server.serve_forever, daemon=True))
        return server

    def _start_thread(self, thread: threading.Thread) -> None:
        self._threads.append(thread)
        thread.start()

    def _check_ticket(self, connection: ServerConnection, request: Request) -> Response | None:
        """Accept each ticket once."""
        url = urlsplit(request.path)
        ticket = parse_qs(url.query).get("ticket", [""])[0]
        with self._changed:
            if url.path == "/link/" and ticket in self._tickets:
                self._tickets.remove(ticket)
                return None
        return connection.respond(401, "invalid ticket\n")

    def _serve_connection(self, link: ServerConnection) -> None:
        with suppress(ConnectionClosed):
            if not self._send_hello(link):
                link.send(json.dumps({"type": "disconnect", "reason": "too_many_websockets", "debug_info": DEBUG}))
                return
            self._start_thread(threading.Thread(target=_ping_until_closed, args=(link,), daemon=True))
            for text in link:
                self._receive_message(json.loads(text))
        with self._changed:
            if link in self._links:
                self._links.remove(link)
            self._changed.notify_all()

    def _send_hello(self, link: ServerConnection) -> bool:
        """Return whether there was room for the connection; it receives events only after its hello."""
        number = len(link.server.connections)
        if number > MAX_CONNECTIONS:
            return False
        about = {"num_connections": number, "debug_info": DEBUG, "connection_info": {"app_id": APP_ID}}
        with self._changed:
            link.send(json.dumps({"type": "hello", **about}))
            self._links.append(link)
            self._changed.notify_all()
        return True

    def _receive_message(self, message: Json) -> None:
        with self._changed:
            self.received.append(message)
            self._answers.setdefault(str(message.get("envelope_id")), message)
            self._changed.notify_all()

    def _release_oldest(self) -> ServerConnection:
        """Return the oldest connection, which receives no more events. Raises InvalidAction if there is none."""
        with self._changed:
            if not self._links:
                raise InvalidAction("no connection is open")
            return self._links.pop(0)

    def _next_link(self, seconds: float) -> ServerConnection | None:
        """Return the next connection in turn, as no app may rely on one of them."""
        with self._changed:
            if not self._changed.wait_for(lambda: self._links, seconds):
                return None
            self._sent += 1
            return self._links[self._sent % len(self._links)]

    def _wait_for_answer(self, envelope_id: str, seconds: float) -> Json | None:
        """Wait for the answer. It may come through any connection: the client sends it through its newest."""
        with self._changed:
            self._changed.wait_for(lambda: envelope_id in self._answers, seconds)
            return self._answers.pop(envelope_id, None)


def _ping_until_closed(link: ServerConnection) -> None:
    """Ping until the connection ends. The library's own pings use the random numbers that tests share."""
    with suppress(ConnectionClosed):
        for number in count():
            link.ping(str(number))
            time.sleep(PING_SECONDS)


def make_envelope(kind: str, payload: Json, retry: int) -> Json:
    """Return an envelope. Only commands and forms are answered in it; only events name their attempt."""
    answered = kind == "slash_commands" or payload.get("type") in {"view_submission", "block_suggestion"}
    attempt = {"retry_attempt": retry, "retry_reason": "timeout" if retry else ""}
    return {
        "envelope_id": str(uuid.uuid4()),
        "type": kind,
        "payload": payload,
        "accepts_response_payload": answered,
        **(attempt if retry or kind == "events_api" else {}),
    }


@dataclass(frozen=True)
class SocketTransport:
    """A transport of envelopes through one of the WebSockets that the app has opened."""

    socket: SocketModeServer
    patience: float = TIMEOUT

    def send(self, kind: str, payload: Json, *, retry: int = 0) -> Ack:
        """Deliver a payload; return the app's answer as an HTTP transport would."""
        started = time.monotonic()
        answer = self.socket.deliver_envelope(kind, payload, retry=retry, patience=self.patience)
        seconds = time.monotonic() - started
        return Ack(0, "", seconds) if answer is None else Ack(200, answer.get("payload", ""), seconds)
