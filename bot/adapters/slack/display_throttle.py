"""Throttle for the pieces and edits of an answer that is being written."""

from __future__ import annotations

from collections.abc import Callable

from bot.adapters.slack.transport import MAX_PAUSE
from bot.domain.errors import SlackCallRefused, SlackUnavailable

# seconds between two pieces: Slack accepts a hundred a minute for all streams of a workspace together
APPEND_PAUSE = 1.0
# seconds between two edits: each sends the whole text, and Slack accepts fifty a minute
EDIT_PAUSE = 3.0


class DisplayThrottle:
    """Throttle of one answer. ``clock`` returns seconds that only go up; ``sleep`` takes seconds."""

    def __init__(self, clock: Callable[[], float], sleep: Callable[[float], None]) -> None:
        self._clock = clock
        self._sleep = sleep
        # by the clock: the time of the next call, and the end of the pause that Slack asked for
        self._next_send_at = self._free_at = 0.0

    @property
    def is_due(self) -> bool:
        """Whether something may be sent now."""
        return self._clock() >= self._next_send_at

    def delay_sending(self, seconds: float) -> None:
        """Send nothing for so many seconds."""
        self._next_send_at = max(self._next_send_at, self._clock() + seconds)

    def apply_retry_after(self, error: SlackCallRefused | SlackUnavailable) -> None:
        """Send nothing before the end of the pause that Slack asks for, if it asks for one."""
        if isinstance(error, SlackUnavailable) and error.retry_after is not None:
            self._free_at = self._clock() + error.retry_after
            self.delay_sending(error.retry_after)

    def wait_until_free(self) -> None:
        """Wait for the end of the pause. Raises SlackUnavailable if that is too long for a job."""
        left = self._free_at - self._clock()
        if left > MAX_PAUSE:
            raise SlackUnavailable("Slack limits the rate: try again in a few minutes.", left)
        if left > 0:
            self._sleep(left)
