"""PyGithub with bounded calls, over connections that stay open between calls."""

from __future__ import annotations

import logging
import threading
from typing import Any, Self

from github import Github, GithubRetry
from github.GithubException import RateLimitExceededExceedsMaxWait
from github.Requester import HTTPRequestsConnectionClass, HTTPSRequestsConnectionClass, Requester

from bot.adapters.github.api_calls import API_VERSION
from bot.platform import deadlines
from bot.platform.http import bounded_calls
from bot.platform.http.connections import TrackingAdapter
from bot.platform.http.retry_after import parse_retry_after

log = logging.getLogger(__name__)

# seconds; longer waits belong in a queue, not in a thread
MAX_WAIT = 30
# seconds for one request from its first byte to the last of its answer. GitHub gives up its own work after ten
# (docs.github.com/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api); the rest is for a slow line
REQUEST_SECONDS = 30.0

_THREAD_ADAPTERS = threading.local()


class BoundedRetry(GithubRetry):
    """Retry policy of GitHub that gives up at once if GitHub asks for a longer pause than the time left."""

    def increment(self, *arguments: Any, **keywords: Any) -> Self:
        """Return the state for the next attempt.

        Raise the error that ends the call if another attempt is useless.
        """
        error, response = keywords.get("error"), keywords.get("response")
        if error is not None and bounded_calls.is_call_over():
            raise error
        pause = (response is not None and self.get_retry_after(response)) or 0.0
        if response is not None and (pause > MAX_WAIT or not deadlines.can_wait(pause)):
            headers = dict(response.headers)
            response.close()
            raise RateLimitExceededExceedsMaxWait(response.status, None, headers, wait=pause)
        next_state: Self = super().increment(*arguments, **keywords)  # type: ignore[assignment]
        return next_state

    def get_retry_after(self, response: Any) -> float | None:
        """Return the seconds that GitHub asks for, None if it names none.

        The library's own method raises on fractions.
        """
        return parse_retry_after(response.headers.get("Retry-After"))

    def sleep(self, response: Any = None) -> None:
        """Pause before the next attempt.

        Raises:
            RateLimitExceededExceedsMaxWait: the work has no time for the pause.
            ProcessShutdown: the process ends.
        """
        pause = self.get_retry_after(response) if response is not None else None
        seconds = pause or self.get_backoff_time()
        if not deadlines.can_wait(seconds):
            raise RateLimitExceededExceedsMaxWait(429, None, None, wait=seconds)
        log.info("GitHub is asked again in %g s", seconds)
        bounded_calls.pause_call(seconds)


class _PersistentConnection:
    """Connection that uses sockets kept per thread. PyGithub creates a new connection object for each call."""

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self.session.mount(f"{self.protocol}://", _get_adapter(self.protocol, self.retry))  # type: ignore[attr-defined]

    def close(self) -> None:
        """Leave the sockets open."""


class _PlainConnection(_PersistentConnection, HTTPRequestsConnectionClass):
    """Persistent connection over HTTP."""


class _SecureConnection(_PersistentConnection, HTTPSRequestsConnectionClass):
    """Persistent connection over HTTPS."""


def _get_adapter(protocol: str, retry: Any) -> TrackingAdapter:
    """Return this thread's adapter for a protocol and a retry policy, and create it if there is none."""
    adapters: dict[Any, TrackingAdapter] = _THREAD_ADAPTERS.__dict__.setdefault("adapters", {})
    if (protocol, retry) not in adapters:
        adapters[protocol, retry] = TrackingAdapter(max_retries=retry)
    return adapters[protocol, retry]


def make_github(**options: Any) -> Github:
    """Create a PyGithub client with bounded calls.

    This replaces PyGithub's connection classes for the whole process.
    """
    Requester.injectConnectionClasses(_PlainConnection, _SecureConnection)
    # no pause between calls: eight at a time are far below GitHub's limit of a hundred
    no_pauses: dict[str, Any] = {"seconds_between_requests": None, "seconds_between_writes": None}
    return Github(user_agent="prdigest", api_version=API_VERSION, **no_pauses, **options)
