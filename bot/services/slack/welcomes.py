"""The users that the bot has welcomed in direct messages."""

from __future__ import annotations

from bot.domain.keyspace.keys import WELCOMED
from bot.ports import Contexts

_WELCOMED = "yes"


class Welcomes:
    """Permanent log of welcomed users, so that nobody is welcomed twice.

    Both methods may raise StoreUnavailable.
    """

    def __init__(self, contexts: Contexts) -> None:
        self._contexts = contexts

    def has(self, user: str) -> bool:
        """Return whether a user was welcomed."""
        return self._contexts.get(_key(user)) is not None

    def note(self, user: str) -> None:
        """Record that a user was welcomed."""
        self._contexts.put(_key(user), _WELCOMED)


def _key(user: str) -> str:
    return WELCOMED.key(user)
