"""The threads in which the bot answers without a mention."""

from __future__ import annotations

from bot.domain.keyspace.keys import THREAD_MUTING
from bot.ports import ThreadStateStore

_MUTED, _UNMUTED, _STARTED = "quiet", "awake", "begun"


class ThreadMuting:
    """State of threads that were muted, or started with a question to the bot. It is permanent.

    Every method may raise StoreUnavailable.
    """

    def __init__(self, states: ThreadStateStore) -> None:
        self._states = states

    def is_listening(self, channel: str, thread: str, *, is_own: bool) -> bool:
        """Return whether replies without a mention are for the bot; ``is_own``: the bot started the thread."""
        state = self._states.get(_build_key(channel, thread))
        return state != _MUTED if is_own else state in (_STARTED, _UNMUTED)

    def start_thread(self, channel: str, thread: str) -> None:
        """Record that somebody started the thread with a question to the bot."""
        self._states.put(_build_key(channel, thread), _STARTED)

    def mute(self, channel: str, thread: str) -> None:
        """Answer only mentions in this thread from now on."""
        self._states.put(_build_key(channel, thread), _MUTED)

    def unmute(self, channel: str, thread: str) -> None:
        """Answer all replies in this thread again."""
        self._states.put(_build_key(channel, thread), _UNMUTED)


def _build_key(channel: str, thread: str) -> str:
    return THREAD_MUTING.build_key(channel, thread)
