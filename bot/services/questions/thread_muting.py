"""In which threads the bot answers without being named."""

from __future__ import annotations

from bot.domain.keyspace.keys import ATTENTION
from bot.ports import Contexts

_QUIET, _AWAKE, _BEGUN = "quiet", "awake", "begun"


class Attention:
    """Threads that were silenced, and those that somebody began by asking: for good.

    Every method may raise StoreUnavailable.
    """

    def __init__(self, contexts: Contexts) -> None:
        self._contexts = contexts

    def listens(self, channel: str, thread: str, *, is_own: bool) -> bool:
        """Whether replies that name nobody are for the bot; ``is_own`` says that it began the thread."""
        state = self._contexts.get(_key(channel, thread))
        return state != _QUIET if is_own else state in (_BEGUN, _AWAKE)

    def begin(self, channel: str, thread: str) -> None:
        """Somebody began the thread by asking the bot."""
        self._contexts.put(_key(channel, thread), _BEGUN)

    def quiet(self, channel: str, thread: str) -> None:
        """Answer here only who names the bot."""
        self._contexts.put(_key(channel, thread), _QUIET)

    def wake(self, channel: str, thread: str) -> None:
        """Answer here again."""
        self._contexts.put(_key(channel, thread), _AWAKE)


def _key(channel: str, thread: str) -> str:
    return ATTENTION.key(channel, thread)
