"""One streamed turn: its text without reasoning, its calls, its usage and its end."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import StringIO
from typing import Any

from bot.errors import ModelBusy, ModelRefusal
from bot.platform.models import ChatEvent, TextDelta, ToolCall, Turn, TurnEnd, TurnUsage, failures
from bot.platform.models.openai_compatible.client import (
    TOO_LARGE,
    CallPart,
    Delta,
    Reply,
    ServerRefusal,
    WrongService,
)
from bot.platform.models.openai_compatible.markup import MarkupFilter, extract_json
from bot.usage import Usage

# the least number of bytes of UTF-8 in a token: 3 or 4 letters of English and code, one sign of other scripts
BYTES_PER_TOKEN = 3
# characters of text and reasoning; a turn may have 8,000 tokens, with some characters in each
_MAX_TEXT_LENGTH = 1_000_000
_MAX_CALLS = 64  # a model is allowed some calls in a turn; the others get an error as their result
_MAX_ARGUMENTS_LENGTH = 200_000
_MAX_NAME_LENGTH = 200
# no tool has such an argument: the model reads as the error of its call what was wrong with it
MALFORMED = "these arguments, which are no JSON object"


class TurnReader:
    """Reader of the events of one turn. ``prompt_tokens`` is an estimate.

    ``marked`` are the models whose reasoning is marked, to which the turn adds. With ``is_json`` the text is
    passed on as a whole. ``is_estimated`` is true if the server does not report the usage.
    """

    def __init__(self, model: str, prompt_tokens: int, marked: set[str], *, is_json: bool) -> None:
        self._model = model
        self._prompt_tokens = prompt_tokens
        self._marked = marked
        self._is_json = is_json
        self._filter = MarkupFilter(is_marked=model in marked, is_json=is_json)
        self._calls = _CallAssembler()
        self._parts: list[str] = []
        self._length = 0
        self._finish_reason: str | None = None
        self._refusal: str | None = None
        self.is_estimated = True

    def read_events(self, replies: Iterator[Reply]) -> Iterator[ChatEvent]:
        """Yield the events. Raises WrongService, ServerRefusal, UnparsedCall, ModelRefusal and ModelBusy."""
        usage: Usage | None = None
        try:
            for number, reply in enumerate(replies):
                if number == 0:
                    # the server has read the prompt, however the turn ends
                    yield TurnUsage(estimate_usage(self._prompt_tokens, 0))
                if reply.usage:
                    usage, self.is_estimated = reply.usage.convert_usage(), False
                    yield TurnUsage(usage)
                choice = next((each for each in reply.choices if each.index == 0), None)
                if choice:
                    self._finish_reason = choice.finish_reason or self._finish_reason
                    yield from self._read_delta(choice.delta or Delta())
            if usage is None:
                usage = estimate_usage(self._prompt_tokens, self._length)
                yield TurnUsage(usage)
            is_cut = check_end(self._finish_reason, self._refusal, usage)
        except (ModelBusy, WrongService, ServerRefusal):
            if usage is None and self._length:
                yield TurnUsage(estimate_usage(self._prompt_tokens, self._length))
            # what is known to be no reasoning stays, although the turn has no end
            yield from self._pass_on(self._filter.end(is_whole=False))
            raise
        yield from self._finish(is_cut=is_cut)

    def _read_delta(self, delta: Delta) -> Iterator[ChatEvent]:
        self._length += delta.length
        if self._length > _MAX_TEXT_LENGTH:
            raise ModelBusy(TOO_LARGE)
        self._refusal = delta.refusal or self._refusal
        for part in delta.tool_calls or ():
            self._calls.add_part(part)
        if delta.has_reasoning:
            self._filter.is_marked = True
        if delta.content:
            yield from self._pass_on(self._filter.feed(delta.content))

    def _pass_on(self, text: str) -> Iterator[ChatEvent]:
        self._parts.append(text)
        if text and not self._is_json:
            yield TextDelta(text)

    def _finish(self, *, is_cut: bool) -> Iterator[ChatEvent]:
        yield from self._pass_on(self._filter.end(is_whole=not is_cut))
        (self._marked.add if self._filter.is_marked else self._marked.discard)(self._model)
        # the last call of a turn that was cut may be incomplete
        calls = (
            [] if is_cut else [ToolCall(call.id, call.name, call.parse_arguments()) for call in self._calls.calls]
        )
        text = "".join(self._parts)
        if self._is_json and text and not calls:
            yield TextDelta(extract_json(text))
        yield from calls
        # the turn as it goes back to the server; one that says nothing has no message
        message: dict[str, Any] = {"role": "assistant", "content": text if text.strip() else None}
        if calls:
            message["tool_calls"] = self._calls.dump_calls()
        yield TurnEnd(Turn("model", model_blocks=(message,) if calls or text.strip() else ()), is_cut)


def estimate_usage(prompt_tokens: int, characters: int) -> Usage:
    """Return the usage of a call that the server does not report, rather too high than too low."""
    return Usage(input=prompt_tokens, output=-(-characters // BYTES_PER_TOKEN))


def check_end(finish_reason: str | None, refusal: str | None, usage: Usage) -> bool:
    """Return whether an answer was cut at its length limit. Raises ModelRefusal, and ModelBusy for another end."""
    if refusal or finish_reason == "content_filter":
        raise ModelRefusal(failures.MODEL_DECLINED, usage)
    if finish_reason not in ("stop", "tool_calls", "length"):
        error = ModelBusy(failures.MODEL_STOPPED)
        error.usage = usage
        raise error
    return finish_reason == "length"


@dataclass
class _OpenCall:
    id: str
    name: str
    arguments: StringIO = field(default_factory=StringIO)

    def parse_arguments(self) -> dict[str, Any]:
        """Return the arguments as the model wrote them; no text means none."""
        try:
            value = json.loads(self.arguments.getvalue() or "{}", parse_constant=_refuse_constant)
        except (ValueError, RecursionError):
            value = None
        return value if isinstance(value, dict) else {MALFORMED: True}


def _refuse_constant(name: str) -> None:
    """NaN and the like are not JSON."""
    raise ValueError(name)


class _CallAssembler:
    """The calls of one turn, put together from their parts. Raises WrongService for parts that make no call."""

    def __init__(self) -> None:
        self.calls: list[_OpenCall] = []
        self._by_index: dict[int, _OpenCall] = {}

    def add_part(self, part: CallPart) -> None:
        """Add a part of a call, the first with its name. On some servers only ids tell calls apart."""
        name = (part.function.name if part.function else None) or ""
        call = self._by_index.get(part.index)
        if call is None or (name and part.id and part.id != call.id):
            call = self._open_call(part, name)
        elif name and name != call.name:
            raise WrongService
        call.arguments.write((part.function.arguments if part.function else None) or "")
        if call.arguments.tell() > _MAX_ARGUMENTS_LENGTH:
            raise WrongService

    def _open_call(self, part: CallPart, name: str) -> _OpenCall:
        number = len(self.calls)
        is_in_order = part.index in self._by_index or part.index == len(self._by_index)
        if not is_in_order or not 0 < len(name) <= _MAX_NAME_LENGTH or number >= _MAX_CALLS:
            raise WrongService
        is_usable = (
            part.id and len(part.id) <= _MAX_NAME_LENGTH and part.id not in {call.id for call in self.calls}
        )
        call = _OpenCall(str(part.id) if is_usable else f"call_{number}", name)
        self.calls.append(call)
        self._by_index[part.index] = call
        return call

    def dump_calls(self) -> list[dict[str, Any]]:
        """Return the calls for the server, without malformed arguments: templates can't parse them."""
        return [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}
            for call in self.calls
            for arguments in ["{}" if MALFORMED in call.parse_arguments() else call.arguments.getvalue() or "{}"]
        ]
