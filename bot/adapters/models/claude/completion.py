"""Claude as a ``Model``: one call for JSON in a schema, with errors of the domain."""

from __future__ import annotations

import json

from anthropic import Anthropic
from anthropic.types import Message
from anthropic.types.message_create_params import MessageCreateParamsNonStreaming

from bot.adapters.models.claude.errors import (
    CALL_ERRORS,
    TRUNCATION_REASONS,
    ClaudeClient,
    OperatorAdvice,
    convert_usage,
    translate_claude_errors,
)
from bot.adapters.models.claude.transport import make_tracking_client
from bot.domain.errors import ModelAnswerTruncated, ModelRefusal
from bot.platform.http import model_sentences
from bot.platform.http.bounded_calls import bound_requests
from bot.ports import Completion, Prompt

# seconds of silence in one call; a summary takes 2 to 10, and a digest waits for the slowest one
SILENCE_SECONDS = 60.0
# seconds for one call from its beginning to the last byte: all that silence, and half as much for an answer that
# arrives slowly; no later attempt begins after that time (bot.services.summaries.structured_completion)
CALL_SECONDS = 90.0


def make_claude_client(api_key: str, base_url: str | None) -> Anthropic:
    """Create a client without retries, which are up to the caller.

    The SDK's own retries would wait for a Retry-After of any length.
    """
    return Anthropic(
        api_key=api_key,
        base_url=base_url,
        timeout=SILENCE_SECONDS,
        max_retries=0,
        http_client=make_tracking_client(),
        # spans without any text, whatever the environment says, and no header about them to the outside
        open_telemetry={"traces": {"content_mode": "metadata_only"}, "propagation": False},
    )


class ClaudeModel:
    """``Model`` over the Messages API. May be shared by threads. ``seconds`` is the time limit of one call."""

    def __init__(
        self, client: ClaudeClient, seconds: float = CALL_SECONDS, advice: OperatorAdvice | None = None
    ) -> None:
        self._client = client
        self._seconds = seconds
        self._advice = advice or OperatorAdvice()

    def complete(self, prompt: Prompt) -> Completion:
        """Ask once. See :class:`bot.ports.Model`."""
        try:
            with bound_requests(self._seconds):
                message = self._send_prompt(prompt)
        except CALL_ERRORS as error:
            self._advice.log_advice(error)
            raise translate_claude_errors(error) from error
        # the SDK does not check what it receives
        except (UnicodeDecodeError, json.JSONDecodeError) as error:
            raise self._advice.report_wrong_service() from error
        if not isinstance(message, Message):
            raise self._advice.report_wrong_service()
        try:
            return parse_completion(message)
        except (AttributeError, TypeError) as error:
            raise self._advice.report_wrong_service() from error

    def _send_prompt(self, prompt: Prompt) -> object:
        """Send a prompt, and return the SDK's answer, which may not be a message."""
        return self._client.messages.create(**build_parameters(prompt))


def build_parameters(prompt: Prompt) -> MessageCreateParamsNonStreaming:
    """Return what the service is asked for a prompt."""
    return {
        "model": prompt.model,
        "max_tokens": prompt.max_tokens,
        "system": prompt.system,
        "messages": [{"role": "user", "content": prompt.user}],
        "output_config": {"format": {"type": "json_schema", "schema": dict(prompt.schema)}, "effort": "low"},
    }


def parse_completion(message: Message) -> Completion:
    """Return the completion of a message.

    The stop reason is checked first, because a refused or cut answer may still look like JSON.

    Raises:
        ModelRefusal: the model declined.
        ModelAnswerTruncated: the answer was cut at its length limit.
    """
    usage = convert_usage(message.usage)
    if message.stop_reason == "refusal":
        raise ModelRefusal("the model declined to summarize it", usage)
    if message.stop_reason in TRUNCATION_REASONS:
        raise ModelAnswerTruncated(model_sentences.MODEL_CUT, usage)
    # answers may begin with a block of thinking
    text = "".join(block.text for block in message.content if block.type == "text")
    return Completion(text, usage)
