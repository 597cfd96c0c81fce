"""The ways in which a call to the Slack emulator goes wrong, and the pace of posts."""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass, field, replace

from tests.emulators.loopback import HangUp, Response
from tests.emulators.slack_responses import RESPONSE, refused
from tests.emulators.slack_store import SlackError

BURST = 5  # posts that may come at once: Slack promises one a second and says only that bursts are fine
STATUS_ERRORS = {429: "ratelimited", 503: "service_unavailable"}


@dataclass(frozen=True)
class Failure:
    """How one call is to go wrong."""

    error: str
    status: int
    retry_after: int | None
    after_effect: bool
    hang_up: bool

    def response(self, method: str) -> Response:
        if self.hang_up:
            raise HangUp
        if method == RESPONSE:
            return refused(self.error, self.status, self.retry_after)
        return failed(self.error, self.status, self.retry_after)


def failed(error: str, status: int = 200, retry_after: int | None = None, **more: str) -> Response:
    headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
    return Response.of_json({"ok": False, "error": error, **more}, status, headers)


def failure(
    error: str | None, status: int, retry_after: int | None, *, after_effect: bool, hang_up: bool
) -> Failure:
    """A rate limit, however it is asked for, is a 429 with Retry-After, as Slack's always are."""
    if status == 429 or error == "ratelimited" or (retry_after is not None and status == 200):
        status, retry_after = 429, 1 if retry_after is None else retry_after
    code = error or STATUS_ERRORS.get(status, "internal_error")
    return Failure(code, status, retry_after, after_effect, hang_up)


class Faults:
    """The failures that wait for their calls, by method."""

    def __init__(self) -> None:
        self._waiting: defaultdict[str, deque[Failure]] = defaultdict(deque)

    def add(self, method: str, found: Failure, times: int) -> None:
        self._waiting[method].extend([found] * times)

    def next(self, method: str) -> Failure | None:
        waiting = self._waiting[method]
        return waiting.popleft() if waiting else None


@dataclass(frozen=True)
class Bucket:
    """How many posts a channel takes at once, and when that was true."""

    left: float
    at: float

    def later(self, now: float, rate: float) -> Bucket:
        return Bucket(min(BURST, self.left + (now - self.at) * rate), now)


@dataclass
class Pace:
    """One post a second and channel, in the measure of ``rate``; None is no pace at all."""

    _buckets: dict[str, Bucket] = field(default_factory=dict)

    def spend(self, channel: str, now: float, rate: float | None) -> None:
        if rate is None:
            return
        bucket = self._buckets.get(channel, Bucket(BURST, now)).later(now, rate)
        self._buckets[channel] = bucket
        if bucket.left < 1:
            raise SlackError("ratelimited")
        self._buckets[channel] = replace(bucket, left=bucket.left - 1)
