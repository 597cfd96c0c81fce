"""The way from the page to a bot that may still be starting."""

from __future__ import annotations

from bot.sandbox.slack.kept.store import Json
from bot.sandbox.slack.misuse import Misuse
from bot.sandbox.slack.people.wire import Ack, Wire


class Connection:
    """A ``Wire`` that is there before its bot is."""

    def __init__(self) -> None:
        self._wire: Wire | None = None

    def connect(self, wire: Wire) -> None:
        """The bot takes requests now."""
        self._wire = wire

    def send(self, kind: str, payload: Json, *, retry: int = 0) -> Ack:
        """Deliver it. Raises Misuse while the bot is starting."""
        if self._wire is None:
            raise Misuse("The bot is still starting: try again in a moment.")
        return self._wire.send(kind, payload, retry=retry)
