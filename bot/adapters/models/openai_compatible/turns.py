"""One streamed turn: its text without reasoning, its calls, its usage and its end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bot.adapters.models.openai_compatible import sentences
from bot.adapters.models.openai_compatible.calls import CallAssembler
from bot.adapters.models.openai_compatible.replies import Chunk, Delta, check_end, parse_chunk
from bot.adapters.models.openai_compatible.thinking import ThinkingFilter, ThinkingHabits, extract_json
from bot.adapters.models.openai_compatible.window import estimate_usage
from bot.domain.errors import ModelBusy
from bot.domain.operations.usage import Usage
from bot.ports import ChatEvent, TextDelta, Turn, TurnEnd, TurnUsage

# characters of text and reasoning; a turn may have 8,000 tokens, with some characters in each
_MAX_TEXT_LENGTH = 1_000_000


class TurnReader:
    """Reader of the events of one turn.

    ``is_json`` is for text that has to be JSON, which is passed on as a whole. ``is_estimated`` is true if the
    server did not report the usage.
    """

    def __init__(self, body: dict[str, Any], habits: ThinkingHabits, *, is_json: bool) -> None:
        self._body = body
        self._habits = habits
        self._is_json = is_json
        self._filter = ThinkingFilter(habits.get_habit(body["model"]))
        self._calls = CallAssembler()
        self._parts: list[str] = []
        self._length = 0
        self._usage: Usage | None = None
        self._finish_reason: str | None = None
        self._refusal: str | None = None

    @property
    def is_estimated(self) -> bool:
        """Whether the usage is an estimate."""
        return self._usage is None

    def read_events(self, events: Iterator[dict[str, Any]]) -> Iterator[ChatEvent]:
        """Yield the events of the turn. Raises WrongService, ServerRefusal, ModelRefusal and ModelBusy."""
        for number, event in enumerate(events):
            chunk = parse_chunk(event)
            if number == 0:
                # the server has read the prompt, however the turn ends
                yield TurnUsage(estimate_usage(self._body, 0))
            yield from self._read_chunk(chunk)
        usage = self._usage or estimate_usage(self._body, self._length)
        if self.is_estimated:
            yield TurnUsage(usage)
        yield from self._finish_turn(usage)

    def _read_chunk(self, chunk: Chunk) -> Iterator[ChatEvent]:
        """Yield what a part of the turn has for the reader."""
        if chunk.usage:
            self._usage = chunk.usage.convert_usage()
            yield TurnUsage(self._usage)
        if chunk.choice is None:
            return
        self._finish_reason = chunk.choice.finish_reason or self._finish_reason
        if chunk.choice.delta:
            yield from self._read_delta(chunk.choice.delta)

    def _read_delta(self, delta: Delta) -> Iterator[ChatEvent]:
        self._length += delta.length
        if self._length > _MAX_TEXT_LENGTH:
            raise ModelBusy(sentences.TOO_LARGE)
        self._refusal = delta.refusal or self._refusal
        for part in delta.tool_calls or ():
            self._calls.add_delta(part)
        if delta.has_reasoning:
            self._filter.note_reasoning()
        if delta.content:
            yield from self._pass_on(self._filter.feed(delta.content))

    def _pass_on(self, text: str) -> Iterator[ChatEvent]:
        """Keep text, and yield it unless it is needed as a whole."""
        self._parts.append(text)
        if text and not self._is_json:
            yield TextDelta(text)

    def _finish_turn(self, usage: Usage) -> Iterator[ChatEvent]:
        """Yield the rest of the text, the calls, and the end of the turn."""
        is_cut = check_end(self._finish_reason, self._refusal, usage)
        yield from self._pass_on(self._filter.end(is_whole=not is_cut))
        self._habits.note_habit(self._body["model"], self._filter.habit)
        # the last call of a turn that was cut may be incomplete
        calls = [] if is_cut else self._calls.list_calls()
        text = "".join(self._parts)
        if self._is_json and text and not calls:
            yield TextDelta(extract_json(text))
        yield from calls
        yield TurnEnd(self._build_turn(text, with_calls=bool(calls)), is_cut)

    def _build_turn(self, text: str, *, with_calls: bool) -> Turn:
        """Return the turn as it goes back to the server; one that says nothing has no message."""
        message: dict[str, Any] = {"role": "assistant", "content": text if text.strip() else None}
        if with_calls:
            message["tool_calls"] = self._calls.dump_calls()
        return Turn("model", model_blocks=(message,) if with_calls or text.strip() else ())
