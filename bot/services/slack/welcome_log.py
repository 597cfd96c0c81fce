"""The users that the bot has welcomed in direct messages."""

from __future__ import annotations

from bot.domain.keyspace.keys import WELCOME
from bot.ports import ThreadStateStore

_WELCOMED = "yes"


class WelcomeLog:
    """Permanent log of welcomed users, so that nobody is welcomed twice.

    Both methods may raise StoreUnavailable.
    """

    def __init__(self, states: ThreadStateStore) -> None:
        self._states = states

    def has_welcomed(self, user: str) -> bool:
        """Return whether a user was welcomed."""
        return self._states.get(_build_key(user)) is not None

    def note_welcome(self, user: str) -> None:
        """Record that a user was welcomed."""
        self._states.put(_build_key(user), _WELCOMED)


def _build_key(user: str) -> str:
    return WELCOME.build_key(user)
