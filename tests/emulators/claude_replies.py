"""The forms of Claude's answers: the content of a step, as JSON or as server-sent events, and errors."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.emulators.claude_limits import OLDER_MODELS
from tests.emulators.claude_request import CHARACTERS_PER_TOKEN
from tests.emulators.claude_script import Failure, Json, MidStreamError, Refusal, Step, Text, ToolUse, Truncated
from tests.emulators.loopback import Response

THOUGHT = "Weighing the request."
# characters of one text event; the service sends a few words at a time
PIECE = 24


@dataclass(frozen=True)
class Reply:
    """One answer before it takes the form of JSON or events; ``error`` breaks a stream off."""

    content: list[dict[str, Any]]
    stop_reason: str
    stop_details: dict[str, Any] | None = None
    error: str | None = None


def _text_reply(text: str, stop_reason: str, body: dict[str, Any]) -> Reply:
    limit = body["max_tokens"] * CHARACTERS_PER_TOKEN
    if len(text) > limit:
        return Reply([{"type": "text", "text": text[:limit]}], "max_tokens")
    return Reply([{"type": "text", "text": text}], stop_reason)


def reply_of(step: Step, body: dict[str, Any]) -> Reply:
    match step:
        case Text(text, stop_reason):
            return _text_reply(text, stop_reason, body)
        case Json(value):
            return _text_reply(json.dumps(value), "end_turn", body)
        case Truncated(text):
            return _text_reply(text, "max_tokens", body)
        case Refusal(explanation):
            return Reply([], "refusal", {"type": "refusal", "category": None, "explanation": explanation})
        case MidStreamError(text, kind):
            return Reply([{"type": "text", "text": text}], "end_turn", error=kind)
        case ToolUse(name, given, text):
            said = [{"type": "text", "text": text}] if text else []
            made = hashlib.sha256(f"{name}{given}{len(body['messages'])}".encode()).hexdigest()[:24]
            return Reply(
                [*said, {"type": "tool_use", "id": f"toolu_{made}", "name": name, "input": given}], "tool_use"
            )
        case _:
            raise AssertionError(f"{step} has no content")


def with_thought(reply: Reply, body: dict[str, Any]) -> Reply:
    disabled = (body.get("thinking") or {}).get("type") == "disabled"
    if body["model"] in OLDER_MODELS or disabled or not reply.content:
        return reply
    thought = {"type": "thinking", "thinking": THOUGHT, "signature": "c2lnbmVk"}
    return Reply([thought, *reply.content], reply.stop_reason, reply.stop_details, reply.error)


def output_tokens(reply: Reply) -> int:
    texts = [
        block.get("text") or json.dumps(block.get("input"))
        for block in reply.content
        if block["type"] != "thinking"
    ]
    return max(1, sum(map(len, texts)) // CHARACTERS_PER_TOKEN)


def error_response(failure: Failure) -> Response:
    detail = {"type": failure.type, "message": failure.message or failure.type}
    wait = {} if failure.retry_after is None else {"retry-after": f"{failure.retry_after:g}"}
    body = {"type": "error", "error": detail, "request_id": "req_emulated"}
    return Response.of_json(body, failure.status, {"request-id": "req_emulated", **wait})


def _event(kind: str, **data: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n".encode()


def _pieces(text: str) -> list[str]:
    """A text in short pieces, as it streams."""
    return [text[start : start + PIECE] for start in range(0, len(text), PIECE)]


def _deltas(block: dict[str, Any]) -> Iterator[dict[str, str]]:
    match block["type"]:
        case "thinking":
            yield {"type": "thinking_delta", "thinking": block["thinking"]}
            yield {"type": "signature_delta", "signature": block["signature"]}
        case "tool_use":
            yield {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        case _:
            yield from ({"type": "text_delta", "text": piece} for piece in _pieces(block["text"]))


def events(message: dict[str, Any], reply: Reply) -> Iterator[bytes]:
    """The events of one answer, from message_start to message_stop or the error."""
    begun = {**message, "content": [], "stop_reason": None, "stop_details": None}
    yield _event("message_start", message={**begun, "usage": {**message["usage"], "output_tokens": 1}})
    yield _event("ping")
    empty: dict[str, dict[str, Any]] = {
        "thinking": {"thinking": "", "signature": ""},
        "tool_use": {"input": {}},
        "text": {"text": ""},
    }
    for index, block in enumerate(reply.content):
        yield _event("content_block_start", index=index, content_block={**block, **empty[block["type"]]})
        for delta in _deltas(block):
            yield _event("content_block_delta", index=index, delta=delta)
        if reply.error and block["type"] == "text":
            yield _event("error", error={"type": reply.error, "message": reply.error})
            return
        yield _event("content_block_stop", index=index)
    ended = {"stop_reason": reply.stop_reason, "stop_sequence": None, "stop_details": reply.stop_details}
    yield _event("message_delta", delta=ended, usage=message["usage"])
    yield _event("message_stop")
