"""Check of an OpenAI-compatible server for the doctor: its list of models, and what it can do with one of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from bot.adapters.models.openai_compatible import CONTEXT_TOKENS, sentences
from bot.adapters.models.openai_compatible.client import ServerClient
from bot.adapters.models.openai_compatible.connection import CHAT_PATH
from bot.adapters.models.openai_compatible.errors import OperatorAdvice, ServerRefusal, WrongService
from bot.adapters.models.openai_compatible.messages import build_format, build_tool
from bot.adapters.models.openai_compatible.replies import Answer, parse_answer, parse_models
from bot.domain.errors import ModelBusy
from bot.platform.http import model_sentences
from bot.ports import ModelAccess
from bot.ports.probes import Capability

# these say nothing about the key and the model: a gateway may have no list
_NO_LIST = {400, 404, 405, 501}
# tokens; a model that reasons needs most of them for that, and may write 20 in a second
_OUTPUT_TOKENS = 300
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
_PLAIN_JSON = "not supported: plain JSON is asked for, and checked here"
_NOT_JSON = "the model's answer was not of the schema"
_STRUCTURED, _TOOLS, _WINDOW, _USAGE = "structured outputs", "tools", "context window", "token counts"


class OpenAIProbe:
    """``ModelProbe`` and ``CapabilityProbe``.

    ``timeout`` is the seconds that one call may take; one for which the model writes may take three times as many.
    """

    def __init__(self, access: ModelAccess, timeout: float) -> None:
        self._client = ServerClient(access)
        self._timeout = timeout
        self._tokens = access.get_number(CONTEXT_TOKENS)
        self._lengths: dict[str, int | None] | None = None

    def has_model(self, model: str) -> bool | None:
        """Return whether the server lists a model, None if it has no list."""
        if self._lengths is None:
            try:
                with _translate_errors():
                    lengths = self._list_models()
            except ServerRefusal as refusal:
                if refusal.status in _NO_LIST:
                    return None
                raise OperatorAdvice().translate_refusal(refusal) from refusal
            self._lengths = lengths
        return model in self._lengths

    def check_capabilities(self, model: str) -> Sequence[Capability]:
        """Try an answer in a schema, and a tool. See :class:`bot.ports.probes.CapabilityProbe`."""
        structured, counts = self._check_structured_outputs(model)
        return [structured, self._check_tools(model), *counts, self._describe_window(model)]

    def _list_models(self) -> dict[str, int | None]:
        """Return the models with the lengths of their context windows."""
        body = self._client.fetch_json("/models", seconds=self._timeout)
        return {each.id: each.max_model_len for each in parse_models(body).data}

    def _check_structured_outputs(self, model: str) -> tuple[Capability, list[Capability]]:
        """Return whether answers in a schema work, and whether their tokens are counted."""
        try:
            answer = self._ask(model, response_format=build_format(_SCHEMA))
        except ServerRefusal as refusal:
            if refusal.is_bad_request:
                return Capability(_STRUCTURED, _PLAIN_JSON), []
            raise OperatorAdvice().translate_refusal(refusal) from refusal
        counts = [] if answer.usage else [Capability(_USAGE, "not reported: they are estimated")]
        choice = answer.choices[0]
        if choice.finish_reason == "length":
            return Capability(_STRUCTURED, "not checked: the model only reasoned"), counts
        if not _is_ready(choice.message.content):
            return Capability(_STRUCTURED, "", _NOT_JSON, _STRUCTURED_ADVICE), counts
        return Capability(_STRUCTURED, "work"), counts

    def _check_tools(self, model: str) -> Capability:
        """Return whether tools are taken."""
        try:
            self._ask(model, tools=[_TOOL], tool_choice="auto", max_tokens=1)
        except ServerRefusal as refusal:
            if refusal.is_bad_request:
                return Capability(_TOOLS, "", sentences.NO_TOOLS, _TOOLS_ADVICE)
            raise OperatorAdvice().translate_refusal(refusal) from refusal
        return Capability(_TOOLS, "accepted")

    def _describe_window(self, model: str) -> Capability:
        """Return the length of the model's context window, and who says it."""
        if self._tokens is not None:
            return Capability(_WINDOW, f"{self._tokens:,} tokens, as PRDIGEST_CONTEXT_TOKENS says")
        length = (self._lengths or {}).get(model)
        if length is None:
            return Capability(_WINDOW, "unknown: set PRDIGEST_CONTEXT_TOKENS so that long requests are shortened")
        return Capability(_WINDOW, f"{length:,} tokens")

    def _ask(self, model: str, **fields: Any) -> Answer:
        """Return the answer to a few words."""
        body = {"model": model, "messages": _WORDS, "max_tokens": _OUTPUT_TOKENS, **fields}
        with _translate_errors():
            return parse_answer(self._client.fetch_json(CHAT_PATH, body, seconds=_WRITING_FACTOR * self._timeout))


_STRUCTURED_ADVICE = (
    "Summaries may fail or be asked for twice: check the structured outputs of the server, and the parser for the "
    "model's reasoning (vLLM: --reasoning-parser)."
)
_TOOLS_ADVICE = (
    "Without tools there are no answers to questions: start vLLM with --enable-auto-tool-choice and the "
    "--tool-call-parser of the model."
)


@contextmanager
def _translate_errors() -> Iterator[None]:
    """Raise ModelBusy for an answer that is not one of the protocol."""
    try:
        yield
    except WrongService as error:
        raise ModelBusy(model_sentences.WRONG_SERVICE) from error


def _is_ready(content: str | None) -> bool:
    """Return whether a text is JSON of the schema."""
    try:
        value = json.loads(content or "")
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and isinstance(value.get("ready"), bool)
