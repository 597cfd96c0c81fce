"""The doctor's check of an OpenAI-compatible server: its list of models, and what it can do with one of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from bot.errors import ModelBusy
from bot.platform.finding import Finding
from bot.platform.models import ModelAccess, failures
from bot.platform.models.openai_compatible import CONTEXT_TOKENS
from bot.platform.models.openai_compatible.client import (
    NO_TOOLS,
    Choice,
    Message,
    ServerClient,
    ServerRefusal,
    WrongService,
)
from bot.platform.models.openai_compatible.connection import build_format, build_tool
from bot.usage import Usage

_NO_LIST = {400, 404, 405, 501}  # these say nothing about the key and the model: a gateway may have no list
_OUTPUT_TOKENS = 300  # a model that reasons needs most of them for that, and may write 20 in a second
_WRITING_FACTOR = 3.0
# with less, the instructions and tools of a question leave no room for what a tool returns
_QUESTION_TOKENS, _ROOMY_TOKENS = 10_000, 32_000
_WINDOW_ADVICE = (
    "Give the server a window of at least 32,000 tokens (vLLM: --max-model-len, llama.cpp: --ctx-size for each "
    "slot), and name it in PRDIGEST_CONTEXT_TOKENS if the server does not."
)
_SCHEMA = {
    "type": "object",
    "properties": {"ready": {"type": "boolean"}},
    "required": ["ready"],
    "additionalProperties": False,
}
_NO_ARGUMENTS = {"type": "object", "properties": {}, "additionalProperties": False}
_TOOL = build_tool({"name": "get_status", "description": "Returns the status.", "input_schema": _NO_ARGUMENTS})
_WORDS = [{"role": "user", "content": "Are you ready? Answer with JSON."}]


def find_models(access: ModelAccess, models: Sequence[str], seconds: float) -> dict[str, bool | None]:
    """Return which models the server lists; None if it has no list."""
    windows = _list_windows(ServerClient(access), seconds)
    return {model: None if windows is None else model in windows for model in models}


def _list_windows(client: ServerClient, seconds: float) -> dict[str, int | None] | None:
    try:
        return client.list_windows(seconds=seconds)
    except ServerRefusal as refusal:
        if refusal.status in _NO_LIST:
            return None
        raise refusal.explain()[0] from refusal
    except WrongService as error:
        raise ModelBusy(failures.WRONG_SERVICE) from error


def try_model(access: ModelAccess, model: str, seconds: float) -> list[Finding]:
    """Try an answer in a schema, and a tool. A call in which the model writes may take three times ``seconds``."""
    client = ServerClient(access)
    structured = _try_structured_outputs(client, model, seconds)
    tools = _try_tools(client, model, seconds)
    return [structured[0], tools, *structured[1:], _describe_window(client, access, model, seconds)]


def _try_structured_outputs(client: ServerClient, model: str, seconds: float) -> list[Finding]:
    name = f"Model {model}, structured outputs"
    answer = _ask(client, model, seconds, response_format=build_format(_SCHEMA))
    if answer is None:
        return [Finding.build_note(name, "not supported: plain JSON is asked for, and checked here")]
    choice, message, usage = answer
    uncounted = Finding.build_note(f"Model {model}, token counts", "not reported: they are estimated")
    counts = [] if usage else [uncounted]
    if choice.finish_reason == "length":
        return [Finding.build_note(name, "not checked: the model only reasoned"), *counts]
    try:
        value = json.loads(message.content or "")
    except (ValueError, RecursionError):
        value = None
    if not (isinstance(value, dict) and isinstance(value.get("ready"), bool)):
        advice = (
            "Summaries may fail or be asked for twice: check the structured outputs of the server, and the parser "
            "for the model's reasoning (vLLM: --reasoning-parser)."
        )
        return [Finding.build_failure(name, "the model's answer was not of the schema", advice), *counts]
    return [Finding.build_note(name, "work"), *counts]


def _try_tools(client: ServerClient, model: str, seconds: float) -> Finding:
    name = f"Model {model}, tools"
    if _ask(client, model, seconds, tools=[_TOOL], tool_choice="auto", max_tokens=1):
        return Finding.build_note(name, "accepted")
    advice = (
        "Without tools there are no answers to questions: start vLLM with --enable-auto-tool-choice and the "
        "--tool-call-parser of the model."
    )
    return Finding.build_failure(name, NO_TOOLS, advice)


def _describe_window(client: ServerClient, access: ModelAccess, model: str, seconds: float) -> Finding:
    name, tokens = f"Model {model}, context window", access.options.get(CONTEXT_TOKENS)
    length = (_list_windows(client, seconds) or {}).get(model) if tokens is None else tokens
    if length is None:
        unknown = "unknown: set PRDIGEST_CONTEXT_TOKENS so that long requests are shortened"
        return Finding.build_note(name, unknown)
    known = f"{length:,} tokens{'' if tokens is None else ', as PRDIGEST_CONTEXT_TOKENS says'}"
    if length < _QUESTION_TOKENS:
        return Finding.build_failure(name, f"{known}: no question can be answered", _WINDOW_ADVICE)
    if length < _ROOMY_TOKENS:
        return Finding.build_note(name, f"{known}: large pull requests are read in part", _WINDOW_ADVICE)
    return Finding.build_note(name, known)


def _ask(
    client: ServerClient, model: str, seconds: float, **fields: Any
) -> tuple[Choice, Message, Usage | None] | None:
    """Return the answer to a few words; None if the server takes no such request."""
    body = {"model": model, "messages": _WORDS, "max_tokens": _OUTPUT_TOKENS, **fields}
    try:
        return client.ask(body, seconds=_WRITING_FACTOR * seconds)
    except ServerRefusal as refusal:
        if refusal.is_bad_request:
            return None
        raise refusal.explain()[0] from refusal
    except WrongService as error:
        raise ModelBusy(failures.WRONG_SERVICE) from error
