"""The way from the page to a bot that may still be starting."""

from __future__ import annotations

import threading

from localslack.errors import InvalidAction
from localslack.state.workspace import Json
from localslack.users.transport import Ack, Transport

# seconds; a bot starts in two or three, and a page that is open already asks for its Home at once
_STARTS = 10.0


class Connection:
    """A ``Transport`` that is there before its bot is: what is sent waits ``patience`` seconds for the bot."""

    def __init__(self, patience: float = _STARTS) -> None:
        self._patience = patience
        self._wire: Transport | None = None
        self._is_there = threading.Event()

    def connect(self, wire: Transport) -> None:
        """The bot takes requests now."""
        self._wire = wire
        self._is_there.set()

    def send(self, kind: str, payload: Json, *, retry: int = 0) -> Ack:
        """Deliver it. Raises Misuse where the bot does not start in time."""
        self._is_there.wait(self._patience)
        if self._wire is None:
            raise InvalidAction("The bot is still starting: try again in a moment.")
        return self._wire.send(kind, payload, retry=retry)
