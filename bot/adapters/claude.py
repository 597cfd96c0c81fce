"""Claude as a ``Model``: JSON of a schema, one call, failures in the words of the domain."""

from __future__ import annotations

import logging

import anthropic
from anthropic import Anthropic
from anthropic.types import Message

from bot.domain.costs import Usage
from bot.domain.errors import ModelBusy, ModelError, ModelRefused, ModelRejected, ModelTruncated
from bot.ports import Completion, Prompt

log = logging.getLogger(__name__)

# seconds for one call; a summary takes 2 to 10, and whoever waits for a digest waits for the slowest
TIMEOUT = 60.0
_KEY = "Claude refuses the key: check ANTHROPIC_API_KEY."
_NAME = "Claude has no model of that name: check PRDIGEST_SUMMARY_MODEL and PRDIGEST_ANSWER_MODEL."
_ELSEWHERE = "Something else than Claude answers: check ANTHROPIC_BASE_URL."
_ADVICE = {401: _KEY, 403: _KEY, 404: _NAME}
_TRUNCATIONS = ("max_tokens", "model_context_window_exceeded")


def claude_client(api_key: str, base_url: str | None) -> Anthropic:
    """A client that leaves retries to the caller: the SDK's would honour a Retry-After of any length."""
    return Anthropic(api_key=api_key, base_url=base_url, timeout=TIMEOUT, max_retries=0)


class ClaudeModel:
    """``Model`` over the Messages API. May be shared by threads."""

    def __init__(self, client: Anthropic) -> None:
        self._client = client
        self._advised: set[str] = set()

    def complete(self, prompt: Prompt) -> Completion:
        """Ask once. See :class:`bot.ports.Model`."""
        try:
            message = self._create(prompt)
        except anthropic.APIError as error:
            self._advise(_ADVICE.get(getattr(error, "status_code", 0), ""))
            raise _in_words(error) from error
        # a page of whoever stands between comes as it is, whatever the SDK's types say
        if not isinstance(message, Message):
            self._advise(_ELSEWHERE)
            raise ModelBusy("something else than the model answered")
        return _completion(message)

    def _advise(self, advice: str) -> None:
        """Tell whoever runs the bot, once, what readers of a summary have no use for."""
        if advice and advice not in self._advised:
            self._advised.add(advice)
            log.warning(advice)

    def _create(self, prompt: Prompt) -> object:
        return self._client.messages.create(
            model=prompt.model,
            max_tokens=prompt.max_tokens,
            system=prompt.system,
            messages=[{"role": "user", "content": prompt.user}],
            output_config={"format": {"type": "json_schema", "schema": dict(prompt.schema)}, "effort": "low"},
        )


def _completion(message: Message) -> Completion:
    """The stop reason first: a refused or cut answer may still look like JSON."""
    usage = _usage(message)
    if message.stop_reason == "refusal":
        raise ModelRefused("the model declined to summarise it", usage)
    if message.stop_reason in _TRUNCATIONS:
        raise ModelTruncated("the model's answer was cut at its length limit", usage)
    # answers may begin with a block of thinking
    text = "".join(block.text for block in message.content if block.type == "text")
    return Completion(text, usage)


def _usage(message: Message) -> Usage:
    used = message.usage
    return Usage(
        input=used.input_tokens,
        output=used.output_tokens,
        cache_read=used.cache_read_input_tokens or 0,
        cache_write=used.cache_creation_input_tokens or 0,
    )


def _in_words(error: anthropic.APIError) -> ModelError:
    if isinstance(error, anthropic.APITimeoutError):
        return ModelBusy("the model did not answer in time")
    if isinstance(error, anthropic.APIStatusError):
        return _of_status(error)
    return ModelBusy("the model can't be reached")


def _of_status(error: anthropic.APIStatusError) -> ModelError:
    status = error.status_code
    if status in (401, 403):
        return ModelRejected("the model's API key is refused")
    if status == 404:
        return ModelRejected("there is no model of that name")
    if status in (408, 409, 429) or status >= 500:
        return ModelBusy("the model is busy", _retry_after(error))
    return ModelRejected(f"the model refused the request with status {status}")


def _retry_after(error: anthropic.APIStatusError) -> float | None:
    value = error.response.headers.get("retry-after", "")
    return float(value) if value.isdigit() else None
