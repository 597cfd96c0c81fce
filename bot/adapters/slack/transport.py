"""Slack's SDK with bounded calls, and with pauses that fit into the time left."""

from __future__ import annotations

import json
import logging
import random
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, cast

from slack_sdk import WebClient
from slack_sdk.errors import SlackClientError
from slack_sdk.http_retry import HttpRequest, HttpResponse, RetryHandler, RetryState
from slack_sdk.web import SlackResponse
from slack_sdk.webhook import WebhookClient, WebhookResponse

from bot.platform import deadlines
from bot.platform.http import bounded_calls
from bot.platform.http.bounded_calls import bound_requests
from bot.platform.http.connections import make_tracking_opener
from bot.platform.http.retry_after import parse_retry_after
from bot.ports import CallWatch, watch_nothing

log = logging.getLogger(__name__)

# seconds; a longer pause belongs in a queue, not in a thread
MAX_PAUSE = 30
_MAX_PAUSES = 5


class UnreadableAnswer(SlackClientError):
    """Error for an answer that is not what Slack answers: no text, no JSON or no object."""


@contextmanager
def _reject_unreadable_answers() -> Iterator[None]:
    """Raise ``UnreadableAnswer`` in place of what the SDK lets escape where an answer is no JSON object."""
    try:
        yield
    # the last one: it asks any value of JSON for its fields
    except (UnicodeDecodeError, json.JSONDecodeError, AttributeError) as error:
        raise UnreadableAnswer(str(error)) from error


class BoundedWebClient(WebClient):
    """Web client with a time limit for each request, from its beginning to the last byte of its answer.

    ``timeout`` is that limit in seconds. ``turn`` waits, before each post, for the turn of its channel.
    ``watch`` watches each call.
    """

    def __init__(
        self,
        token: str | None = None,
        turn: Callable[[str], None] | None = None,
        watch: CallWatch = watch_nothing,
        **options: Any,
    ) -> None:
        super().__init__(token=token, **options)
        self._turn = turn
        self._watch = watch
        _install_opener(self.proxy)
        self.proxy = None

    def api_call(self, api_method: str, **keywords: Any) -> SlackResponse:
        """Call a method of the Web API.

        Raises:
            DeadlineExceeded: the call did not end in time.
            UnreadableAnswer: the answer is not one of Slack's.
            Exception: what the SDK raises, and what waiting for a turn raises.
        """
        if self._turn and api_method == "chat.postMessage":
            self._turn(str(keywords["json"]["channel"]))
        with self._watch(api_method), bound_requests(self.timeout), _reject_unreadable_answers():
            return super().api_call(api_method, **keywords)

    def files_upload_v2(self, **keywords: Any) -> SlackResponse:
        """Upload a file, whose bytes do not go through :meth:`api_call`. Raise ``DeadlineExceeded`` too."""
        with bound_requests(self.timeout), _reject_unreadable_answers():
            return super().files_upload_v2(**keywords)


def send_to_hook(url: str, seconds: float, **message: Any) -> WebhookResponse:
    """Send a message to a webhook, such as a ``response_url``. Raise ``DeadlineExceeded`` or an SDK error."""
    hook = WebhookClient(url, timeout=cast("int", seconds))
    _install_opener(hook.proxy)
    hook.proxy = None
    with bound_requests(seconds), _reject_unreadable_answers():
        return hook.send(**message)


class RateLimitRetryHandler(RetryHandler):
    """Retry handler that waits out rate limits if they are short enough for a thread and for the current work."""

    def __init__(self) -> None:
        super().__init__(max_retry_count=_MAX_PAUSES)

    def _can_retry(
        self,
        *,
        state: RetryState,
        request: HttpRequest,
        response: HttpResponse | None = None,
        error: Exception | None = None,
    ) -> bool:
        """Return whether the response is a rate limit with a pause that the work has time for."""
        is_limited = response is not None and response.status_code == 429
        pause = _read_pause(response)
        return is_limited and pause <= MAX_PAUSE and deadlines.can_wait(pause)

    def prepare_for_next_attempt(
        self,
        *,
        state: RetryState,
        request: HttpRequest,
        response: HttpResponse | None = None,
        error: Exception | None = None,
    ) -> None:
        """Wait for the pause that Slack asks for. Raise ``ProcessShutdown``."""
        pause = _read_pause(response)
        log.info("Slack asks for a pause of %g s", pause)
        # not all calls return at once
        bounded_calls.pause_call(pause + random.random())  # noqa: S311 (no secret)
        state.next_attempt_requested = True
        state.increment_current_attempt()


def _read_pause(response: HttpResponse | None) -> float:
    """Return the seconds of the pause that Slack asks for, 1 if it names none."""
    headers = {name.lower(): values for name, values in (response.headers if response else {}).items()}
    pause = parse_retry_after("".join(headers.get("retry-after", [])[:1]))
    return 1.0 if pause is None else pause


def _install_opener(proxy: str | None) -> None:
    """Make urllib, and so the SDK, use connections that can be bounded.

    The SDK uses an opener of its own for a proxy of the environment, so callers unset its ``proxy``.
    """
    urllib.request.install_opener(make_tracking_opener(proxy))
