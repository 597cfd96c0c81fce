"""Rate of posts that Slack accepts: one per second in each channel (docs.slack.dev, chat.postMessage)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from bot.adapters.slack.transport import MAX_PAUSE
from bot.domain.errors import SlackUnavailable
from bot.platform import deadlines

_POST_INTERVAL = 1.0
# channels to keep; one without a post for a second can be forgotten
_MAX_CHANNELS = 1_000
_BUSY = "The channel gets too many posts right now: try again in a minute."


class PostThrottle:
    """Throttle that gives each post of one process its turn. Slack's own rate limits cover the other processes.

    Slack accepts short bursts but does not say how long they may be: relying on them fails on a busy day.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = deadlines.sleep,
    ) -> None:
        """Create a throttle. ``clock`` returns seconds that only go up; ``sleep`` takes seconds."""
        self._clock = clock
        self._sleep = sleep
        self._free: dict[str, float] = {}
        self._lock = threading.Lock()

    def wait_for_turn(self, channel: str) -> None:
        """Wait for the next turn in a channel.

        Raises:
            SlackUnavailable: the wait is longer than a job may wait; the error holds its seconds.
            ProcessShutdown: the process ends.
        """
        seconds = self._reserve_turn(channel)
        if seconds > 0:
            self._sleep(seconds)

    def _reserve_turn(self, channel: str) -> float:
        """Reserve the next turn, and return the seconds until then."""
        with self._lock:
            now = self._clock()
            if len(self._free) > _MAX_CHANNELS:
                self._free = {name: free for name, free in self._free.items() if free > now}
            seconds = max(0.0, self._free.get(channel, now) - now)
            if seconds > min(MAX_PAUSE, deadlines.get_seconds_left()):
                raise SlackUnavailable(_BUSY, seconds)
            self._free[channel] = now + seconds + _POST_INTERVAL
            return seconds
