"""What goes wrong with Claude, in the words of the domain, and what a call took."""

from __future__ import annotations

import logging

import anthropic
from anthropic.types import Usage as BilledUsage

from bot.adapters.claude import sentences
from bot.adapters.http.bounded_calls import DeadlineExceeded
from bot.adapters.http.retry_after import parse_retry_after
from bot.domain.errors import ModelBusy, ModelError, ModelRequestRejected
from bot.domain.operations.usage import Usage

log = logging.getLogger(__name__)

# why the model stopped where it was not done
TRUNCATIONS = ("max_tokens", "model_context_window_exceeded")
_KEY = "Claude refuses the key: check ANTHROPIC_API_KEY."
_NAME = "Claude has no model of that name: check PRDIGEST_SUMMARY_MODEL and PRDIGEST_ANSWER_MODEL."
_ELSEWHERE = "Something else than Claude answers: check ANTHROPIC_BASE_URL."
_ADVICE = {401: _KEY, 403: _KEY, 404: _NAME}
# what an error event in the middle of a stream, whose status was a success, may say that passes by itself
_PASSING = {"overloaded_error", "rate_limit_error", "api_error", "timeout_error"}

# how a call ends without an answer: by the service, the network, or at its deadline
FAILURES = (DeadlineExceeded, anthropic.APIError)
Failure = DeadlineExceeded | anthropic.APIError


class Advice:
    """Tells whoever runs the bot, once, what readers of an answer have no use for."""

    def __init__(self) -> None:
        self._given: set[str] = set()

    def on(self, error: Failure) -> None:
        """If a setting may be at fault, say which; if our request is, say what the service says of it."""
        if isinstance(error, anthropic.APIStatusError):
            status = error.status_code
            self._give(_ADVICE.get(status, f"Claude refuses a request: {error.message}" if status == 400 else ""))

    def elsewhere(self) -> ModelBusy:
        """A page of whoever stands between comes as it is, whatever the SDK's types say."""
        self._give(_ELSEWHERE)
        return ModelBusy(sentences.ELSEWHERE)

    def _give(self, advice: str) -> None:
        if advice and advice not in self._given:
            self._given.add(advice)
            log.warning(advice)


def translate_claude_errors(error: Failure) -> ModelError:
    """The error as the services know it."""
    if isinstance(error, DeadlineExceeded | anthropic.APITimeoutError):
        return ModelBusy(sentences.LATE)
    if isinstance(error, anthropic.APIStatusError):
        return _of_status(error)
    return ModelBusy(sentences.AWAY)


def usage_of(used: BilledUsage) -> Usage:
    """What a call took; of what was written to the prompt cache, the part that is kept for an hour costs more."""
    hourly = used.cache_creation.ephemeral_1h_input_tokens if used.cache_creation else 0
    return Usage(
        input=used.input_tokens,
        output=used.output_tokens,
        cache_read=used.cache_read_input_tokens or 0,
        cache_write=(used.cache_creation_input_tokens or 0) - hourly,
        cache_write_hour=hourly,
    )


def _of_status(error: anthropic.APIStatusError) -> ModelError:
    status = error.status_code
    if status in (401, 403):
        return ModelRequestRejected(sentences.REFUSED)
    if status == 404:
        return ModelRequestRejected("there is no model of that name")
    if status in (408, 409, 429) or status >= 500:
        return ModelBusy(sentences.BUSY, parse_retry_after(error.response.headers.get("retry-after")))
    if status == 200 and _kind(error) in _PASSING:
        return ModelBusy("the model broke off")
    return ModelRequestRejected(f"the model refused the request with status {status}")


def _kind(error: anthropic.APIStatusError) -> str:
    body = error.body if isinstance(error.body, dict) else {}
    detail = body.get("error")
    return str(detail.get("type")) if isinstance(detail, dict) else ""
