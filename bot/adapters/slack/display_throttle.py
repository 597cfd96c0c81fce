"""When an answer that is being written may be shown again."""

from __future__ import annotations

from collections.abc import Callable

from bot.adapters.slack.transport import MAX_PAUSE
from bot.domain.errors import SlackCallRefused, SlackUnavailable

# seconds between two pieces: Slack takes a hundred a minute of all streams of a workspace together
APPEND_PAUSE = 1.0
# seconds between two edits: each shows all again, and Slack takes fifty a minute
EDIT_PAUSE = 3.0


class DisplayThrottle:
    """The pauses of one answer. ``clock`` gives seconds that only go up; ``sleep`` takes seconds."""

    def __init__(self, clock: Callable[[], float], sleep: Callable[[float], None]) -> None:
        self._clock = clock
        self._sleep = sleep
        # seconds of the clock: when to send again, and until when Slack asked us to wait
        self._next_send_at = self._free_at = 0.0

    @property
    def is_due(self) -> bool:
        """Whether something may be sent now."""
        return self._clock() >= self._next_send_at

    def delay_sending(self, seconds: float) -> None:
        """Send nothing for so long."""
        self._next_send_at = max(self._next_send_at, self._clock() + seconds)

    def apply_retry_after(self, error: SlackCallRefused | SlackUnavailable) -> None:
        """Send nothing before the end of the pause that Slack wants, if it wants one."""
        if isinstance(error, SlackUnavailable) and error.retry_after is not None:
            self._free_at = self._clock() + error.retry_after
            self.delay_sending(error.retry_after)

    def wait_until_free(self) -> None:
        """Pause until Slack takes something again. Raises SlackUnavailable: that is too long for a job."""
        left = self._free_at - self._clock()
        if left > MAX_PAUSE:
            raise SlackUnavailable("Slack asks for a pause: try again in a few minutes.", left)
        if left > 0:
            self._sleep(left)
