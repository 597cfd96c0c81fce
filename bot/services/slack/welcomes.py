"""Whom the bot has welcomed in direct messages."""

from __future__ import annotations

from bot.domain.keyspace.keys import WELCOMED
from bot.ports import Contexts

_WELCOMED = "yes"


class Welcomes:
    """Remembers for good who was welcomed, so that nobody is twice. Both may raise StoreUnavailable."""

    def __init__(self, contexts: Contexts) -> None:
        self._contexts = contexts

    def has(self, user: str) -> bool:
        """Whether a user was welcomed."""
        return self._contexts.get(_key(user)) is not None

    def note(self, user: str) -> None:
        """A user was welcomed."""
        self._contexts.put(_key(user), _WELCOMED)


def _key(user: str) -> str:
    return WELCOMED.key(user)
