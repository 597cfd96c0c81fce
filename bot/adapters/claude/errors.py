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
TRUNCATION_REASONS = ("max_tokens", "model_context_window_exceeded")
_KEY_ADVICE = "Claude refuses the key: check ANTHROPIC_API_KEY."
_MODEL_ADVICE = "Claude has no model of that name: check PRDIGEST_SUMMARY_MODEL and PRDIGEST_ANSWER_MODEL."
_ADDRESS_ADVICE = "Something else than Claude answers: check ANTHROPIC_BASE_URL."
_ADVICE_BY_STATUS = {401: _KEY_ADVICE, 403: _KEY_ADVICE, 404: _MODEL_ADVICE}
# what an error event in the middle of a stream, whose status was a success, may say that passes by itself
_TRANSIENT_TYPES = {"overloaded_error", "rate_limit_error", "api_error", "timeout_error"}

# how a call ends without an answer: by the service, the network, or at its deadline
CALL_ERRORS = (DeadlineExceeded, anthropic.APIError)
CallError = DeadlineExceeded | anthropic.APIError


class OperatorAdvice:
    """Tells whoever runs the bot, once, what readers of an answer have no use for."""

    def __init__(self) -> None:
        self._logged_advice: set[str] = set()

    def log_advice(self, error: CallError) -> None:
        """If a setting may be at fault, say which; if our request is, say what the service says of it."""
        if isinstance(error, anthropic.APIStatusError):
            status = error.status_code
            self._log_once(
                _ADVICE_BY_STATUS.get(
                    status, f"Claude refuses a request: {error.message}" if status == 400 else ""
                )
            )

    def report_wrong_service(self) -> ModelBusy:
        """A page of whoever stands between comes as it is, whatever the SDK's types say."""
        self._log_once(_ADDRESS_ADVICE)
        return ModelBusy(sentences.WRONG_SERVICE)

    def _log_once(self, advice: str) -> None:
        if advice and advice not in self._logged_advice:
            self._logged_advice.add(advice)
            log.warning(advice)


def translate_claude_errors(error: CallError) -> ModelError:
    """The error as the services know it."""
    if isinstance(error, DeadlineExceeded | anthropic.APITimeoutError):
        return ModelBusy(sentences.MODEL_TIMED_OUT)
    if isinstance(error, anthropic.APIStatusError):
        return _translate_status(error)
    return ModelBusy(sentences.MODEL_UNREACHABLE)


def convert_usage(used: BilledUsage) -> Usage:
    """What a call took; of what was written to the prompt cache, the part that is kept for an hour costs more."""
    hourly = used.cache_creation.ephemeral_1h_input_tokens if used.cache_creation else 0
    return Usage(
        input=used.input_tokens,
        output=used.output_tokens,
        cache_read=used.cache_read_input_tokens or 0,
        cache_write=(used.cache_creation_input_tokens or 0) - hourly,
        cache_write_hour=hourly,
    )


def _translate_status(error: anthropic.APIStatusError) -> ModelError:
    status = error.status_code
    if status in (401, 403):
        return ModelRequestRejected(sentences.KEY_REFUSED)
    if status == 404:
        return ModelRequestRejected("there is no model of that name")
    if status in (408, 409, 429) or status >= 500:
        return ModelBusy(sentences.MODEL_BUSY, parse_retry_after(error.response.headers.get("retry-after")))
    if status == 200 and _read_error_type(error) in _TRANSIENT_TYPES:
        return ModelBusy("the model broke off")
    return ModelRequestRejected(f"the model refused the request with status {status}")


def _read_error_type(error: anthropic.APIStatusError) -> str:
    body = error.body if isinstance(error.body, dict) else {}
    detail = body.get("error")
    return str(detail.get("type")) if isinstance(detail, dict) else ""
