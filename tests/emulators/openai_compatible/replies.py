"""The answers of an OpenAI-compatible server, step by step, as JSON and as events, in the forms of vLLM."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from localslack.loopback import HangUp

from tests.emulators.claude.script import (
    Cut,
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
from tests.emulators.claude.stream import PIECE, Pause
from tests.emulators.openai_compatible.rules import CHARACTERS_PER_TOKEN, count_prompt
from tests.emulators.openai_compatible.view import size_of

# where the server leaves a model's reasoning: nowhere, in one of two fields, or in the text, with or without the
# opening tag
Reasoning = Literal["", "reasoning", "reasoning_content", "marked", "unmarked"]
THOUGHT = 'They ask about counting. <answer>SECRET THOUGHT</answer> {"not": "this"}'
_FINISH = {"end_turn": "stop", "refusal": "content_filter"}
_CODES = {
    "overloaded_error": 503,
    "rate_limit_error": 429,
    "timeout_error": 408,
    "invalid_request_error": 400,
    "authentication_error": 401,
}


@dataclass(frozen=True)
class Reply:
    """An answer before it takes a form. ``step`` says what becomes of it on the way."""

    text: str | None
    finish_reason: str
    step: Step
    calls: tuple[dict[str, Any], ...] = ()
    thought: str = ""
    fields: dict[str, str] = field(default_factory=dict)

    @property
    def output_tokens(self) -> int:
        written = [self.text or "", self.thought, *(call["function"]["arguments"] for call in self.calls)]
        return max(1, sum(map(len, written)) // CHARACTERS_PER_TOKEN)


def reply_of(step: Step, body: dict[str, Any], name: str, reasoning: Reasoning) -> Reply:
    match step:
        case ToolUse() | ToolUses():
            reply = Reply(step.text, "tool_calls", step, _calls_of(step, name))
        case Refusal():
            reply = Reply(None, "content_filter", step)
        case Json(value):
            reply = _text_of(json.dumps(value), "stop", step, body)
        case Text(text, stop_reason):
            reply = _text_of(text, _FINISH.get(stop_reason, "length"), step, body)
        case Truncated(text):
            reply = Reply(text, "length", step)
        case MidStreamError() | Cut():
            reply = Reply(step.text_before, "stop", step)
        case Stall():
            reply = Reply(step.text_before + step.rest, "stop", step)
        case _:
            raise AssertionError(f"{step} has no content")
    return _add_thought(reply, reasoning)


def _text_of(text: str, finish_reason: str, step: Step, body: dict[str, Any]) -> Reply:
    limit = size_of(body) * CHARACTERS_PER_TOKEN
    return Reply(text[:limit], "length" if len(text) > limit else finish_reason, step)


def _calls_of(step: ToolUse | ToolUses, name: str) -> tuple[dict[str, Any], ...]:
    return tuple(
        {
            "id": f"chatcmpl-tool-{name}-{place}",
            "type": "function",
            "function": {"name": tool, "arguments": json.dumps(arguments, ensure_ascii=False)},
        }
        for place, (tool, arguments) in enumerate(step.calls)
    )


def _add_thought(reply: Reply, reasoning: Reasoning) -> Reply:
    if not reasoning or isinstance(reply.step, Refusal):
        return reply
    text = reply.text
    if reasoning == "marked":
        text = f"<think>\n{THOUGHT}\n</think>\n\n{text or ''}"
    elif reasoning == "unmarked":
        text = f"{THOUGHT}\n</think>\n\n{text or ''}"
    fields: dict[str, str] = {reasoning: THOUGHT} if reasoning.startswith("reasoning") else {}
    return Reply(text, reply.finish_reason, reply.step, reply.calls, THOUGHT, fields)


def usage_of(reply: Reply, body: dict[str, Any]) -> dict[str, Any]:
    prompt, output = count_prompt(body), reply.output_tokens
    counts = {"prompt_tokens": prompt, "completion_tokens": output, "total_tokens": prompt + output}
    return {**counts, "prompt_tokens_details": None}


def completion_of(reply: Reply, name: str, model: str, usage: dict[str, Any] | None) -> dict[str, Any]:
    """An answer in one piece."""
    message: dict[str, Any] = {"role": "assistant", "content": reply.text, "refusal": None, "audio": None}
    message |= {"annotations": None}
    message |= {"function_call": None, "tool_calls": list(reply.calls), **reply.fields}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": reply.finish_reason}
    answer = {"id": name, "object": "chat.completion", "created": 1_790_000_000, "model": model}
    choices = [{**choice, "stop_reason": None, "token_ids": None}]
    return {**answer, "choices": choices, "usage": usage, "prompt_logprobs": None, "kv_transfer_params": None}


def events_of(reply: Reply, name: str, model: str, usage: dict[str, Any] | None) -> Iterator[bytes | Pause]:
    """The events of a stream, to its end mark or to where it breaks."""

    def event(delta: dict[str, Any], finish_reason: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        return _line(_chunk(name, model, [choice]))

    yield event({"role": "assistant", "content": ""})
    for key, text in reply.fields.items():
        yield from (event({key: piece}) for piece in _pieces(text))
    yield from _text_events(reply, event)
    yield from _call_events(reply, event)
    match reply.step:
        case MidStreamError(_, kind):
            detail = {"message": kind, "type": kind, "param": None, "code": _CODES.get(kind, 500)}
            yield _line({"error": detail})
            yield b"data: [DONE]\n\n"
            return
        case Cut(clean=False):
            raise HangUp
        case Cut():
            return
    yield event({"content": ""} if not reply.calls else {}, reply.finish_reason)
    if usage is not None:
        yield _line({**_chunk(name, model, []), "usage": usage})
    yield b"data: [DONE]\n\n"


def _text_events(reply: Reply, event: Any) -> Iterator[bytes | Pause]:
    if not isinstance(reply.step, Stall):
        yield from (event({"content": piece}) for piece in _pieces(reply.text or ""))
        return
    yield from (event({"content": piece}) for piece in _pieces(reply.step.text_before))
    part = Pause(reply.step.seconds / (reply.step.pings + 1))
    for _ in range(reply.step.pings):
        yield part
        yield b": ping\n\n"
    yield part
    yield from (event({"content": piece}) for piece in _pieces(reply.step.rest))


def _call_events(reply: Reply, event: Any) -> Iterator[bytes]:
    for index, call in enumerate(reply.calls):
        head = {"name": call["function"]["name"], "arguments": ""}
        yield event({"tool_calls": [{"index": index, "id": call["id"], "type": "function", "function": head}]})
        for piece in _pieces(call["function"]["arguments"]):
            yield event({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})


def _chunk(name: str, model: str, choices: list[dict[str, Any]]) -> dict[str, Any]:
    made = {"id": name, "object": "chat.completion.chunk", "created": 1_790_000_000, "model": model}
    return {**made, "choices": choices}


def _line(value: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(value)}\n\n".encode()


def _pieces(text: str) -> list[str]:
    return [text[start : start + PIECE] for start in range(0, len(text), PIECE)]
