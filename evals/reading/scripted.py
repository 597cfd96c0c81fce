"""A model that says what a reader has written down: rounds of tools, then a report."""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from bot.domain.errors import ModelRequestRejected
from bot.domain.operations.usage import Usage
from bot.ports import Chat, ChatEvent, TextDelta, TextPart, ToolCall, Turn, TurnEnd, TurnUsage

# characters of a token, for the cost and the limits of a conversation that no model counts
_CHARACTERS_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool, as a reader asks for it."""

    name: str
    arguments: dict[str, Any]


Round = tuple[Call, ...]


@dataclass
class ScriptedReader:
    """``ChatModel`` that plays back what a reader did about one merge.

    ``chats`` has what was sent, turn by turn; tokens are estimated by their length. Without an answer, and after
    one that was refused, there is no further turn.
    """

    rounds: Sequence[Round] = ()
    answer: str | None = None
    chats: list[Chat] = field(default_factory=list)

    def stream_turn(self, chat: Chat) -> Generator[ChatEvent, None, None]:
        """Yield the next turn of the reader. Raise ModelRequestRejected if there is none."""
        place = len(self.chats)
        self.chats.append(chat)
        if place < len(self.rounds):
            calls = self.rounds[place]
            for number, call in enumerate(calls):
                yield ToolCall(f"call_{place}_{number}", call.name, call.arguments)
            yield from self._end_turn(json.dumps([asdict(call) for call in calls]))
        elif place > len(self.rounds):
            raise ModelRequestRejected(f"the report was refused: {_get_last_text(chat)}")
        elif self.answer is None:
            raise ModelRequestRejected("there is no answer")
        else:
            yield TextDelta(self.answer)
            yield from self._end_turn(self.answer)

    def _end_turn(self, text: str) -> Generator[ChatEvent, None, None]:
        sizes = [_measure_chat(chat) for chat in self.chats]
        before = sizes[-2] if len(sizes) > 1 else 0
        new = sizes[-1] - before
        yield TurnUsage(
            Usage(
                cache_write=new // _CHARACTERS_PER_TOKEN,
                cache_read=before // _CHARACTERS_PER_TOKEN,
                output=len(text) // _CHARACTERS_PER_TOKEN,
            )
        )
        yield TurnEnd(Turn("model", (TextPart(text),)))


def list_results(chat: Chat) -> list[str]:
    """Return the texts of the last turn that was sent: results of tools, and notes."""
    return [part.text for part in chat.turns[-1].parts]


def _get_last_text(chat: Chat) -> str:
    return list_results(chat)[-1]


def _measure_chat(chat: Chat) -> int:
    """Return the characters of what is sent."""
    turns = sum(len(part.text) for turn in chat.turns for part in turn.parts)
    return len(chat.system) + len(json.dumps([chat.tools, chat.schema], default=str)) + turns
