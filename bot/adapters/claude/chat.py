"""Claude as a ``ChatModel``: a talk with tools whose words come as they are written."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import Any

import anthropic
import httpx2
from anthropic import Anthropic
from anthropic.lib.streaming import MessageStream
from anthropic.types import Message, ToolUseBlock

from bot.adapters.claude.errors import (
    CALL_ERRORS,
    TRUNCATION_REASONS,
    OperatorAdvice,
    convert_usage,
    translate_claude_errors,
)
from bot.adapters.http.bounded_calls import bound_requests
from bot.adapters.http.bounded_streams import run_in_own_context
from bot.domain.errors import ModelBusy, ModelRefusal
from bot.domain.operations.usage import Usage
from bot.ports import Chat, ChatEvent, TextDelta, TextPart, ToolCall, ToolResult, Turn, TurnEnd, TurnUsage

# what stands at the beginning of every talk on the same days; morning questions come within the hour
_CACHE_FOR_HOUR = {"type": "ephemeral", "ttl": "1h"}
# the talk so far; the next round, or the next question, comes soon
_CACHE_FOR_MINUTES = {"type": "ephemeral", "ttl": "5m"}
# the events after which the service has told more of what the turn takes
_USAGE_EVENTS = {"message_start", "message_delta"}
# seconds; what is left at the very end is still enough for a word
_MIN_TIMEOUT = 1.0


class ClaudeChat:
    """``ChatModel`` over the Messages API. May be shared by threads."""

    def __init__(self, client: Anthropic) -> None:
        self._client = client
        self._advice = OperatorAdvice()

    @run_in_own_context
    def stream_turn(self, chat: Chat) -> Generator[ChatEvent, None, None]:
        """Ask for the next turn. See :class:`bot.ports.ChatModel`."""
        try:
            # a stream in which only pings come is never silent, and the SDK tells of none
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
            raise ModelBusy("the connection to the model broke") from error
        if message is None:
            raise self._advice.report_wrong_service()
        yield from _finish_turn(message)


def _iterate_deltas(stream: MessageStream[Any]) -> Generator[ChatEvent, None, Message | None]:
    """Yield words and usage; return the message, None where what came was not one of Claude's."""
    is_begun = is_over = False
    for event in _iterate_events(stream):
        is_begun = is_begun or event.type == "message_start"
        is_over = is_over or event.type == "message_stop"
        if event.type == "text":
            yield TextDelta(event.text)
        elif event.type in _USAGE_EVENTS and (usage := _read_usage(stream)):
            yield TurnUsage(usage)
    if is_begun and not is_over:
        raise ModelBusy("the model broke off")
    return stream.get_final_message() if is_begun else None


def _iterate_events(stream: MessageStream[Any]) -> Iterator[Any]:
    """What comes, of what has a type. The SDK believes whatever it gets, and trips over what is not Claude's."""
    try:
        for event in stream:
            if isinstance(getattr(event, "type", None), str):
                yield event
    except (anthropic.APIError, httpx2.HTTPError, httpx2.StreamError):
        raise
    except Exception as error:
        raise ModelBusy("something else than the model answered") from error


def _read_usage(stream: MessageStream[Any]) -> Usage | None:
    """What it took, as far as the service has told."""
    snapshot = stream._current_snapshot_or_none()
    return convert_usage(snapshot.usage) if snapshot and snapshot.usage else None


def _finish_turn(message: Message) -> Iterator[ChatEvent]:
    """The stop reason first: a refused turn may still hold words."""
    if message.stop_reason == "refusal":
        raise ModelRefusal("the model declined to answer")
    # of a turn that was cut the last call may be half
    if message.stop_reason == "tool_use":
        yield from (_parse_tool_call(block) for block in message.content if block.type == "tool_use")
    given = tuple(block.model_dump(mode="json", exclude_none=True) for block in message.content)
    yield TurnEnd(Turn("model", given=given), is_cut=message.stop_reason in TRUNCATION_REASONS)


def _parse_tool_call(block: ToolUseBlock) -> ToolCall:
    return ToolCall(block.id, block.name, block.input if isinstance(block.input, Mapping) else {})


def _build_request(chat: Chat) -> dict[str, Any]:
    return {
        "model": chat.model,
        "max_tokens": chat.max_tokens,
        "system": [{"type": "text", "text": chat.system, "cache_control": _CACHE_FOR_HOUR}],
        "messages": _build_messages(chat.turns),
        "tools": [dict(tool) for tool in chat.tools],
        "tool_choice": {"type": "auto" if chat.may_use_tools else "none"},
        "output_config": {"effort": "medium"},
        "timeout": max(_MIN_TIMEOUT, min(chat.silence, chat.seconds)),
    }


def _build_messages(turns: Sequence[Turn]) -> list[dict[str, Any]]:
    """The turns as the service takes them, less those that say nothing; all of them are kept for some minutes."""
    said = [(_MESSAGE_ROLES[turn.by], _build_content(turn)) for turn in turns]
    messages: list[dict[str, Any]] = [{"role": role, "content": content} for role, content in said if content]
    messages[-1]["content"][-1]["cache_control"] = _CACHE_FOR_MINUTES
    return messages


_MESSAGE_ROLES = {"person": "user", "model": "assistant"}


def _build_content(turn: Turn) -> list[dict[str, Any]]:
    """Blank text is left out: models write it before a call, and the service refuses to get it back."""
    blocks = [dict(block) for block in turn.given] or [_build_block(part) for part in turn.parts]
    return [block for block in blocks if block["type"] != "text" or block["text"].strip()]


def _build_block(part: TextPart | ToolResult) -> dict[str, Any]:
    if isinstance(part, ToolResult):
        found = {"type": "tool_result", "tool_use_id": part.call, "content": part.text}
        return found | ({"is_error": True} if part.is_error else {})
    return {"type": "text", "text": part.text, **({"cache_control": _CACHE_FOR_HOUR} if part.stable else {})}
