"""Claude as a ``ChatModel``: a conversation with tools, streamed as it is written."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import Any

import anthropic
import httpx2
from anthropic.lib.streaming import MessageStream
from anthropic.types import Message, ToolUseBlock

from bot.adapters.models.claude.errors import (
    CALL_ERRORS,
    TRUNCATION_REASONS,
    ClaudeClient,
    OperatorAdvice,
    convert_usage,
    translate_claude_errors,
)
from bot.domain.errors import ModelBusy, ModelRefusal
from bot.domain.operations.usage import Usage
from bot.platform.http import model_sentences
from bot.platform.http.bounded_calls import bound_requests, run_in_own_context
from bot.ports import Chat, ChatEvent, TextDelta, TextPart, ToolCall, ToolResult, Turn, TurnEnd, TurnUsage

# the beginning of every conversation about the same days; questions of a morning come within the hour
_CACHE_FOR_HOUR = {"type": "ephemeral", "ttl": "1h"}
# the conversation so far; the next round, or the next question, comes soon
_CACHE_FOR_MINUTES = {"type": "ephemeral", "ttl": "5m"}
# the events that report more of the turn's usage
_USAGE_EVENTS = {"message_start", "message_delta"}
# seconds; with less, a call at the very end could not even begin its answer
_MIN_TIMEOUT = 1.0


class ClaudeChat:
    """``ChatModel`` over the Messages API. May be shared by threads."""

    def __init__(self, client: ClaudeClient, advice: OperatorAdvice | None = None) -> None:
        self._client = client
        self._advice = advice or OperatorAdvice()

    @run_in_own_context
    def stream_turn(self, chat: Chat) -> Generator[ChatEvent, None, None]:
        """Ask for the model's next turn. See :class:`bot.ports.ChatModel`."""
        try:
            # a stream of pings alone is never silent, and the SDK does not report them
            with (
                bound_requests(max(_MIN_TIMEOUT, chat.seconds)),
                self._client.messages.stream(**_build_request(chat)) as stream,
            ):
                message = yield from _iterate_deltas(stream)
        except CALL_ERRORS as error:
            self._advice.log_advice(error)
            raise translate_claude_errors(error) from error
        except (httpx2.HTTPError, httpx2.StreamError) as error:
            # once a stream has begun, the SDK passes on what the connection raises
            raise ModelBusy(model_sentences.CONNECTION_BROKE) from error
        if message is None:
            raise self._advice.report_wrong_service()
        yield from _finish_turn(message)


def _iterate_deltas(stream: MessageStream[Any]) -> Generator[ChatEvent, None, Message | None]:
    """Yield text and usage; return the message, None if the answer was not Claude's. Raises ModelBusy."""
    is_begun = is_over = False
    for event in _iterate_events(stream):
        is_begun = is_begun or event.type == "message_start"
        is_over = is_over or event.type == "message_stop"
        if event.type == "text":
            yield TextDelta(event.text)
        elif event.type in _USAGE_EVENTS and (usage := _read_usage(stream)):
            yield TurnUsage(usage)
    if is_begun and not is_over:
        raise ModelBusy(model_sentences.MODEL_STOPPED)
    return stream.get_final_message() if is_begun else None


def _iterate_events(stream: MessageStream[Any]) -> Iterator[Any]:
    """Yield the events that have a type.

    The SDK does not check what it receives, and fails on answers that are not Claude's.

    Raises:
        ModelBusy: the SDK failed.
    """
    try:
        for event in stream:
            if isinstance(getattr(event, "type", None), str):
                yield event
    except (anthropic.APIError, httpx2.HTTPError, httpx2.StreamError):
        raise
    except Exception as error:
        raise ModelBusy(model_sentences.WRONG_SERVICE) from error


def _read_usage(stream: MessageStream[Any]) -> Usage | None:
    """Return the usage that the service has reported so far, None if there is none."""
    snapshot = stream._current_snapshot_or_none()
    return convert_usage(snapshot.usage) if snapshot and snapshot.usage else None


def _finish_turn(message: Message) -> Iterator[ChatEvent]:
    """Yield the tool calls and the end of a complete message.

    The stop reason is checked first, because a refused turn may still hold text.

    Raises:
        ModelRefusal: the model declined.
    """
    if message.stop_reason == "refusal":
        raise ModelRefusal(model_sentences.MODEL_DECLINED)
    # the last call of a turn that was cut may be incomplete
    if message.stop_reason == "tool_use":
        yield from (_parse_tool_call(block) for block in message.content if block.type == "tool_use")
    blocks = tuple(block.model_dump(mode="json", exclude_none=True) for block in message.content)
    yield TurnEnd(Turn("model", model_blocks=blocks), is_cut=message.stop_reason in TRUNCATION_REASONS)


def _parse_tool_call(block: ToolUseBlock) -> ToolCall:
    """Return the call of a block. Arguments that are not an object count as none."""
    return ToolCall(block.id, block.name, block.input if isinstance(block.input, Mapping) else {})


def _build_request(chat: Chat) -> dict[str, Any]:
    """Return the arguments of the SDK's call for a turn."""
    return {
        "model": chat.model,
        "max_tokens": chat.max_tokens,
        "system": [{"type": "text", "text": chat.system, "cache_control": _CACHE_FOR_HOUR}],
        "messages": _build_messages(chat.turns),
        "tools": [dict(tool) for tool in chat.tools],
        "tool_choice": {"type": "auto" if chat.may_use_tools else "none"},
        "output_config": {"effort": "medium", **_build_format(chat.schema)},
        "timeout": max(_MIN_TIMEOUT, min(chat.silence, chat.seconds)),
    }


def _build_format(schema: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the format of the text: a tool could not be required instead, as large models refuse a forced one."""
    return {} if schema is None else {"format": {"type": "json_schema", "schema": dict(schema)}}


def _build_messages(turns: Sequence[Turn]) -> list[dict[str, Any]]:
    """Return the turns in the service's format, without empty ones. All of them are cached for five minutes."""
    contents = [(_MESSAGE_ROLES[turn.by], _build_content(turn)) for turn in turns]
    messages: list[dict[str, Any]] = [{"role": role, "content": content} for role, content in contents if content]
    messages[-1]["content"][-1]["cache_control"] = _CACHE_FOR_MINUTES
    return messages


_MESSAGE_ROLES = {"person": "user", "model": "assistant"}


def _build_content(turn: Turn) -> list[dict[str, Any]]:
    """Return the blocks of a turn without blank text.

    Models write blank text before a call, but the service does not accept it in a request.
    """
    blocks = [dict(block) for block in turn.model_blocks] or [_build_block(part) for part in turn.parts]
    return [block for block in blocks if block["type"] != "text" or block["text"].strip()]


def _build_block(part: TextPart | ToolResult) -> dict[str, Any]:
    """Return a part in the service's format."""
    if isinstance(part, ToolResult):
        result = {"type": "tool_result", "tool_use_id": part.call, "content": part.text}
        return result | ({"is_error": True} if part.is_error else {})
    return {"type": "text", "text": part.text, **({"cache_control": _CACHE_FOR_HOUR} if part.stable else {})}
