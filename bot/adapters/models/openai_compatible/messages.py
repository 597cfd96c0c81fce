"""Requests in the protocol: messages in their roles, tools, and the format of the answer."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from bot.ports import Chat, Prompt, TextPart, ToolResult, Turn

_SCHEMA_NOTE = "Answer with one JSON object and nothing else. It matches this JSON schema:\n{schema}"
# the protocol has no mark for the result of a tool that failed
_ERROR_NOTE = "The tool failed: {text}"

Message = dict[str, Any]


def build_completion_body(prompt: Prompt, *, with_format: bool) -> dict[str, Any]:
    """Return the body of a request for a prompt; without a format, the instructions ask for the schema."""
    system = prompt.system if with_format else _add_schema(prompt.system, prompt.schema)
    body: dict[str, Any] = {
        "model": prompt.model,
        "messages": [{"role": "system", "content": system}, {"role": "user", "content": prompt.user}],
        "max_tokens": prompt.max_tokens,
    }
    return body | ({"response_format": build_format(prompt.schema)} if with_format else {})


def build_chat_body(chat: Chat, *, with_format: bool) -> dict[str, Any]:
    """Return the body of a request for a turn. A schema is in the instructions in any case."""
    system = chat.system if chat.schema is None else _add_schema(chat.system, chat.schema)
    body: dict[str, Any] = {
        "model": chat.model,
        "messages": [{"role": "system", "content": system}, *_build_messages(chat.turns)],
        "max_tokens": chat.max_tokens,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if chat.tools:
        body["tools"] = [build_tool(tool) for tool in chat.tools]
        body["tool_choice"] = "auto" if chat.may_use_tools else "none"
    if with_format and chat.schema is not None:
        body["response_format"] = build_format(chat.schema)
    return body


def may_have_format(chat: Chat) -> bool:
    """Return whether the text of a turn can be held to a schema.

    A server that does so holds the model to it from the first word, so that it could not call a tool.
    """
    return chat.schema is not None and not (chat.tools and chat.may_use_tools)


def _add_schema(system: str, schema: Mapping[str, Any]) -> str:
    """Return instructions with a schema below them."""
    return f"{system}\n\n{_SCHEMA_NOTE.format(schema=json.dumps(schema))}"


def build_format(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the format of an answer in a schema."""
    return {"type": "json_schema", "json_schema": {"name": "answer", "schema": dict(schema), "strict": True}}


def build_tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tool in the protocol."""
    function = {"name": tool["name"], "description": tool["description"], "parameters": tool["input_schema"]}
    return {"type": "function", "function": function}


def _build_messages(turns: Sequence[Turn]) -> list[Message]:
    """Return the turns as messages, without blank ones.

    Neighbours of the same role become one: templates of many models take alternating ones alone.
    """
    messages = [message for turn in turns for message in _list_messages(turn)]
    merged: list[Message] = []
    for is_text, group in groupby(messages, key=_find_mergeable_role):
        same = list(group)
        merged += [{**same[0], "content": "\n\n".join(each["content"] for each in same)}] if is_text else same
    return merged


def _find_mergeable_role(message: Message) -> str:
    """Return the role of a message of text alone, empty for calls and results of tools."""
    return "" if "tool_calls" in message or message["role"] == "tool" else str(message["role"])


def _list_messages(turn: Turn) -> list[Message]:
    """Return the messages of a turn: the results of tools first, then its text."""
    if turn.model_blocks:
        return [dict(block) for block in turn.model_blocks]
    results = [_build_result(part) for part in turn.parts if isinstance(part, ToolResult)]
    texts = [part.text for part in turn.parts if isinstance(part, TextPart) and part.text.strip()]
    role = "user" if turn.by == "person" else "assistant"
    return [*results, *([{"role": role, "content": "\n\n".join(texts)}] if texts else [])]


def _build_result(result: ToolResult) -> Message:
    """Return the message with the result of a tool."""
    text = _ERROR_NOTE.format(text=result.text) if result.is_error else result.text
    return {"role": "tool", "tool_call_id": result.call, "content": text}
