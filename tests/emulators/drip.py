"""A service that drips: what stands between the bot and an emulator hands on its answers byte by byte.

Each byte begins a read timeout again, in the headers as in the body, of a stream too, and over TLS.
"""

import socket
import ssl
import threading
from io import BufferedIOBase
from types import TracebackType
from typing import Literal

from tests.emulators.relay import Asked, Relay

Where = Literal["headers", "body"]


class Drip(Relay):
    """Stands before the service at ``target``.

    ``interval`` is seconds after each ``piece`` of bytes; None: as it comes.
    ``match`` is part of the paths that drip, ``where`` whether the headers do too; ``paths`` are those of all
    requests, of which some share ``connections``. With ``context`` it speaks TLS.
    """

    def __init__(self, target: str, where: Where = "headers", context: ssl.SSLContext | None = None) -> None:
        super().__init__(target, context)
        self.where: Where = where
        self.interval: float | None = None
        self.match = ""
        self.is_chunked = False
        self.piece = 1
        self.paths: list[str] = []
        self.connections = 0
        self.stopped = threading.Event()

    def heal(self) -> None:
        self.interval = None
        self.stopped.set()

    def open_connection(self, connection: socket.socket) -> None:
        super().open_connection(connection)
        self.connections += 1

    def serve(self, asked: Asked, out: BufferedIOBase) -> bool:
        """Hand on the answer, in drips where that is asked for."""
        self.paths.append(asked.path)
        answer = self.ask(asked)
        head = answer.head("Transfer-Encoding: chunked" if self.is_chunked else None)
        body = b"%x\r\n%s\r\n0\r\n\r\n" % (len(answer.body), answer.body) if self.is_chunked else answer.body
        drips = self.interval is not None and self.match in asked.path
        for part, is_dripped in ((head, drips and self.where == "headers"), (body, drips)):
            if is_dripped:
                self._drip(part, out)
            else:
                out.write(part)
        return True

    def _drip(self, data: bytes, out: BufferedIOBase) -> None:
        """Byte by byte, until the drip stops: then the rest at once."""
        for place in range(0, len(data), self.piece):
            if self.interval is None:
                out.write(data[place:])
                return
            out.write(data[place : place + self.piece])
            self.stopped.wait(self.interval)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.heal()
        super().__exit__(kind, error, trace)
