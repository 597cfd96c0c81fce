"""Calls to GitHub without haste: leave calls for others, wait out limits, and retry after failures."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import TypeVar

from tenacity import RetryCallState, Retrying, retry_if_exception_type, stop_after_attempt, wait_exponential

from bot.domain.errors import GitHubUnavailable, RateLimited
from bot.domain.operations.rate_allowance import Allowance

log = logging.getLogger(__name__)

T = TypeVar("T")
Say = Callable[[str], None]

_TRIES = 5
# if the refusal names no time, GitHub asks for at least a minute, and for longer each time
# (docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api)
_LIMITED = wait_exponential(multiplier=60)
_FAILED = wait_exponential(multiplier=5, max=60)


class Pace:
    """Throttle that sleeps only in the calling thread, so that Ctrl-C ends a pause at once.

    ``allowances`` returns what GitHub still allows; nothing if that is unknown.
    """

    def __init__(
        self,
        allowances: Callable[[], Iterable[Allowance]],
        now: Callable[[], datetime],
        sleep: Callable[[float], None],
    ) -> None:
        self._allowances = allowances
        self._now = now
        self._sleep = sleep

    def patiently(self, work: Callable[[], T], say: Say) -> T:
        """Run ``work`` as soon as the limits allow it, and return its result.

        ``say`` is called with the reason for a pause, and with an empty text after it.

        Raises:
            RateLimited, GitHubUnavailable: each of five attempts raised one of them.
        """

        def start_work() -> T:
            self._wait_for_room(say)
            return work()

        return Retrying(
            retry=retry_if_exception_type((RateLimited, GitHubUnavailable)),
            stop=stop_after_attempt(_TRIES),
            wait=_seconds,
            before_sleep=lambda state: self._tell(_why(state), state.upcoming_sleep, say),
            sleep=lambda seconds: self._pause(seconds, say),
            reraise=True,
        )(start_work)

    def _wait_for_room(self, say: Say) -> None:
        """Wait until no limit of GitHub is short."""
        short = [allowance for allowance in self._allowances() if allowance.is_short]
        if not short:
            return
        last = max(short, key=lambda allowance: allowance.resets)
        seconds = max((last.resets - self._now()).total_seconds(), 0.0) + 1  # GitHub tells whole seconds
        self._tell(f"{last.left:,} of {last.limit:,} GitHub calls are left for others", seconds, say)
        self._pause(seconds, say)

    def _tell(self, why: str, seconds: float, say: Say) -> None:
        """Log a pause and report it to the caller."""
        until = self._now() + timedelta(seconds=seconds)
        sentence = f"{why}: waiting until {until:%H:%M:%S} UTC"
        log.info("%s", sentence)
        say(sentence)

    def _pause(self, seconds: float, say: Say) -> None:
        """Sleep, then report that the work goes on."""
        self._sleep(seconds)
        say("")


def _seconds(state: RetryCallState) -> float:
    """Return the seconds before the next attempt."""
    error = state.outcome.exception() if state.outcome else None
    if not isinstance(error, RateLimited):
        return float(_FAILED(state))
    return float(_LIMITED(state)) if error.retry_after is None else error.retry_after


def _why(state: RetryCallState) -> str:
    """Return the reason for the next attempt, as a clause."""
    error = state.outcome.exception() if state.outcome else None
    return "GitHub asks for a pause" if isinstance(error, RateLimited) else "GitHub does not answer"
