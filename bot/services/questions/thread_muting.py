"""In which threads the bot answers without being named."""

from __future__ import annotations

from bot.domain.keyspace.keys import THREAD_MUTING
from bot.ports import ThreadStateStore

_MUTED, _UNMUTED, _STARTED = "quiet", "awake", "begun"


class ThreadMuting:
    """Threads that were silenced, and those that somebody began by asking: for good.

    Every method may raise StoreUnavailable.
    """

    def __init__(self, states: ThreadStateStore) -> None:
        self._states = states

    def is_listening(self, channel: str, thread: str, *, is_own: bool) -> bool:
        """Whether replies that name nobody are for the bot; ``is_own`` says that it began the thread."""
        state = self._states.get(_build_key(channel, thread))
        return state != _MUTED if is_own else state in (_STARTED, _UNMUTED)

    def start_thread(self, channel: str, thread: str) -> None:
        """Somebody began the thread by asking the bot."""
        self._states.put(_build_key(channel, thread), _STARTED)

    def mute(self, channel: str, thread: str) -> None:
        """Answer here only who names the bot."""
        self._states.put(_build_key(channel, thread), _MUTED)

    def unmute(self, channel: str, thread: str) -> None:
        """Answer here again."""
        self._states.put(_build_key(channel, thread), _UNMUTED)


def _build_key(channel: str, thread: str) -> str:
    return THREAD_MUTING.build_key(channel, thread)
