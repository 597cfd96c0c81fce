from typing import Any

from anthropic import Anthropic

MODEL = "claude-haiku-5-5"
HELLO = [{"role": "user", "content": "Hello"}]


def ask(sdk: Anthropic, **overrides: Any) -> Any:
    return sdk.messages.create(**{"model": MODEL, "max_tokens": 500, "messages": HELLO, **overrides})


def text_of(message: Any) -> str:
    return "".join(block.text for block in message.content if block.type == "text")


def make_closed_schema(**properties: Any) -> dict[str, Any]:
    """An object schema with nothing besides its properties."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def make_output_config(schema: dict[str, Any]) -> dict[str, Any]:
    return {"output_config": {"format": {"type": "json_schema", "schema": schema}}}


TEXT = {"type": "string"}
SUMMARY = make_closed_schema(
    type={"enum": ["TRIVIAL", "SUBSTANTIAL"]},
    **dict.fromkeys(["headline", "condition", "what_changed_and_why", "technical_impact", "key_insights"], TEXT),
    risks={"type": "array", "items": make_closed_schema(claim=TEXT, where=TEXT, kind=TEXT)},
    risk_reason=TEXT,
    action=TEXT,
    evidence={"type": "array", "items": make_closed_schema(path=TEXT, quote=TEXT)},
)
THEME = make_closed_schema(title=TEXT, pull_requests={"type": "array", "items": {"type": "integer"}})
OVERVIEW = make_closed_schema(overview=TEXT, themes={"type": "array", "items": THEME})
READ = {"name": "read", "description": "Reads a file.", "input_schema": make_closed_schema(path=TEXT)}
FIND = {"name": "find", "description": "Finds a word.", "input_schema": make_closed_schema(word=TEXT)}
TOOLS = [READ, FIND]


def stream_message(sdk: Anthropic, **overrides: Any) -> Any:
    """The message of a stream, once it has ended."""
    with sdk.messages.stream(**{"model": MODEL, "max_tokens": 500, "messages": HELLO, **overrides}) as stream:
        return stream.get_final_message()


def answer_calls(message: Any, *, turns: list[Any] | None = None, result: str = "found") -> list[Any]:
    """The conversation after a message that calls tools, with a result for each call."""
    calls = [block.id for block in message.content if block.type == "tool_use"]
    results = [{"type": "tool_result", "tool_use_id": call, "content": result} for call in calls]
    assistant_turn = {"role": "assistant", "content": message.content}
    return [*(turns or HELLO), assistant_turn, {"role": "user", "content": results}]
