"""Asks GitHub without haste: leaves others their room, waits out limits, and tries again after failures."""

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
# without a time in its refusal, GitHub wants at least a minute, and longer each time
# (docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api)
_LIMITED = wait_exponential(multiplier=60)
_FAILED = wait_exponential(multiplier=5, max=60)


class Pace:
    """Sleeps only in the thread that asks it, so that Ctrl-C ends a pause at once.

    ``allowances`` tells what GitHub still grants; nothing if that is not known.
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
        """What ``work`` gives, begun when there is room. ``say`` hears why it waits, and nothing when it goes on.

        Raises:
            RateLimited, GitHubUnavailable: so did each of five tries.
        """

        def begin() -> T:
            self._wait_for_room(say)
            return work()

        return Retrying(
            retry=retry_if_exception_type((RateLimited, GitHubUnavailable)),
            stop=stop_after_attempt(_TRIES),
            wait=_seconds,
            before_sleep=lambda state: self._tell(_why(state), state.upcoming_sleep, say),
            sleep=lambda seconds: self._pause(seconds, say),
            reraise=True,
        )(begin)

    def _wait_for_room(self, say: Say) -> None:
        short = [allowance for allowance in self._allowances() if allowance.is_short]
        if not short:
            return
        last = max(short, key=lambda allowance: allowance.resets)
        seconds = max((last.resets - self._now()).total_seconds(), 0.0) + 1  # GitHub tells whole seconds
        self._tell(f"{last.left:,} of {last.limit:,} GitHub calls are left for others", seconds, say)
        self._pause(seconds, say)

    def _tell(self, why: str, seconds: float, say: Say) -> None:
        until = self._now() + timedelta(seconds=seconds)
        sentence = f"{why}: waiting until {until:%H:%M:%S} UTC"
        log.info("%s", sentence)
        say(sentence)

    def _pause(self, seconds: float, say: Say) -> None:
        self._sleep(seconds)
        say("")


def _seconds(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    if not isinstance(error, RateLimited):
        return float(_FAILED(state))
    return float(_LIMITED(state)) if error.retry_after is None else error.retry_after


def _why(state: RetryCallState) -> str:
    error = state.outcome.exception() if state.outcome else None
    return "GitHub asks for a pause" if isinstance(error, RateLimited) else "GitHub does not answer"
