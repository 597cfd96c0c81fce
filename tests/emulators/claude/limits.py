from typing import Any

from localslack.loopback import Request

from tests.emulators.claude.errors import require
from tests.emulators.claude.marks import check_marks
from tests.emulators.claude.request import blocks, contents, schema_of
from tests.emulators.claude.schema import check_schema
from tests.emulators.claude.tools import check_tools

MODELS = frozenset(
    f"claude-{name}"
    for name in ("haiku-5-5", "sonnet-5-5", "opus-5-5", "fable-5-1", "sonnet-5", "opus-5", "haiku-4-5")
)
# these always think: they refuse `thinking: disabled` and a forced tool
ALWAYS_THINKING = frozenset({"claude-sonnet-5-5", "claude-opus-5-5", "claude-fable-5-1"})
# models before 4.6 take an assistant turn to continue, and answer without a thinking block
OLDER_MODELS = frozenset({"claude-haiku-4-5"})
BODY_LIMIT = 32 * 1024 * 1024
OUTPUT_LIMIT = 128_000


def thinks(body: dict[str, Any]) -> bool:
    disabled = (body.get("thinking") or {}).get("type") == "disabled"
    return not disabled and body["model"] not in OLDER_MODELS


def check_request(request: Request, api_key: str) -> None:
    """Refuse what the service refuses before it reads the body."""
    require(request.path == "/v1/messages" and request.method == "POST", "Not found", 404, "not_found_error")
    require(len(request.body) <= BODY_LIMIT, "Request exceeds the maximum size", 413, "request_too_large")
    check_caller(request, api_key)


def check_caller(request: Request, api_key: str) -> None:
    """Refuse a caller who has no key, or does not say which version of the interface is meant."""
    bearer = request.headers.get("authorization", "").removeprefix("Bearer ")
    caller_key = request.headers.get("x-api-key") or bearer
    require(caller_key == api_key, "invalid x-api-key", 401, "authentication_error")
    require("anthropic-version" in request.headers, "anthropic-version: header is required")


def check_body(body: dict[str, Any]) -> None:
    """Refuse what the service refuses in a body."""
    model, size = body.get("model"), body.get("max_tokens")
    require(model in MODELS, f"model: {model}", 404, "not_found_error")
    require(isinstance(size, int), "max_tokens: Field required")
    require(1 <= (size or 0) <= OUTPUT_LIMIT, f"max_tokens: {size} is not between 1 and {OUTPUT_LIMIT}")
    for name in ("temperature", "top_p", "top_k"):
        require(name not in body, f"{name}: this model does not support it")
    check_tools(body)
    _check_messages(body)
    strict = body["model"] in ALWAYS_THINKING
    disabled = (body.get("thinking") or {}).get("type") == "disabled"
    require(not (strict and disabled), f"thinking.type: disabled is not supported by {body['model']}")
    forced = (body.get("tool_choice") or {}).get("type") in {"any", "tool"}
    require(not (strict and forced), f"tool_choice: forced tool use is not supported by {body['model']}")
    check_marks(body)
    _check_format(body)


def _check_messages(body: dict[str, Any]) -> None:
    turns = body.get("messages")
    require(isinstance(turns, list) and turns, "messages: at least one message is required")
    roles = [turn.get("role") for turn in turns or []]
    require(set(roles) <= {"user", "assistant"}, "messages: roles must be user or assistant")
    require(roles[0] == "user", "messages: first message must use the user role")
    prefilled = roles[-1] == "assistant" and body["model"] not in OLDER_MODELS
    require(not prefilled, "This model does not support assistant message prefill.")
    _check_texts("system", contents(body.get("system")))
    _check_texts("messages", [block for turn in turns or [] for block in contents(turn.get("content"))])
    require(all(turn.get("content") for turn in turns or []), "messages: content must be non-empty")
    _check_tool_results(turns or [])
    loops = any(block.get("type") in {"tool_use", "tool_result"} for block in blocks(body))
    tools = body.get("tools")
    require(tools or not loops, "Requests which include tool_use or tool_result blocks must define tools.")


def _check_texts(where: str, content_blocks: list[dict[str, Any]]) -> None:
    """No block of text is blank, neither a person's nor the model's, also inside of what a tool says."""
    for block in content_blocks:
        if block.get("type") == "tool_result":
            inner = block.get("content")
            silent = block.get("is_error") and not inner
            require(not silent, f"{where}: tool_result: content cannot be empty if `is_error` is true")
            _check_texts(where, inner if isinstance(inner, list) else [])
        elif block.get("type") == "text":
            text = str(block.get("text", ""))
            require(text, f"{where}: text content blocks must be non-empty")
            require(text.strip(), f"{where}: text content blocks must contain non-whitespace text")


def _check_tool_results(turns: list[dict[str, Any]]) -> None:
    """Every tool call is answered at the beginning of the turn right after it, and nothing else is."""
    for before, after in zip([{}, *turns], [*turns, {}], strict=True):
        called = {block["id"] for block in contents(before.get("content")) if block.get("type") == "tool_use"}
        results = [block for block in contents(after.get("content")) if block.get("type") == "tool_result"]
        answered = {block.get("tool_use_id") for block in results}
        require(answered <= called, f"messages: unexpected tool_use_id in tool_result: {answered - called}")
        require(called <= answered, f"messages: tool_use ids without tool_result: {called - answered}")
        first = contents(after.get("content"))[: len(results)]
        require(first == results, "messages: tool_result blocks must come first in the turn after tool_use")


def _check_format(body: dict[str, Any]) -> None:
    output_format = (body.get("output_config") or {}).get("format")
    if output_format is None:
        return
    require(output_format.get("type") == "json_schema", "output_config.format.type: must be json_schema")
    schema = schema_of(body)
    require(schema is not None, "output_config.format.schema: Field required")
    check_schema(schema or {}, "output_config.format.schema")
