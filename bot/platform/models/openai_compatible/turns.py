"""One streamed turn: its text without reasoning, its calls, its usage and its end.

A server with a parser for the model's reasoning keeps it apart. Without one, ``<think>…</think>`` stands before
the text. Some templates put the opening tag into the prompt, so that the text has the closing one alone, and
nothing shows at first that it is reasoning. The text of a model is therefore held back to the end of its turn,
until a whole turn has shown that its reasoning is marked: there is none, or it is beside the text or between tags.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import StringIO
from typing import Any

from bot.errors import ModelBusy, ModelRefusal
from bot.platform.models import ChatEvent, TextDelta, ToolCall, Turn, TurnEnd, TurnUsage, failures
from bot.platform.models.openai_compatible.client import TOO_LARGE, CallPart, Delta, Reply, WrongService
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
_OPEN_TAG, _CLOSE_TAG = "<think>", "</think>"
# one that a model writes about, in code or in quotes, ends nothing
_UNQUOTED_CLOSE = re.compile(r"(?<![`'\"])</think>(?![`'\"])")
_FENCE = "```"


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
        self._filter = ThinkingFilter(is_marked=model in marked)
        self._calls = _CallAssembler()
        self._parts: list[str] = []
        self._length = 0
        self._finish_reason: str | None = None
        self._refusal: str | None = None
        self.is_estimated = True

    def read_events(self, replies: Iterator[Reply]) -> Iterator[ChatEvent]:
        """Yield the events of the turn. Raises WrongService, ServerRefusal, ModelRefusal and ModelBusy."""
        usage: Usage | None = None
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
        yield from self._finish(is_cut=check_end(self._finish_reason, self._refusal, usage))

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


class ThinkingFilter:
    """Filter of the text of one turn, which comes in pieces that are cut anywhere.

    ``is_marked`` is what the turn has shown so far, or what was known before.
    """

    def __init__(self, *, is_marked: bool) -> None:
        self.is_marked = is_marked
        self._has_begun = self._is_thinking = False
        self._undecided = ""  # what may be a part of a tag
        self._held: list[str] = []  # pieces, because a text may have very many

    def feed(self, text: str) -> str:
        """Add text and return what may be passed on now."""
        if not self._has_begun:
            text, self._undecided = self._undecided + text, ""
            start = text.lstrip()
            if start.startswith(_OPEN_TAG):
                text, self._is_thinking = start.removeprefix(_OPEN_TAG), True
            elif _OPEN_TAG.startswith(start):
                self._undecided = text
                return ""
            self._has_begun = True
        if self._is_thinking:
            before, tag, text = (self._undecided + text).partition(_CLOSE_TAG)
            if not tag:
                self._undecided = before[-len(_CLOSE_TAG) :]
                return ""
            self._is_thinking, self._undecided, self.is_marked = False, "", True
            text = text.lstrip()
        self._held.append(text)
        return self._release() if self.is_marked else ""

    def end(self, *, is_whole: bool) -> str:
        """Return the rest of the text. A turn that was cut may hold nothing but reasoning."""
        if self._is_thinking:
            return ""
        rest = self._release() + self._undecided
        if self.is_marked:
            return rest
        for match in _UNQUOTED_CLOSE.finditer(rest):
            if rest.count(_FENCE, 0, match.start()) % 2 == 0:
                return rest[match.end() :].lstrip()
        self.is_marked = is_whole and bool(rest.strip())
        return rest if is_whole else ""

    def _release(self) -> str:
        text = "".join(self._held)
        self._held.clear()
        return text


def extract_json(text: str) -> str:
    """Return the JSON object in an answer, without reasoning and words around it; without one, the whole text."""
    start = text.lstrip()
    if not start.startswith("{") and _CLOSE_TAG in start:
        start = start.partition(_CLOSE_TAG)[2]
    begin, end = start.find("{"), start.rfind("}")
    return start[begin : end + 1] if 0 <= begin < end else start
