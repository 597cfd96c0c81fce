"""Posts at the pace that Slack takes them: one a second in each channel (docs.slack.dev, chat.postMessage)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from bot.adapters.slack.transport import LONGEST_PAUSE
from bot.domain.errors import SlackUnavailable
from bot.services.operations import deadlines

_SECOND = 1.0
# channels that are remembered; one that was quiet for a second need not be
_MANY = 1_000
_BUSY = "So much is posted there that this has to wait: try again in a minute."


class Pace:
    """Gives each post its turn, in one process. What other processes post, Slack's own answers tell.

    Slack takes some at once, and does not say how many: whoever counts on that is refused on a busy day.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = deadlines.sleep,
    ) -> None:
        """``clock`` gives seconds that only go up, and ``sleep`` lets so many of them go by."""
        self._clock = clock
        self._sleep = sleep
        self._free: dict[str, float] = {}
        self._lock = threading.Lock()

    def wait(self, channel: str) -> None:
        """Wait for the next turn in a channel.

        Raises:
            SlackUnavailable: that is longer than a job may wait; its pause says how long.
            Stopping: the process ends.
        """
        seconds = self._take(channel)
        if seconds > 0:
            self._sleep(seconds)

    def _take(self, channel: str) -> float:
        """The seconds until its turn, which is taken now."""
        with self._lock:
            now = self._clock()
            if len(self._free) > _MANY:
                self._free = {name: free for name, free in self._free.items() if free > now}
            seconds = max(0.0, self._free.get(channel, now) - now)
            if seconds > min(LONGEST_PAUSE, deadlines.left()):
                raise SlackUnavailable(_BUSY, seconds)
            self._free[channel] = now + seconds + _SECOND
            return seconds
