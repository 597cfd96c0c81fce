"""In which threads the bot answers without being named."""

from __future__ import annotations

from datetime import timedelta

from bot.ports import Cache

# counted from when somebody said so; Slack's threads are rarely older
_LIFETIME = timedelta(days=90)
_QUIET, _AWAKE, _BEGUN = "quiet", "awake", "begun"


class Attention:
    """Threads that were silenced, and those that somebody began by asking. All may raise StoreUnavailable."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache

    def listens(self, channel: str, thread: str, *, is_own: bool) -> bool:
        """Whether replies that name nobody are for the bot; ``is_own`` says that it began the thread."""
        state = self._cache.get(_key(channel, thread))
        return state != _QUIET if is_own else state in (_BEGUN, _AWAKE)

    def begin(self, channel: str, thread: str) -> None:
        """Somebody began the thread by asking the bot."""
        self._cache.put(_key(channel, thread), _BEGUN, _LIFETIME)

    def quiet(self, channel: str, thread: str) -> None:
        """Answer here only who names the bot."""
        self._cache.put(_key(channel, thread), _QUIET, _LIFETIME)

    def wake(self, channel: str, thread: str) -> None:
        """Answer here again."""
        self._cache.put(_key(channel, thread), _AWAKE, _LIFETIME)


def _key(channel: str, thread: str) -> str:
    return f"attention:{channel}:{thread}"
