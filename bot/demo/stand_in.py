"""Stands in for a model that answers questions: a ``ChatModel`` that goes by rules.

It talks as a model does, with the same tools, and says only what they found: what it can't tell, it says so.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.demo.rules.answer_text import render_answer
from bot.demo.rules.back_references import find_numbers
from bot.demo.rules.findings import parse_pull_requests, split_lines
from bot.demo.rules.question_intent import ParsedQuestion, parse_question
from bot.demo.rules.tool_choice import ToolUse, plan_first_calls, plan_next_calls
from bot.ports import Chat, ChatEvent, TextDelta, TextPart, ToolCall, ToolResult, Turn, TurnEnd

# seconds: a reader shall see that something is looked up, and that words come one after the other
_THINKING_SECONDS = 0.5
_MAX_SPEAKING_SECONDS = 2.0
_MAX_PAUSE = 0.12
_PIECE_PATTERN = re.compile(r"(?:\s*\S+){1,3}\s*")
# bot/services/questions/initial_context.py says it
_TODAY_PATTERN = re.compile(r"Today is [A-Za-z]+ ((?a:\d{4}-\d\d-\d\d)) ")
_QUESTION_START = '<question id="'


class RuleChatModel:
    """``ChatModel`` by rules. ``sleep`` takes seconds. May be shared by threads."""

    def __init__(self, sleep: Callable[[float], None]) -> None:
        self._sleep = sleep

    def stream_turn(self, chat: Chat) -> Generator[ChatEvent, None, None]:
        """Begin with tools, then give the answer. See :class:`bot.ports.ChatModel`."""
        talk = _Conversation.from_turns(chat.turns)
        wanted = _choose_calls(talk) if chat.may_use_tools else ()
        self._sleep(_THINKING_SECONDS)
        if wanted:
            calls = tuple(
                ToolCall(f"call_{len(talk.tool_uses) + n}", name, arguments)
                for n, (name, arguments) in enumerate(wanted)
            )
            yield from calls
            yield TurnEnd(Turn("model", model_blocks=tuple(map(_build_call_block, calls))))
            return
        text = f"<answer>{render_answer(talk.question, talk.record, talk.tool_uses)}</answer>"
        yield from self._stream_words(text)
        yield TurnEnd(Turn("model", (TextPart(text),)))

    def _stream_words(self, text: str) -> Iterator[TextDelta]:
        """A few words at a time."""
        pieces = _PIECE_PATTERN.findall(text)
        pause = min(_MAX_PAUSE, _MAX_SPEAKING_SECONDS / len(pieces))
        for piece in pieces:
            yield TextDelta(piece)
            self._sleep(pause)


def _choose_calls(talk: _Conversation) -> Sequence[tuple[str, Mapping[str, Any]]]:
    if talk.rounds == 0:
        return plan_first_calls(talk.question)
    return plan_next_calls(talk.question, talk.record, talk.tool_uses) if talk.rounds == 1 else ()


def _build_call_block(call: ToolCall) -> Mapping[str, Any]:
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": dict(call.arguments)}


@dataclass(frozen=True, slots=True)
class _Conversation:
    """A talk so far: what is asked, the record that it began with, and the tools that were used since."""

    question: ParsedQuestion
    record: str
    tool_uses: tuple[ToolUse, ...]
    rounds: int

    @classmethod
    def from_turns(cls, turns: Sequence[Turn]) -> _Conversation:
        begins = max(place for place, turn in enumerate(turns) if turn.by == "person" and not _list_results(turn))
        before, since = turns[: begins + 1], turns[begins + 1 :]
        record = "".join(part.text for part in before[0].parts if isinstance(part, TextPart) and part.stable)
        said = [text for turn in before if turn.by == "model" for text in _iterate_texts(turn)]
        wanted = parse_question(
            list(_extract_questions(before)), said, _extract_subject(record), _extract_today(before)
        )
        return cls(wanted, record, tuple(_extract_tool_uses(since)), sum(map(bool, map(_list_results, since))))


def _list_results(turn: Turn) -> tuple[ToolResult, ...]:
    return tuple(part for part in turn.parts if isinstance(part, ToolResult))


def _iterate_texts(turn: Turn) -> Iterator[str]:
    return (part.text for part in turn.parts if isinstance(part, TextPart))


def _extract_questions(turns: Sequence[Turn]) -> Iterator[str]:
    """What was asked, oldest first. The marks around a question carry a digest of it: no question has others."""
    for text in (text for turn in turns if turn.by == "person" for text in _iterate_texts(turn)):
        if text.startswith(_QUESTION_START):
            yield text.partition("\n")[2].rpartition("\n")[0]


def _extract_today(turns: Sequence[Turn]) -> dt.date | None:
    """What day it is for the reader, which stands behind the question."""
    said = (found for text in _iterate_texts(turns[-1]) if (found := _TODAY_PATTERN.match(text)))
    return next((dt.date.fromisoformat(found[1]) for found in said), None)


def _extract_subject(record: str) -> tuple[int, ...]:
    """The pull requests of a thread about single ones: its record begins with them, not with the days."""
    first = next(iter(split_lines(record)), "")
    return tuple(parse_pull_requests(record)) if find_numbers(first.partition(" ")[0]) else ()


def _extract_tool_uses(turns: Sequence[Turn]) -> Iterator[ToolUse]:
    calls = {block["id"]: block for turn in turns for block in turn.model_blocks}
    for result in (result for turn in turns for result in _list_results(turn)):
        call = calls[result.call]
        yield ToolUse(call["name"], call["input"], result.text, result.is_error)
