"""What an OpenAI-compatible server refuses: what the types of the official package do not know, and more."""

import json
import re
from itertools import pairwise
from typing import Any, get_type_hints

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError
from openai.types.chat import ChatCompletionMessageParam, ChatCompletionToolUnionParam
from openai.types.chat.completion_create_params import (
    CompletionCreateParamsNonStreaming,
    CompletionCreateParamsStreaming,
    ResponseFormat,
)
from pydantic import TypeAdapter, ValidationError

from tests.emulators.claude.errors import Rejected
from tests.emulators.openai_compatible.view import size_of

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_FIELDS = get_type_hints(CompletionCreateParamsStreaming).keys() | get_type_hints(
    CompletionCreateParamsNonStreaming
)
_MESSAGES = TypeAdapter(list[ChatCompletionMessageParam])
_TOOLS = TypeAdapter(list[ChatCompletionToolUnionParam])
_FORMAT: TypeAdapter[Any] = TypeAdapter(ResponseFormat)
# what each message may have: the types alone would let anything else through
_MESSAGE_FIELDS = {
    "system": {"role", "content", "name"},
    "user": {"role", "content", "name"},
    "assistant": {"role", "content", "name", "tool_calls", "refusal"},
    "tool": {"role", "content", "tool_call_id"},
}
# keywords that some grammars of structured outputs can't hold to
_UNSUPPORTED = frozenset("patternProperties propertyNames contains uniqueItems if then else not".split())
CHARACTERS_PER_TOKEN = 4


def require(condition: object, message: str, status: int = 400, kind: str = "BadRequestError") -> None:
    if not condition:
        raise Rejected(message, status, kind)


def check_body(body: dict[str, Any]) -> None:
    unknown = sorted(set(body) - _FIELDS)
    require(not unknown, f"Unrecognized request arguments supplied: {unknown}")
    require(isinstance(body.get("model"), str), "model: Field required")
    size = body.get("max_completion_tokens", body.get("max_tokens"))
    require(isinstance(size, int) and size >= 1, f"max_tokens must be at least 1, got {size}.")
    require(
        "stream_options" not in body or body.get("stream"),
        "Stream options can only be defined when `stream=True`.",
    )
    _check_types(_MESSAGES, body.get("messages"), "messages")
    _check_messages(body["messages"])
    _check_tools(body)
    if "response_format" in body:
        _check_types(_FORMAT, body["response_format"], "response_format")
        _check_format(body["response_format"])


def check_window(body: dict[str, Any], window: int) -> None:
    """Refuse what is longer than the model's context window, in the words of vLLM."""
    prompt, size = count_prompt(body), size_of(body)
    require(
        prompt + size <= window,
        f"This model's maximum context length is {window} tokens. However, you requested {prompt + size} tokens "
        f"({prompt} in the messages, {size} in the completion). Please reduce the length "
        "of the messages or completion.",
    )


def count_prompt(body: dict[str, Any]) -> int:
    """The tokens of a prompt."""
    parts = [body["messages"], body.get("tools") or []]
    return sum(len(json.dumps(part, ensure_ascii=False)) for part in parts) // CHARACTERS_PER_TOKEN


def _check_types(adapter: TypeAdapter[Any], value: Any, place: str) -> None:
    try:
        parsed_value = adapter.validate_python(value)
        # some parts are checked when they are read
        json.dumps(parsed_value, default=list)
    except ValidationError as error:
        raise Rejected(f"{place}: {error.errors()[0]['msg']} at {error.errors()[0]['loc']}", 400) from error


def _check_messages(messages: list[dict[str, Any]]) -> None:
    require(messages, "messages: at least one message is required")
    for message in messages:
        extra = sorted(set(message) - _MESSAGE_FIELDS[message["role"]])
        require(not extra, f"messages: {message['role']} has unknown fields {extra}")
        has_text = bool(str(message.get("content") or "").strip())
        require(has_text or message.get("tool_calls"), f"messages: {message['role']} says nothing")
    roles = [message["role"] for message in messages]
    require("system" not in roles[1:], "messages: system must be first")
    talk = [role for role in roles if role != "system"]
    require(talk and talk[0] == "user", "Conversation roles must begin with user")
    require(talk[-1] in {"user", "tool"}, "Cannot continue the last assistant message")
    doubled = [role for role, after in pairwise(talk) if role == after and role != "tool"]
    require(not doubled, f"Conversation roles must alternate, but {doubled} do not")
    _check_calls(messages)


def _check_calls(messages: list[dict[str, Any]]) -> None:
    """Every call is answered right after it, and nothing else is."""
    waiting: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            require(message["tool_call_id"] in waiting, f"no call waits for {message['tool_call_id']}")
            waiting.remove(message["tool_call_id"])
            continue
        require(not waiting, f"tool_calls must be followed by tool messages responding to {waiting}")
        calls = message.get("tool_calls") or []
        waiting = [call["id"] for call in calls]
        require(len(set(waiting)) == len(waiting), "the ids of calls must be unique")
        for call in calls:
            _check_arguments(call["function"]["arguments"])
    require(not waiting, f"tool_calls must be followed by tool messages responding to {waiting}")


def _check_arguments(text: str) -> None:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise Rejected(f"arguments of a call: {error}", 400) from error
    require(isinstance(value, dict), "arguments of a call must be an object")


def _check_tools(body: dict[str, Any]) -> None:
    tools = body.get("tools")
    has_calls = any(message.get("tool_calls") for message in body["messages"])
    require(tools or not has_calls, "messages with calls need tools")
    require(tools or "tool_choice" not in body, "When using `tool_choice`, `tools` must be set.")
    if tools is None:
        return
    require(tools, "tools: must not be empty")
    _check_types(_TOOLS, tools, "tools")
    require(body.get("tool_choice", "auto") in {"auto", "none"}, "tool_choice: use auto or none")
    for tool in tools:
        require(set(tool) == {"type", "function"}, f"tools: unknown fields in {sorted(tool)}")
        function = tool["function"]
        require(_NAME.fullmatch(function["name"]), f"tools: {function['name']!r} is no name")
        require(function["parameters"].get("type") == "object", "tools: parameters must be an object")
        _check_schema(function["parameters"])


def _check_format(response_format: dict[str, Any]) -> None:
    require(response_format["type"] == "json_schema", "response_format: use json_schema")
    detail = response_format["json_schema"]
    require(_NAME.fullmatch(detail.get("name", "")), "response_format.json_schema.name: Field required")
    require(set(detail) <= {"name", "schema", "strict", "description"}, "json_schema: unknown fields")
    require(isinstance(detail.get("schema"), dict), "response_format.json_schema.schema: Field required")
    _check_schema(detail["schema"])
    if detail.get("strict"):
        _check_closed(detail["schema"])


def _check_schema(schema: dict[str, Any]) -> None:
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        raise Rejected(f"Grammar error: {error.message}", 400) from error
    unsupported_keywords = sorted(_UNSUPPORTED & _keywords(schema))
    require(
        not unsupported_keywords,
        f"The provided JSON schema contains features not supported: {unsupported_keywords}",
    )


def _check_closed(schema: Any) -> None:
    if isinstance(schema, dict):
        if schema.get("type") == "object":
            require(schema.get("additionalProperties") is False, "'additionalProperties' must be false")
            require(
                set(schema.get("required", [])) == set(schema.get("properties", {})), "'required' must name all"
            )
        for part in schema.values():
            _check_closed(part)
    elif isinstance(schema, list):
        for part in schema:
            _check_closed(part)


def _keywords(schema: Any) -> set[str]:
    if isinstance(schema, dict):
        inner = {name for key, part in schema.items() if key != "properties" for name in _keywords(part)}
        properties = schema.get("properties", {})
        parts = properties.values() if isinstance(properties, dict) else []
        return set(schema) | inner | {name for part in parts for name in _keywords(part)}
    if isinstance(schema, list):
        return {name for part in schema for name in _keywords(part)}
    return set()
