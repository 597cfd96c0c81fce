"""Stand-in for a model that answers questions: a ``ChatModel`` by rules.

It uses the same protocol and the same tools as a model, and repeats only their results. Where rules can't tell,
the answer says so.
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

# seconds: a reader should see that something is looked up, and that the text grows
_THINKING_SECONDS = 0.5
_MAX_SPEAKING_SECONDS = 2.0
_MAX_PAUSE = 0.12
_PIECE_PATTERN = re.compile(r"(?:\s*\S+){1,3}\s*")
# written by bot/services/questions/initial_context.py
_TODAY_PATTERN = re.compile(r"Today is [A-Za-z]+ ((?a:\d{4}-\d\d-\d\d)) ")
_QUESTION_START = '<question id="'


class RuleChatModel:
    """``ChatModel`` by rules. ``sleep`` takes seconds. May be shared by threads."""

    def __init__(self, sleep: Callable[[float], None]) -> None:
        self._sleep = sleep

    def stream_turn(self, chat: Chat) -> Generator[ChatEvent, None, None]:
        """Call tools first, then give the answer. See :class:`bot.ports.ChatModel`."""
        conversation = _Conversation.from_turns(chat.turns)
        queries = _choose_calls(conversation) if chat.may_use_tools else ()
        self._sleep(_THINKING_SECONDS)
        if queries:
            calls = tuple(
                ToolCall(f"call_{len(conversation.tool_uses) + n}", name, arguments)
                for n, (name, arguments) in enumerate(queries)
            )
            yield from calls
            yield TurnEnd(Turn("model", model_blocks=tuple(map(_build_call_block, calls))))
            return
        text = (
            f"<answer>{render_answer(conversation.question, conversation.record, conversation.tool_uses)}</answer>"
        )
        yield from self._stream_words(text)
        yield TurnEnd(Turn("model", (TextPart(text),)))

    def _stream_words(self, text: str) -> Iterator[TextDelta]:
        """Yield the text in pieces of a few words, with pauses."""
        pieces = _PIECE_PATTERN.findall(text)
        pause = min(_MAX_PAUSE, _MAX_SPEAKING_SECONDS / len(pieces))
        for piece in pieces:
            yield TextDelta(piece)
            self._sleep(pause)


def _choose_calls(conversation: _Conversation) -> Sequence[tuple[str, Mapping[str, Any]]]:
    """Return the calls of this round; none if the answer is due."""
    if conversation.rounds == 0:
        return plan_first_calls(conversation.question)
    return (
        plan_next_calls(conversation.question, conversation.record, conversation.tool_uses)
        if conversation.rounds == 1
        else ()
    )


def _build_call_block(call: ToolCall) -> Mapping[str, Any]:
    """Return a call in the format of Claude's blocks."""
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": dict(call.arguments)}


@dataclass(frozen=True, slots=True)
class _Conversation:
    """A conversation so far: the question, the record at its beginning, and the tool uses since the question.

    ``rounds`` is the number of turns with tool results since the question.
    """

    question: ParsedQuestion
    record: str
    tool_uses: tuple[ToolUse, ...]
    rounds: int

    @classmethod
    def from_turns(cls, turns: Sequence[Turn]) -> _Conversation:
        """Read the conversation from the turns of a chat."""
        start = max(place for place, turn in enumerate(turns) if turn.by == "person" and not _list_results(turn))
        before, since = turns[: start + 1], turns[start + 1 :]
        record = "".join(part.text for part in before[0].parts if isinstance(part, TextPart) and part.stable)
        answers = [text for turn in before if turn.by == "model" for text in _iterate_texts(turn)]
        question = parse_question(
            list(_extract_questions(before)), answers, _extract_subject(record), _extract_today(before)
        )
        return cls(question, record, tuple(_extract_tool_uses(since)), sum(map(bool, map(_list_results, since))))


def _list_results(turn: Turn) -> tuple[ToolResult, ...]:
    """Return the tool results of a turn."""
    return tuple(part for part in turn.parts if isinstance(part, ToolResult))


def _iterate_texts(turn: Turn) -> Iterator[str]:
    """Yield the texts of a turn."""
    return (part.text for part in turn.parts if isinstance(part, TextPart))


def _extract_questions(turns: Sequence[Turn]) -> Iterator[str]:
    """Yield the questions, oldest first.

    The marks around a question carry a digest of it, so it can't imitate them.
    """
    for text in (text for turn in turns if turn.by == "person" for text in _iterate_texts(turn)):
        if text.startswith(_QUESTION_START):
            yield text.partition("\n")[2].rpartition("\n")[0]


def _extract_today(turns: Sequence[Turn]) -> dt.date | None:
    """Return the reader's date, which follows the question; None if there is none."""
    matches = (match for text in _iterate_texts(turns[-1]) if (match := _TODAY_PATTERN.match(text)))
    return next((dt.date.fromisoformat(match[1]) for match in matches), None)


def _extract_subject(record: str) -> tuple[int, ...]:
    """Return the pull requests of a thread about single ones.

    The record of such a thread begins with them, not with the days.
    """
    first = next(iter(split_lines(record)), "")
    return tuple(parse_pull_requests(record)) if find_numbers(first.partition(" ")[0]) else ()


def _extract_tool_uses(turns: Sequence[Turn]) -> Iterator[ToolUse]:
    """Yield the tool uses of turns: calls with their results."""
    calls = {block["id"]: block for turn in turns for block in turn.model_blocks}
    for result in (result for turn in turns for result in _list_results(turn)):
        call = calls[result.call]
        yield ToolUse(call["name"], call["input"], result.text, result.is_error)
