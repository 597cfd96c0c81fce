"""PyGithub over connections whose calls can be bounded, kept open between calls."""

from __future__ import annotations

import logging
import threading
from typing import Any, Self

from github import Github, GithubRetry
from github.GithubException import RateLimitExceededExceedsMaxWait
from github.Requester import HTTPRequestsConnectionClass, HTTPSRequestsConnectionClass, Requester

from bot.adapters.github.api_calls import VERSION
from bot.adapters.http import bounded_calls
from bot.adapters.http.connections import NotingAdapter
from bot.adapters.http.retry_after import seconds_asked
from bot.services.operations import deadlines

log = logging.getLogger(__name__)

# seconds; longer waits are for a queue, not for a thread
LONGEST_WAIT = 30
# seconds for one request from its first byte to the last of its answer. GitHub gives up its own work after ten
# (docs.github.com/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api); the rest is for a slow line
REQUEST_SECONDS = 30.0

_KEPT = threading.local()


class BoundedRetry(GithubRetry):
    """Retries as GitHub wants it, but gives up at once where it asks for a pause longer than there is time."""

    def increment(self, *arguments: Any, **named: Any) -> Self:
        """The next try. Raises what ends the call where no use is in another one."""
        error, response = named.get("error"), named.get("response")
        if error is not None and bounded_calls.is_over():
            raise error
        asked = (response is not None and self.get_retry_after(response)) or 0.0
        if response is not None and (asked > LONGEST_WAIT or not deadlines.allow_wait(asked)):
            headers = dict(response.headers)
            response.close()
            raise RateLimitExceededExceedsMaxWait(response.status, None, headers, wait=asked)
        found: Self = super().increment(*arguments, **named)  # type: ignore[assignment]
        return found

    def get_retry_after(self, response: Any) -> float | None:
        """The seconds that GitHub asks for; None where it does not say. The library's own raises on fractions."""
        return seconds_asked(response.headers.get("Retry-After"))

    def sleep(self, response: Any = None) -> None:
        """Pause before the next try. Raises what ends the call where the work has no time for it, and Stopping."""
        asked = self.get_retry_after(response) if response is not None else None
        seconds = asked or self.get_backoff_time()
        if not deadlines.allow_wait(seconds):
            raise RateLimitExceededExceedsMaxWait(429, None, None, wait=seconds)
        log.info("GitHub is asked again in %g s", seconds)
        bounded_calls.pause(seconds)


class _Keeping:
    """PyGithub makes a connection for each call where it is given the class; the sockets are kept by thread."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.session.mount(f"{self.protocol}://", _adapter(self.protocol, self.retry))  # type: ignore[attr-defined]

    def close(self) -> None:
        """Leave them open."""


class _Plain(_Keeping, HTTPRequestsConnectionClass):
    pass


class _Secure(_Keeping, HTTPSRequestsConnectionClass):
    pass


def _adapter(protocol: str, retry: Any) -> NotingAdapter:
    found: dict[Any, NotingAdapter] = _KEPT.__dict__.setdefault("adapters", {})
    if (protocol, retry) not in found:
        found[protocol, retry] = NotingAdapter(max_retries=retry)
    return found[protocol, retry]


def make_github(**options: Any) -> Github:
    """A client of PyGithub. Its calls can be bounded, as those of all in this process from now on."""
    Requester.injectConnectionClasses(_Plain, _Secure)
    # a pause between calls only adds up: eight at a time are far below GitHub's hundred
    pace: dict[str, Any] = {"seconds_between_requests": None, "seconds_between_writes": None}
    return Github(user_agent="prdigest", api_version=VERSION, **pace, **options)
