"""The client of Slack's Web API: bounded calls, pauses that fit into the time left, and errors as sentences."""

from __future__ import annotations

import json
import logging
import random
import re
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPException
from typing import Any, cast
from urllib.error import HTTPError

from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.http_retry import HttpRequest, HttpResponse, RetryHandler, RetryState
from slack_sdk.signature import SignatureVerifier
from slack_sdk.web import SlackResponse
from slack_sdk.webhook import WebhookClient, WebhookResponse

from bot.errors import PrdigestError, SlackCallRefused, SlackUnavailable
from bot.platform import deadlines
from bot.platform.http import bounded_calls
from bot.platform.http.bounded_calls import CallWatch, DeadlineExceeded, bound_requests, watch_nothing
from bot.platform.http.connections import make_tracking_opener
from bot.platform.http.headers import parse_retry_after

log = logging.getLogger(__name__)

MAX_PAUSE = 30  # seconds; a longer pause belongs in a queue, not in a thread
_MAX_PAUSES = 5
_DEFAULT_PAUSE = 3.0  # seconds, where a rate limit that was met several times names none
_TIMEOUT = 30  # seconds for one request; also the SDK's own timeout for a peer that sends nothing
_POST_INTERVAL = 1.0  # seconds between two posts in a channel (docs.slack.dev, chat.postMessage)
_MAX_CHANNELS = 1_000  # that are kept; one without a post for a second can be forgotten
_SENTENCES = {
    "not_in_channel": "The bot is not in channel {channel}: invite it there with /invite @prdigest.",
    "channel_not_found": (
        "Slack has no channel {channel}, or it is private and the bot is not in it: check its id."
    ),
    "is_archived": "Channel {channel} is archived: choose another one.",
    "invalid_auth": "Slack rejected the token: set {token}.",
    "not_authed": "Slack received no token: set {token}.",
    "not_allowed_token_type": "That is the wrong kind of token: set {token}.",
    "account_inactive": "The bot was removed from this workspace: install it again and set SLACK_BOT_TOKEN.",
    "token_revoked": "The token was revoked: install the bot again and set SLACK_BOT_TOKEN.",
    "restricted_action": "The workspace does not let the bot post in {channel}: ask its administrator.",
}
_BUSY = "The channel gets too many posts right now: try again in a minute."
_SERVER_ERROR = "Slack answered with a server error: try again in a few minutes."
_ERROR_CODE = re.compile(r"[a-z][a-z_]{2,60}")
_UNCERTAIN_CODES = {"internal_error", "fatal_error", "service_unavailable", "request_timeout", "team_added_to_org"}
_BOT_TOKEN = "SLACK_BOT_TOKEN to the bot's token (xoxb-…)"  # noqa: S105 (its name)


def make_slack_client(
    token: str,
    base_url: str,
    seconds: float = _TIMEOUT,
    throttle: PostThrottle | None = None,
    watch: CallWatch = watch_nothing,
) -> WebClient:
    """Create a client that waits out short rate limits and repeats no call that may have had its effect.

    Neither server errors (the first call may have posted) nor lost connections lead to a retry. ``seconds`` is the
    time limit of one request. ``throttle`` delays posts, if there is one. ``watch`` watches each call.
    """
    turn = throttle.wait_for_turn if throttle else None
    handlers = [_RateLimitRetryHandler(max_retry_count=_MAX_PAUSES)]
    return BoundedWebClient(token, turn, watch, base_url=base_url, timeout=seconds, retry_handlers=handlers)


class BoundedWebClient(WebClient):
    """Web client with a time limit for each request, from its beginning to the last byte of its answer.

    ``timeout`` is that limit in seconds. ``turn`` waits, before each post, for the turn of its channel.
    ``watch`` watches each call. Calls raise DeadlineExceeded, and UnreadableAnswer for what is no answer of Slack.
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
        # urllib, and so the SDK, uses connections that can be bounded; for a proxy the SDK would not
        urllib.request.install_opener(make_tracking_opener())
        self.proxy = None

    def api_call(self, api_method: str, **keywords: Any) -> SlackResponse:
        if self._turn and api_method == "chat.postMessage":
            self._turn(str(keywords["json"]["channel"]))
        with self._watch(api_method), bound_requests(self.timeout), _reject_unreadable_answers():
            return super().api_call(api_method, **keywords)

    def files_upload_v2(self, **keywords: Any) -> SlackResponse:
        # the bytes of a file do not go through api_call
        with bound_requests(self.timeout), _reject_unreadable_answers():
            return super().files_upload_v2(**keywords)


def send_to_hook(url: str, seconds: float, **message: Any) -> WebhookResponse:
    """Send a message to a webhook, such as a ``response_url``. Raise ``DeadlineExceeded`` or an SDK error."""
    hook = WebhookClient(url, timeout=cast("int", seconds))
    urllib.request.install_opener(make_tracking_opener())
    hook.proxy = None
    with bound_requests(seconds), _reject_unreadable_answers():
        return hook.send(**message)


class UnreadableAnswer(SlackClientError):
    """Error for an answer that is not what Slack answers: no text, no JSON or no object."""


@contextmanager
def _reject_unreadable_answers() -> Iterator[None]:
    try:
        yield
    # the last one: the SDK asks any value of JSON for its fields
    except (UnicodeDecodeError, json.JSONDecodeError, AttributeError) as error:
        raise UnreadableAnswer(str(error)) from error


SIGNATURE, _TIME = "x-slack-signature", "x-slack-request-timestamp"


def is_signed(secret: str, headers: Mapping[str, str], body: bytes) -> bool:
    """Return whether Slack signed a request within the last five minutes. Names of headers are in lower case."""
    try:
        return SignatureVerifier(secret).is_valid(body, headers.get(_TIME), headers.get(SIGNATURE))
    except (ValueError, TypeError, OverflowError):
        # no number as the time, or what is no text in the signature or the body
        return False


# --- rate limits


class _RateLimitRetryHandler(RetryHandler):
    """Waits out rate limits whose pause is short enough for a thread and for the current work."""

    def _can_retry(
        self,
        *,
        state: RetryState,
        request: HttpRequest,
        response: HttpResponse | None = None,
        error: Exception | None = None,
    ) -> bool:
        is_limited, pause = response is not None and response.status_code == 429, _read_pause(response)
        return is_limited and pause <= MAX_PAUSE and deadlines.can_wait(pause)

    def prepare_for_next_attempt(
        self,
        *,
        state: RetryState,
        request: HttpRequest,
        response: HttpResponse | None = None,
        error: Exception | None = None,
    ) -> None:
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


class PostThrottle:
    """Gives each post of one process its turn in its channel. Slack's own rate limits cover the other processes.

    Slack accepts short bursts but does not say how long they may be: relying on them fails on a busy day.
    ``clock`` returns seconds that only go up; ``sleep`` takes seconds.
    """

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], None] = deadlines.sleep
    ) -> None:
        self._clock = clock
        self._sleep = sleep
        self._free: dict[str, float] = {}
        self._lock = threading.Lock()

    def wait_for_turn(self, channel: str) -> None:
        """Wait for the next turn. Raises SlackUnavailable for a wait too long for a job, and ProcessShutdown."""
        with self._lock:
            now = self._clock()
            if len(self._free) > _MAX_CHANNELS:
                self._free = {name: free for name, free in self._free.items() if free > now}
            seconds = max(0.0, self._free.get(channel, now) - now)
            if seconds > min(MAX_PAUSE, deadlines.get_seconds_left()):
                raise SlackUnavailable(_BUSY, seconds)
            self._free[channel] = now + seconds + _POST_INTERVAL
        if seconds > 0:
            self._sleep(seconds)


# --- errors


@contextmanager
def translate_slack_errors(channel: str = "", token: str = _BOT_TOKEN) -> Iterator[None]:
    """Raise errors of the domain in place of slack_sdk's; they name ``channel`` and ``token`` if these failed.

    Raises SlackCallRefused if the call had no effect, SlackUnavailable if it may have had one.
    """
    try:
        yield
    except SlackApiError as error:
        raise _translate_response(error, channel, token) from error
    except DeadlineExceeded as error:
        raise SlackUnavailable("Slack answers too slowly: try again in a few minutes.") from error
    except UnreadableAnswer as error:
        raise SlackUnavailable(_SERVER_ERROR) from error
    # the SDK does not translate errors of the socket
    except (SlackClientError, HTTPException, OSError) as error:
        if isinstance(error, HTTPError):
            error.close()
        raise SlackUnavailable("Slack can't be reached: check SLACK_API_URL and the network.") from error


def _translate_response(error: SlackApiError, channel: str, token: str) -> PrdigestError:
    answer = error.response
    status = getattr(answer, "status_code", 200)
    code = str(answer.get("error", "")) if isinstance(getattr(answer, "data", None), dict) else ""
    # Slack's own errors are words; anything else is a page from a proxy in between
    if status >= 500 or code in _UNCERTAIN_CODES or not _ERROR_CODE.fullmatch(code):
        return SlackUnavailable(_SERVER_ERROR)
    if code == "ratelimited":
        pause = parse_retry_after(str(answer.headers.get("Retry-After", "")))
        sentence = "Slack limited the rate several times: try again in a few minutes."
        return SlackUnavailable(sentence, _DEFAULT_PAUSE if pause is None else pause)
    if code == "missing_scope":
        needed = answer.get("needed") or "another scope"
        return SlackCallRefused(f"The bot lacks the scope {needed}: add it to the app and install it again.", code)
    sentence = _SENTENCES.get(code, "Slack refused the call: {code}.")
    return SlackCallRefused(sentence.format(channel=channel, token=token, code=code or f"status {status}"), code)
