"""Claude as a ``Model``: JSON of a schema, one call, failures in the words of the domain."""

from __future__ import annotations

from anthropic import Anthropic
from anthropic.types import Message

from bot.adapters.claude.errors import FAILURES, TRUNCATIONS, Advice, translate_claude_errors, usage_of
from bot.adapters.claude.transport import noting_client
from bot.adapters.http.bounded_calls import bound_requests
from bot.domain.errors import ModelAnswerTruncated, ModelRefusal
from bot.ports import Completion, Prompt

# seconds of silence in one call; a summary takes 2 to 10, and whoever waits for a digest waits for the slowest
TIMEOUT = 60.0
# seconds for one call from its beginning to the last byte: all that silence, and half as much for an answer that
# comes slowly; asking begins no later try than that (bot.services.summaries.structured_completion)
CALL_SECONDS = 90.0


def claude_client(api_key: str, base_url: str | None) -> Anthropic:
    """A client that leaves retries to the caller: the SDK's would honour a Retry-After of any length."""
    return Anthropic(
        api_key=api_key, base_url=base_url, timeout=TIMEOUT, max_retries=0, http_client=noting_client()
    )


class ClaudeModel:
    """``Model`` over the Messages API. May be shared by threads. ``seconds`` is how long one call may take."""

    def __init__(self, client: Anthropic, seconds: float = CALL_SECONDS) -> None:
        self._client = client
        self._seconds = seconds
        self._advice = Advice()

    def complete(self, prompt: Prompt) -> Completion:
        """Ask once. See :class:`bot.ports.Model`."""
        try:
            with bound_requests(self._seconds):
                message = self._create(prompt)
        except FAILURES as error:
            self._advice.on(error)
            raise translate_claude_errors(error) from error
        if not isinstance(message, Message):
            raise self._advice.elsewhere()
        return _completion(message)

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
    usage = usage_of(message.usage)
    if message.stop_reason == "refusal":
        raise ModelRefusal("the model declined to summarise it", usage)
    if message.stop_reason in TRUNCATIONS:
        raise ModelAnswerTruncated("the model's answer was cut at its length limit", usage)
    # answers may begin with a block of thinking
    text = "".join(block.text for block in message.content if block.type == "text")
    return Completion(text, usage)
