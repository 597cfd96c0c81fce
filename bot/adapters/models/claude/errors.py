"""Translation of Claude's errors and token counts into values of the domain."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass

import anthropic
from anthropic.types import Usage as BilledUsage

from bot.adapters.models.claude import sentences
from bot.domain.errors import ModelBusy, ModelError, ModelRequestRejected
from bot.domain.operations.usage import Usage
from bot.platform.http import model_sentences
from bot.platform.http.bounded_calls import DeadlineExceeded
from bot.platform.http.retry_after import parse_retry_after

log = logging.getLogger(__name__)

# stop reasons of answers that are incomplete
TRUNCATION_REASONS = ("max_tokens", "model_context_window_exceeded")
_KEY_ADVICE = "Claude rejected the key: check ANTHROPIC_API_KEY."
_MODEL_ADVICE = "Claude has no model with that name: check PRDIGEST_SUMMARY_MODEL and PRDIGEST_ANSWER_MODEL."
_ADDRESS_ADVICE = "The server is not Claude: check ANTHROPIC_BASE_URL."
_CREDENTIALS_ADVICE = (
    "The cloud rejected the call, or there are no credentials for it: check them, the rights to the model, and "
    "PRDIGEST_MODEL_REGION."
)
# temporary errors in error events of a stream whose status was a success
_TRANSIENT_TYPES = {"overloaded_error", "rate_limit_error", "api_error", "timeout_error"}

# any of the SDK's clients; they have the Messages API in common
ClaudeClient = anthropic.Anthropic | anthropic.AnthropicBedrockMantle | anthropic.AnthropicVertex


class CloudAccessError(anthropic.AnthropicError):
    """No credentials for a cloud, or none that can be renewed. The message is the type of the library's error."""


# errors of the service, of the network, of the deadline, and of a cloud's credentials
CALL_ERRORS = (DeadlineExceeded, anthropic.APIError, CloudAccessError)
CallError = DeadlineExceeded | anthropic.APIError | CloudAccessError


@dataclass(frozen=True, slots=True)
class ServiceAdvice:
    """What operators read if a service refuses them, if it has no such model, and if it is another service."""

    access: str
    model: str
    address: str

    @property
    def by_status(self) -> Mapping[int, str]:
        """The advice by the status of the answer."""
        return {401: self.access, 403: self.access, 404: self.model}


API_ADVICE = ServiceAdvice(_KEY_ADVICE, _MODEL_ADVICE, _ADDRESS_ADVICE)
CLOUD_ADVICE = ServiceAdvice(
    _CREDENTIALS_ADVICE,
    f"{_MODEL_ADVICE} A model may also be missing in PRDIGEST_MODEL_REGION.",
    "The server is not Claude: check the address of the cloud.",
)


class OperatorAdvice:
    """Advice for operators in the log, each sentence once. It is of no use to readers of an answer."""

    def __init__(self, advice: ServiceAdvice = API_ADVICE) -> None:
        self._advice = advice
        self._logged_advice: set[str] = set()

    def log_advice(self, error: CallError) -> None:
        """Log which setting may be at fault or, if the service refuses our request, its message."""
        if isinstance(error, CloudAccessError):
            self._log_once(f"{self._advice.access} ({error})")
        if isinstance(error, anthropic.APIStatusError):
            status = error.status_code
            self._log_once(
                self._advice.by_status.get(
                    status, f"Claude rejected a request: {error.message}" if status == 400 else ""
                )
            )

    def report_wrong_service(self) -> ModelBusy:
        """Return the error for an answer that is not Claude's, and log advice.

        The page of a proxy is returned as it came, whatever the SDK's types declare.
        """
        self._log_once(self._advice.address)
        return ModelBusy(model_sentences.WRONG_SERVICE)

    def _log_once(self, advice: str) -> None:
        if advice and advice not in self._logged_advice:
            self._logged_advice.add(advice)
            log.warning(advice)


def translate_claude_errors(error: CallError) -> ModelError:
    """Return the error of the domain."""
    if isinstance(error, DeadlineExceeded | anthropic.APITimeoutError):
        return ModelBusy(model_sentences.MODEL_TIMED_OUT)
    if isinstance(error, CloudAccessError):
        return ModelRequestRejected(sentences.NO_CLOUD_ACCESS)
    if isinstance(error, anthropic.APIStatusError):
        return _translate_status(error)
    return ModelBusy(model_sentences.MODEL_UNREACHABLE)


def convert_usage(billed: BilledUsage) -> Usage:
    """Return the usage of a call. Cache writes that are kept for an hour cost more, so they are counted apart."""
    hourly = billed.cache_creation.ephemeral_1h_input_tokens if billed.cache_creation else 0
    return Usage(
        input=billed.input_tokens,
        output=billed.output_tokens,
        cache_read=billed.cache_read_input_tokens or 0,
        cache_write=(billed.cache_creation_input_tokens or 0) - hourly,
        cache_write_hour=hourly,
    )


def _translate_status(error: anthropic.APIStatusError) -> ModelError:
    """Return the error of the domain for an error status."""
    status = error.status_code
    if status in (401, 403):
        return ModelRequestRejected(sentences.KEY_REFUSED)
    if status == 404:
        return ModelRequestRejected(model_sentences.MODEL_MISSING)
    if status in (408, 409, 429) or status >= 500:
        return ModelBusy(model_sentences.MODEL_BUSY, parse_retry_after(error.response.headers.get("retry-after")))
    if status == 200 and read_error_type(error) in _TRANSIENT_TYPES:
        return ModelBusy(model_sentences.MODEL_STOPPED)
    return ModelRequestRejected(model_sentences.format_rejection(status))


def read_error_type(error: anthropic.APIStatusError) -> str:
    """Return the type of an error in the body of the answer, empty if there is none."""
    body = error.body if isinstance(error.body, dict) else {}
    detail = body.get("error")
    return str(detail.get("type")) if isinstance(detail, dict) else ""
