"""Planned failures of calls to the Slack emulator."""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass

from localslack.loopback import HangUp, Response
from localslack.methods.response_urls import RESPONSE, make_refusal
from localslack.server.local_slack import make_failure

STATUS_ERRORS = {429: "ratelimited", 503: "service_unavailable"}


@dataclass(frozen=True)
class Failure:
    """The way in which a call fails."""

    error: str
    status: int
    retry_after: int | None
    after_effect: bool
    hang_up: bool

    def make_response(self, method: str) -> Response:
        """Return the answer to the failing call. Raises HangUp if there is to be none."""
        if self.hang_up:
            raise HangUp
        if method == RESPONSE:
            return make_refusal(self.error, self.status, self.retry_after)
        return make_failure(self.error, self.status, self.retry_after)


def plan_failure(
    error: str | None, status: int, retry_after: int | None, *, after_effect: bool, hang_up: bool
) -> Failure:
    """Return the failure of a call. A rate limit is a 429 with Retry-After, as Slack's always are."""
    if status == 429 or error == "ratelimited" or (retry_after is not None and status == 200):
        status, retry_after = 429, 1 if retry_after is None else retry_after
    code = error or STATUS_ERRORS.get(status, "internal_error")
    return Failure(code, status, retry_after, after_effect, hang_up)


class FaultQueue:
    """The planned failures that wait for their calls, by method."""

    def __init__(self) -> None:
        self._waiting: defaultdict[str, deque[Failure]] = defaultdict(deque)

    def add_failure(self, method: str, failure: Failure, times: int) -> None:
        """Plan a failure for the next calls of the method."""
        self._waiting[method].extend([failure] * times)

    def pop_next(self, method: str) -> Failure | None:
        """Return the next planned failure of the method, or None."""
        waiting = self._waiting[method]
        return waiting.popleft() if waiting else None
