"""Calls to GitHub without haste: leave calls for others, wait out limits, and retry after failures."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import TypeVar

from tenacity import RetryCallState, Retrying, retry_if_exception_type, stop_after_attempt, wait_exponential

from bot.domain.errors import GitHubUnavailable, RateLimited
from bot.domain.operations.rate_allowance import RateAllowance

log = logging.getLogger(__name__)

T = TypeVar("T")
WaitListener = Callable[[str], None]

_MAX_ATTEMPTS = 5
# if the refusal names no time, GitHub asks for at least a minute, and for longer each time
# (docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api)
_LIMIT_WAIT = wait_exponential(multiplier=60)
_FAILURE_WAIT = wait_exponential(multiplier=5, max=60)


class Throttle:
    """Throttle that sleeps only in the calling thread, so that Ctrl-C ends a pause at once.

    ``allowances`` returns what GitHub still allows; nothing if that is unknown.
    """

    def __init__(
        self,
        allowances: Callable[[], Iterable[RateAllowance]],
        now: Callable[[], datetime],
        sleep: Callable[[float], None],
    ) -> None:
        self._allowances = allowances
        self._now = now
        self._sleep = sleep

    def run_with_retries(self, work: Callable[[], T], say: WaitListener) -> T:
        """Run ``work`` as soon as the limits allow it, and return its result.

        ``say`` is called with the reason for a pause, and with an empty text after it.

        Raises:
            RateLimited, GitHubUnavailable: each of five attempts raised one of them.
        """

        def start_work() -> T:
            self._wait_for_allowance(say)
            return work()

        return Retrying(
            retry=retry_if_exception_type((RateLimited, GitHubUnavailable)),
            stop=stop_after_attempt(_MAX_ATTEMPTS),
            wait=_compute_wait,
            before_sleep=lambda state: self._announce_pause(_describe_reason(state), state.upcoming_sleep, say),
            sleep=lambda seconds: self._sleep_and_report(seconds, say),
            reraise=True,
        )(start_work)

    def _wait_for_allowance(self, say: WaitListener) -> None:
        """Wait until no limit of GitHub is short."""
        short = [allowance for allowance in self._allowances() if allowance.is_short]
        if not short:
            return
        last = max(short, key=lambda allowance: allowance.resets_at)
        seconds = max((last.resets_at - self._now()).total_seconds(), 0.0) + 1  # GitHub tells whole seconds
        self._announce_pause(
            f"{last.remaining:,} of {last.limit:,} GitHub calls are reserved for others", seconds, say
        )
        self._sleep_and_report(seconds, say)

    def _announce_pause(self, why: str, seconds: float, say: WaitListener) -> None:
        """Log a pause and report it to the caller."""
        until = self._now() + timedelta(seconds=seconds)
        sentence = f"{why}: waiting until {until:%H:%M:%S} UTC"
        log.info("%s", sentence)
        say(sentence)

    def _sleep_and_report(self, seconds: float, say: WaitListener) -> None:
        """Sleep, then report that the work goes on."""
        self._sleep(seconds)
        say("")


def _compute_wait(state: RetryCallState) -> float:
    """Return the seconds before the next attempt."""
    error = state.outcome.exception() if state.outcome else None
    if not isinstance(error, RateLimited):
        return float(_FAILURE_WAIT(state))
    return float(_LIMIT_WAIT(state)) if error.retry_after is None else error.retry_after


def _describe_reason(state: RetryCallState) -> str:
    """Return the reason for the next attempt, as a clause."""
    error = state.outcome.exception() if state.outcome else None
    return "GitHub limits the rate" if isinstance(error, RateLimited) else "GitHub does not answer"
