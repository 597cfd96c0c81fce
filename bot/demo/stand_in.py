"""Stands in for a model that answers questions: a ``ChatModel`` that goes by rules.

It talks as a model does, with the same tools, and says only what they found: what it can't tell, it says so.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.demo.rules.asked import Asked, asked
from bot.demo.rules.earlier import numbers_in
from bot.demo.rules.findings import lines_of, told_in
from bot.demo.rules.looking import Used, calls_after, first_calls
from bot.demo.rules.telling import answer_to
from bot.ports import Chat, ChatEvent, Text, TextDelta, ToolCall, ToolResult, Turn, TurnEnd

# seconds: a reader shall see that something is looked up, and that words come one after the other
_THINKS = 0.5
_SPEAKS = 2.0
_PAUSE = 0.12
_PIECE = re.compile(r"(?:\s*\S+){1,3}\s*")
# bot/services/questions/initial_context.py says it
_TODAY = re.compile(r"Today is [A-Za-z]+ ((?a:\d{4}-\d\d-\d\d)) ")
_QUESTION = '<question id="'


class StandIn:
    """``ChatModel`` by rules. ``sleep`` takes seconds. May be shared by threads."""

    def __init__(self, sleep: Callable[[float], None]) -> None:
        self._sleep = sleep

    def stream(self, chat: Chat) -> Generator[ChatEvent, None, None]:
        """Begin with tools, then give the answer. See :class:`bot.ports.ChatModel`."""
        talk = _Talk.of(chat.turns)
        wanted = _wanted(talk) if chat.may_use_tools else ()
        self._sleep(_THINKS)
        if wanted:
            calls = tuple(
                ToolCall(f"call_{len(talk.used) + n}", name, arguments)
                for n, (name, arguments) in enumerate(wanted)
            )
            yield from calls
            yield TurnEnd(Turn("model", given=tuple(map(_given, calls))))
            return
        text = f"<answer>{answer_to(talk.asked, talk.record, talk.used)}</answer>"
        yield from self._words(text)
        yield TurnEnd(Turn("model", (Text(text),)))

    def _words(self, text: str) -> Iterator[TextDelta]:
        """A few words at a time."""
        pieces = _PIECE.findall(text)
        pause = min(_PAUSE, _SPEAKS / len(pieces))
        for piece in pieces:
            yield TextDelta(piece)
            self._sleep(pause)


def _wanted(talk: _Talk) -> Sequence[tuple[str, Mapping[str, Any]]]:
    if talk.rounds == 0:
        return first_calls(talk.asked)
    return calls_after(talk.asked, talk.record, talk.used) if talk.rounds == 1 else ()


def _given(call: ToolCall) -> Mapping[str, Any]:
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": dict(call.arguments)}


@dataclass(frozen=True, slots=True)
class _Talk:
    """A talk so far: what is asked, the record that it began with, and the tools that were used since."""

    asked: Asked
    record: str
    used: tuple[Used, ...]
    rounds: int

    @classmethod
    def of(cls, turns: Sequence[Turn]) -> _Talk:
        begins = max(place for place, turn in enumerate(turns) if turn.by == "person" and not _results(turn))
        before, since = turns[: begins + 1], turns[begins + 1 :]
        record = "".join(part.text for part in before[0].parts if isinstance(part, Text) and part.stable)
        said = [text for turn in before if turn.by == "model" for text in _texts(turn)]
        wanted = asked(list(_questions(before)), said, _subject(record), _today(before))
        return cls(wanted, record, tuple(_used(since)), sum(map(bool, map(_results, since))))


def _results(turn: Turn) -> tuple[ToolResult, ...]:
    return tuple(part for part in turn.parts if isinstance(part, ToolResult))


def _texts(turn: Turn) -> Iterator[str]:
    return (part.text for part in turn.parts if isinstance(part, Text))


def _questions(turns: Sequence[Turn]) -> Iterator[str]:
    """What was asked, oldest first. The marks around a question carry a digest of it: no question has others."""
    for text in (text for turn in turns if turn.by == "person" for text in _texts(turn)):
        if text.startswith(_QUESTION):
            yield text.partition("\n")[2].rpartition("\n")[0]


def _today(turns: Sequence[Turn]) -> dt.date | None:
    """What day it is for the reader, which stands behind the question."""
    said = (found for text in _texts(turns[-1]) if (found := _TODAY.match(text)))
    return next((dt.date.fromisoformat(found[1]) for found in said), None)


def _subject(record: str) -> tuple[int, ...]:
    """The pull requests of a thread about single ones: its record begins with them, not with the days."""
    first = next(iter(lines_of(record)), "")
    return tuple(told_in(record)) if numbers_in(first.partition(" ")[0]) else ()


def _used(turns: Sequence[Turn]) -> Iterator[Used]:
    calls = {block["id"]: block for turn in turns for block in turn.given}
    for result in (result for turn in turns for result in _results(turn)):
        call = calls[result.call]
        yield Used(call["name"], call["input"], result.text, result.is_error)
