"""The connection from the page to a bot that may still be starting."""

from __future__ import annotations

import threading

from localslack.errors import InvalidAction
from localslack.state.workspace import Json
from localslack.users.transport import Ack, Transport

# seconds; a bot starts in two or three, and an open page asks for its Home at once
_START_SECONDS = 10.0


class Connection:
    """A ``Transport`` that exists before its bot does: a delivery waits ``patience`` seconds for the bot."""

    def __init__(self, patience: float = _START_SECONDS) -> None:
        self._patience = patience
        self._transport: Transport | None = None
        self._is_connected = threading.Event()

    def connect(self, transport: Transport) -> None:
        """Use this transport from now on: the bot accepts requests."""
        self._transport = transport
        self._is_connected.set()

    def send(self, kind: str, payload: Json, *, retry: int = 0) -> Ack:
        """Deliver a payload. Raises InvalidAction if the bot does not start in time."""
        self._is_connected.wait(self._patience)
        if self._transport is None:
            raise InvalidAction("The bot is still starting: try again in a moment.")
        return self._transport.send(kind, payload, retry=retry)
