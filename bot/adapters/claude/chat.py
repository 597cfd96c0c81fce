"""Claude as a ``ChatModel``: a talk with tools whose words come as they are written."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import Any

import anthropic
import httpx2
from anthropic import Anthropic
from anthropic.lib.streaming import MessageStream
from anthropic.types import Message, ToolUseBlock

from bot.adapters.claude.errors import FAILURES, TRUNCATIONS, Advice, translate_claude_errors, usage_of
from bot.adapters.http.bounded_calls import bound_requests
from bot.adapters.http.bounded_streams import in_own_context
from bot.domain.errors import ModelBusy, ModelRefusal
from bot.domain.operations.usage import Usage
from bot.ports import Chat, ChatEvent, Text, TextDelta, ToolCall, ToolResult, Turn, TurnEnd, TurnUsage

# what stands at the beginning of every talk on the same days; morning questions come within the hour
_FOR_AN_HOUR = {"type": "ephemeral", "ttl": "1h"}
# the talk so far; the next round, or the next question, comes soon
_FOR_MINUTES = {"type": "ephemeral", "ttl": "5m"}
# the events after which the service has told more of what the turn takes
_BILLED = {"message_start", "message_delta"}
# seconds; what is left at the very end is still enough for a word
_SHORTEST = 1.0


class ClaudeChat:
    """``ChatModel`` over the Messages API. May be shared by threads."""

    def __init__(self, client: Anthropic) -> None:
        self._client = client
        self._advice = Advice()

    @in_own_context
    def stream(self, chat: Chat) -> Generator[ChatEvent, None, None]:
        """Ask for the next turn. See :class:`bot.ports.ChatModel`."""
        try:
            # a stream in which only pings come is never silent, and the SDK tells of none
            with (
                bound_requests(max(_SHORTEST, chat.seconds)),
                self._client.messages.stream(**_request(chat)) as stream,
            ):
                message = yield from _deltas(stream)
        except FAILURES as error:
            self._advice.on(error)
            raise translate_claude_errors(error) from error
        except (httpx2.HTTPError, httpx2.StreamError) as error:
            # once a stream has begun, the SDK passes on what the connection raises
            raise ModelBusy("the connection to the model broke") from error
        if message is None:
            raise self._advice.elsewhere()
        yield from _ending(message)


def _deltas(stream: MessageStream[Any]) -> Generator[ChatEvent, None, Message | None]:
    """Yield words and usage; return the message, None where what came was not one of Claude's."""
    is_begun = is_over = False
    for event in _events(stream):
        is_begun = is_begun or event.type == "message_start"
        is_over = is_over or event.type == "message_stop"
        if event.type == "text":
            yield TextDelta(event.text)
        elif event.type in _BILLED and (usage := _usage(stream)):
            yield TurnUsage(usage)
    if is_begun and not is_over:
        raise ModelBusy("the model broke off")
    return stream.get_final_message() if is_begun else None


def _events(stream: MessageStream[Any]) -> Iterator[Any]:
    """What comes, of what has a type. The SDK believes whatever it gets, and trips over what is not Claude's."""
    try:
        for event in stream:
            if isinstance(getattr(event, "type", None), str):
                yield event
    except (anthropic.APIError, httpx2.HTTPError, httpx2.StreamError):
        raise
    except Exception as error:
        raise ModelBusy("something else than the model answered") from error


def _usage(stream: MessageStream[Any]) -> Usage | None:
    """What it took, as far as the service has told."""
    snapshot = stream._current_snapshot_or_none()
    return usage_of(snapshot.usage) if snapshot and snapshot.usage else None


def _ending(message: Message) -> Iterator[ChatEvent]:
    """The stop reason first: a refused turn may still hold words."""
    if message.stop_reason == "refusal":
        raise ModelRefusal("the model declined to answer")
    # of a turn that was cut the last call may be half
    if message.stop_reason == "tool_use":
        yield from (_call(block) for block in message.content if block.type == "tool_use")
    given = tuple(block.model_dump(mode="json", exclude_none=True) for block in message.content)
    yield TurnEnd(Turn("model", given=given), is_cut=message.stop_reason in TRUNCATIONS)


def _call(block: ToolUseBlock) -> ToolCall:
    return ToolCall(block.id, block.name, block.input if isinstance(block.input, Mapping) else {})


def _request(chat: Chat) -> dict[str, Any]:
    return {
        "model": chat.model,
        "max_tokens": chat.max_tokens,
        "system": [{"type": "text", "text": chat.system, "cache_control": _FOR_AN_HOUR}],
        "messages": _messages(chat.turns),
        "tools": [dict(tool) for tool in chat.tools],
        "tool_choice": {"type": "auto" if chat.may_use_tools else "none"},
        "output_config": {"effort": "medium"},
        "timeout": max(_SHORTEST, min(chat.silence, chat.seconds)),
    }


def _messages(turns: Sequence[Turn]) -> list[dict[str, Any]]:
    """The turns as the service takes them, less those that say nothing; all of them are kept for some minutes."""
    said = [(_ROLES[turn.by], _content(turn)) for turn in turns]
    messages: list[dict[str, Any]] = [{"role": role, "content": content} for role, content in said if content]
    messages[-1]["content"][-1]["cache_control"] = _FOR_MINUTES
    return messages


_ROLES = {"person": "user", "model": "assistant"}


def _content(turn: Turn) -> list[dict[str, Any]]:
    """Blank text is left out: models write it before a call, and the service refuses to get it back."""
    blocks = [dict(block) for block in turn.given] or [_block(part) for part in turn.parts]
    return [block for block in blocks if block["type"] != "text" or block["text"].strip()]


def _block(part: Text | ToolResult) -> dict[str, Any]:
    if isinstance(part, ToolResult):
        found = {"type": "tool_result", "tool_use_id": part.call, "content": part.text}
        return found | ({"is_error": True} if part.is_error else {})
    return {"type": "text", "text": part.text, **({"cache_control": _FOR_AN_HOUR} if part.stable else {})}
