import hashlib
import json
from dataclasses import dataclass, replace
from typing import Any

from localslack.loopback import Response

from tests.emulators.claude.limits import thinks
from tests.emulators.claude.request import CHARACTERS_PER_TOKEN
from tests.emulators.claude.script import (
    Cut,
    Failure,
    Json,
    MidStreamError,
    Refusal,
    Stall,
    Step,
    Text,
    ToolUse,
    ToolUses,
    Truncated,
)
from tests.emulators.claude.thinking import thought_of


@dataclass(frozen=True)
class Reply:
    """One answer before it takes the form of JSON or events.

    In a stream, ``broken_by`` keeps it from its end, ``stall`` holds its text up, and ``pace`` is the seconds
    before each event where the step has its own.
    """

    content: list[dict[str, Any]]
    stop_reason: str
    stop_details: dict[str, Any] | None = None
    broken_by: MidStreamError | Cut | None = None
    stall: Stall | None = None
    pace: float | None = None


def _make_text_content(text: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": text}] if text else []


def _text_reply(text: str, stop_reason: str, body: dict[str, Any]) -> Reply:
    limit = body["max_tokens"] * CHARACTERS_PER_TOKEN
    if len(text) > limit:
        return Reply([{"type": "text", "text": text[:limit]}], "max_tokens")
    return Reply([{"type": "text", "text": text}], stop_reason)


def reply_of(step: Step, body: dict[str, Any], message: str) -> Reply:
    match step:
        case Text(text, stop_reason):
            return replace(_text_reply(text, stop_reason, body), pace=step.pace)
        case Json(value):
            return _text_reply(json.dumps(value), "end_turn", body)
        case Truncated(text):
            return _text_reply(text, "max_tokens", body)
        case Refusal(explanation):
            return Reply([], "refusal", {"type": "refusal", "category": None, "explanation": explanation})
        case ToolUse() | ToolUses():
            content: list[dict[str, Any]] = [] if step.text is None else [{"type": "text", "text": step.text}]
            for place, (name, arguments) in enumerate(step.calls):
                made = hashlib.sha256(f"{message}{place}".encode()).hexdigest()[:24]
                content.append({"type": "tool_use", "id": f"toolu_{made}", "name": name, "input": arguments})
            return Reply(content, "tool_use")
        case _:
            return _make_disturbance(step)


def _make_disturbance(step: Step) -> Reply:
    match step:
        case MidStreamError() | Cut():
            return Reply(_make_text_content(step.text_before), "end_turn", broken_by=step)
        case Stall():
            return Reply(_make_text_content(step.text_before + step.rest), "end_turn", stall=step)
        case _:
            raise AssertionError(f"{step} has no content")


def with_thought(reply: Reply, body: dict[str, Any], message: str) -> Reply:
    if not thinks(body) or not reply.content:
        return reply
    return replace(reply, content=[thought_of(message), *reply.content])


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
