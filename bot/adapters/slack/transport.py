"""Slack's SDK with calls that are bounded, and pauses that are no longer than there is time."""

from __future__ import annotations

import logging
import random
import urllib.request
from collections.abc import Callable
from typing import Any, cast

from slack_sdk import WebClient
from slack_sdk.http_retry import HttpRequest, HttpResponse, RetryHandler, RetryState
from slack_sdk.web import SlackResponse
from slack_sdk.webhook import WebhookClient, WebhookResponse

from bot.adapters.http import bounded_calls
from bot.adapters.http.bounded_calls import bounded
from bot.adapters.http.connections import noting_opener
from bot.adapters.http.retry_after import seconds_asked
from bot.services.operations import deadlines

log = logging.getLogger(__name__)

# seconds; a longer pause is for a queue, not for a thread
LONGEST_PAUSE = 30
_MOST_PAUSES = 5


class BoundedWebClient(WebClient):
    """``timeout`` is how many seconds each request may take, from its beginning to the last byte of its answer.

    ``turn`` waits, before each post, for the turn of its channel.
    """

    def __init__(
        self, token: str | None = None, turn: Callable[[str], None] | None = None, **options: Any
    ) -> None:
        super().__init__(token=token, **options)
        self._turn = turn
        _open_through(self.proxy)
        self.proxy = None

    def api_call(self, api_method: str, **named: Any) -> SlackResponse:
        """Call a method. Raises TooSlow, and what waiting for a turn raises, besides what the SDK raises."""
        if self._turn and api_method == "chat.postMessage":
            self._turn(str(named["json"]["channel"]))
        with bounded(self.timeout):
            return super().api_call(api_method, **named)

    def files_upload_v2(self, **named: Any) -> SlackResponse:
        """Upload a file; its bytes go past :meth:`api_call`. Raises TooSlow too."""
        with bounded(self.timeout):
            return super().files_upload_v2(**named)


def send_to_hook(url: str, seconds: float, **message: Any) -> WebhookResponse:
    """Send a message to a webhook, such as a ``response_url``. Raises TooSlow besides what the SDK raises."""
    hook = WebhookClient(url, timeout=cast("int", seconds))
    _open_through(hook.proxy)
    hook.proxy = None
    with bounded(seconds):
        return hook.send(**message)


class RateLimits(RetryHandler):
    """Waits out rate limits that are short enough for a thread, and for the work at hand."""

    def __init__(self, jitter: Callable[[], float] = random.random) -> None:
        """``jitter`` gives seconds to wait beyond what Slack asks for, so that not all come back at once."""
        super().__init__(max_retry_count=_MOST_PAUSES)
        self._jitter = jitter

    def _can_retry(
        self,
        *,
        state: RetryState,
        request: HttpRequest,
        response: HttpResponse | None = None,
        error: Exception | None = None,
    ) -> bool:
        is_limited = response is not None and response.status_code == 429
        asked = _asked(response)
        return is_limited and asked <= LONGEST_PAUSE and deadlines.allow_wait(asked)

    def prepare_for_next_attempt(
        self,
        *,
        state: RetryState,
        request: HttpRequest,
        response: HttpResponse | None = None,
        error: Exception | None = None,
    ) -> None:
        """Wait. Raises Stopping."""
        asked = _asked(response)
        log.info("Slack asks for a pause of %g s", asked)
        bounded_calls.pause(asked + self._jitter())
        state.next_attempt_requested = True
        state.increment_current_attempt()


def _asked(response: HttpResponse | None) -> float:
    """Seconds that Slack wants to have peace, one where it does not say."""
    headers = {name.lower(): values for name, values in (response.headers if response else {}).items()}
    asked = seconds_asked("".join(headers.get("retry-after", [])[:1]))
    return 1.0 if asked is None else asked


def _open_through(proxy: str | None) -> None:
    """Have urllib, and so the SDK, open addresses in a way that lets calls be bounded.

    The SDK has an opener of its own for the proxy that it finds in the environment, so that it is told of none.
    """
    urllib.request.install_opener(noting_opener(proxy))
