"""Check of an OpenAI-compatible server for the doctor: its list of models, and what it can do with one of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from bot.domain.errors import ModelBusy
from bot.domain.operations.usage import Usage
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
from bot.ports.probes import Capability

_NO_LIST = {400, 404, 405, 501}  # these say nothing about the key and the model: a gateway may have no list
_OUTPUT_TOKENS = 300  # a model that reasons needs most of them for that, and may write 20 in a second
_WRITING_FACTOR = 3.0
_SCHEMA = {
    "type": "object",
    "properties": {"ready": {"type": "boolean"}},
    "required": ["ready"],
    "additionalProperties": False,
}
_NO_ARGUMENTS = {"type": "object", "properties": {}, "additionalProperties": False}
_TOOL = build_tool({"name": "get_status", "description": "Returns the status.", "input_schema": _NO_ARGUMENTS})
_WORDS = [{"role": "user", "content": "Are you ready? Answer with JSON."}]
_STRUCTURED, _TOOLS, _WINDOW = "structured outputs", "tools", "context window"


class OpenAIProbe:
    """``ModelProbe`` and ``CapabilityProbe``.

    ``timeout`` is the seconds that one call may take; one for which the model writes may take three times as many.
    """

    def __init__(self, access: ModelAccess, timeout: float) -> None:
        self._client = ServerClient(access)
        self._timeout = timeout
        self._tokens = access.get_number(CONTEXT_TOKENS)
        self._windows: dict[str, int | None] | None = None

    def has_model(self, model: str) -> bool | None:
        """Return whether the server lists a model, None if it has no list."""
        if self._windows is None:
            try:
                with _translate_errors():
                    self._windows = self._client.list_windows(seconds=self._timeout)
            except ServerRefusal as refusal:
                if refusal.status in _NO_LIST:
                    return None
                raise refusal.explain()[0] from refusal
        return model in self._windows

    def check_capabilities(self, model: str) -> Sequence[Capability]:
        """Try an answer in a schema, and a tool. See :class:`bot.ports.probes.CapabilityProbe`."""
        structured = self._check_structured_outputs(model)
        return [*structured[:1], self._check_tools(model), *structured[1:], self._describe_window(model)]

    def _check_structured_outputs(self, model: str) -> list[Capability]:
        """Return whether answers in a schema work, and whether their tokens are counted."""
        try:
            choice, message, usage = self._ask(model, response_format=build_format(_SCHEMA))
        except ServerRefusal as refusal:
            if refusal.is_bad_request:
                return [Capability(_STRUCTURED, "not supported: plain JSON is asked for, and checked here")]
            raise refusal.explain()[0] from refusal
        counts = [] if usage else [Capability("token counts", "not reported: they are estimated")]
        if choice.finish_reason == "length":
            return [Capability(_STRUCTURED, "not checked: the model only reasoned"), *counts]
        if not _is_ready(message.content):
            advice = (
                "Summaries may fail or be asked for twice: check the structured outputs of the server, and the "
                "parser for the model's reasoning (vLLM: --reasoning-parser)."
            )
            return [Capability(_STRUCTURED, "", "the model's answer was not of the schema", advice), *counts]
        return [Capability(_STRUCTURED, "work"), *counts]

    def _check_tools(self, model: str) -> Capability:
        try:
            self._ask(model, tools=[_TOOL], tool_choice="auto", max_tokens=1)
        except ServerRefusal as refusal:
            if not refusal.is_bad_request:
                raise refusal.explain()[0] from refusal
            advice = (
                "Without tools there are no answers to questions: start vLLM with --enable-auto-tool-choice and "
                "the --tool-call-parser of the model."
            )
            return Capability(_TOOLS, "", NO_TOOLS, advice)
        return Capability(_TOOLS, "accepted")

    def _describe_window(self, model: str) -> Capability:
        """Return the length of the model's context window, and who says it."""
        if self._tokens is not None:
            return Capability(_WINDOW, f"{self._tokens:,} tokens, as PRDIGEST_CONTEXT_TOKENS says")
        length = (self._windows or {}).get(model)
        if length is None:
            return Capability(_WINDOW, "unknown: set PRDIGEST_CONTEXT_TOKENS so that long requests are shortened")
        return Capability(_WINDOW, f"{length:,} tokens")

    def _ask(self, model: str, **fields: Any) -> tuple[Choice, Message, Usage | None]:
        body = {"model": model, "messages": _WORDS, "max_tokens": _OUTPUT_TOKENS, **fields}
        with _translate_errors():
            return self._client.ask(body, seconds=_WRITING_FACTOR * self._timeout)


@contextmanager
def _translate_errors() -> Iterator[None]:
    """Raise ModelBusy for an answer that is not one of the protocol."""
    try:
        yield
    except WrongService as error:
        raise ModelBusy(failures.WRONG_SERVICE) from error


def _is_ready(content: str | None) -> bool:
    """Return whether a text is JSON of the schema."""
    try:
        value = json.loads(content or "")
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and isinstance(value.get("ready"), bool)
