"""A request as the scripts of the tests know requests: what the emulator of Claude gets for the same."""

import json
from typing import Any

# what stands before a schema in the instructions, for servers that take no format
_SCHEMA_MARK = "matches this JSON schema:\n"


def view_of(body: dict[str, Any]) -> dict[str, Any]:
    """The request in the words of the other protocol: tools by name and schema, and the format of the answer."""
    schema = schema_of(body)
    system = "\n".join(each["content"] for each in body["messages"] if each["role"] == "system")
    view: dict[str, Any] = {
        "model": body["model"],
        "max_tokens": size_of(body),
        "system": system,
        "messages": [_turn_of(each) for each in body["messages"] if each["role"] != "system"],
        "stream": bool(body.get("stream")),
        "output_config": {"format": {"type": "json_schema", "schema": schema}} if schema else {},
    }
    if body.get("tools"):
        functions = [tool["function"] for tool in body["tools"]]
        view["tools"] = [{"name": each["name"], "input_schema": each["parameters"]} for each in functions]
        view["tool_choice"] = {"type": body.get("tool_choice", "auto")}
    return view


def size_of(body: dict[str, Any]) -> int:
    """How many tokens the answer may have."""
    return int(body.get("max_completion_tokens") or body.get("max_tokens") or 16)


def schema_of(body: dict[str, Any]) -> dict[str, Any] | None:
    schema = (body.get("response_format") or {}).get("json_schema", {}).get("schema")
    if schema is not None:
        return dict(schema)
    system = "\n".join(each["content"] for each in body["messages"] if each["role"] == "system")
    _, mark, text = system.rpartition(_SCHEMA_MARK)
    return dict(json.JSONDecoder().raw_decode(text)[0]) if mark else None


def _turn_of(message: dict[str, Any]) -> dict[str, Any]:
    if message["role"] == "tool":
        result = {"type": "tool_result", "tool_use_id": message["tool_call_id"], "content": message["content"]}
        return {"role": "user", "content": [result]}
    text = [{"type": "text", "text": message["content"]}] if message.get("content") else []
    calls = [
        {
            "type": "tool_use",
            "id": each["id"],
            "name": each["function"]["name"],
            "input": json.loads(each["function"]["arguments"]),
        }
        for each in message.get("tool_calls") or []
    ]
    return {"role": message["role"], "content": [*text, *calls]}
