"""A conversation with a model that uses tools: answers to questions and AI bug reviews are made in one."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from bot.errors import ModelBusy, ModelError
from bot.platform.models import (
    Chat,
    ChatModel,
    TextDelta,
    TextPart,
    ToolCall,
    ToolResult,
    Turn,
    TurnEnd,
    TurnUsage,
)
from bot.platform.models.tools import Tools, run_tool
from bot.usage import NO_USAGE, Usage

_MAX_ATTEMPTS = 3  # at one turn, while the model is busy
# seconds: pauses grow up to the first; the second is the longest that a busy model may ask for
_LONGEST_BACKOFF, _LONGEST_PAUSE = 8.0, 60.0


@dataclass(frozen=True, slots=True)
class AgentLimits:
    """The limits of one conversation, and of a turn: a last one has no tools."""

    rounds: int  # turns with tools
    calls: int  # of tools in a turn
    seconds: float
    last_seconds: float  # with less left, there are no more tools
    silence_seconds: float
    output_tokens: int = 8_000  # of a turn
    # there are no more tools above one of these: of all prompts, of those that no prompt cache had, of all turns
    prompt_tokens: int = sys.maxsize
    new_tokens: int = sys.maxsize
    written_tokens: int = sys.maxsize


@dataclass
class TokenCount:
    """The tokens that a conversation has used so far. Who knows their price counts that too."""

    usage: Usage = NO_USAGE

    @property
    def is_mostly_spent(self) -> bool:
        """Whether what may be spent suffices for no more than the last turn."""
        return False

    def add_turn(self, usage: Usage) -> None:
        self.usage += usage


@dataclass
class ModelTurn:
    """What a turn of the model gives. Without an ``end`` it is not over."""

    text: str = ""
    calls: list[ToolCall] = field(default_factory=list)
    usage: Usage = NO_USAGE
    end: TurnEnd | None = None

    @property
    def is_cut(self) -> bool:
        return self.end is not None and self.end.is_cut


@dataclass(frozen=True, slots=True)
class TurnStart:
    """The start of the model's next turn."""

    is_again: bool  # in place of one that was interrupted


@dataclass(frozen=True, slots=True)
class ToolsStart:
    """The end of a turn, whose calls run next."""

    calls: tuple[ToolCall, ...]


@dataclass(frozen=True, slots=True)
class ToolEnd:
    """A call that has run, and its result."""

    call: ToolCall
    result: ToolResult


AgentEvent: TypeAlias = TurnStart | TextDelta | ToolsStart | ToolEnd


@dataclass
class AgentLoop:
    """A conversation that goes on until the model uses no more tools.

    ``chat`` is the conversation so far. ``ends_at`` is in seconds of ``clock``, which only increase. The model is
    told by ``last_note`` when there are no more tools; with ``forbids_tools``, the service is told too, which then
    accepts no call. ``turn`` is the model's last one; ``rounds`` counts those that began.
    """

    model: ChatModel
    chat: Chat
    tools: Tools
    limits: AgentLimits
    last_note: str
    clock: Callable[[], float]
    sleep: Callable[[float], None]
    ends_at: float
    count: TokenCount = field(default_factory=TokenCount)
    forbids_tools: bool = True
    has_tools: bool = True
    rounds: int = 0
    turn: ModelTurn = field(default_factory=ModelTurn)

    @property
    def seconds_left(self) -> float:
        """The seconds until the end, negative after it."""
        return self.ends_at - self.clock()

    def add_turns(self, *turns: Turn) -> None:
        self.chat = replace(self.chat, turns=(*self.chat.turns, *turns))

    def run(self) -> Generator[AgentEvent, None, None]:
        """Yield events as they happen, up to the end of a turn that calls no tool, or may not.

        Close the generator to end the conversation at any point: nobody waits or pays for the rest of a turn.
        Raises ModelError with the usage of all turns, and StoreUnavailable if what a tool read could not be kept.
        """
        while True:
            yield from self._ask_for_turn()
            if not self.turn.calls or not self.has_tools:
                return
            yield ToolsStart(tuple(self.turn.calls))
            yield from self._use_tools()

    def _ask_for_turn(self) -> Generator[AgentEvent, None, None]:
        """Yield the next turn. While the model is busy it is repeated, if there is time for a pause first."""
        for attempt in range(1, _MAX_ATTEMPTS + 1):
            yield TurnStart(is_again=attempt > 1)
            self.rounds += attempt == 1
            try:
                yield from self._stream_turn()
            except ModelError as error:
                requested = error.retry_after if isinstance(error, ModelBusy) else None
                pause = min(2.0 ** (attempt - 1), _LONGEST_BACKOFF) if requested is None else requested
                has_time = pause < min(self.seconds_left, _LONGEST_PAUSE)
                if not isinstance(error, ModelBusy) or attempt == _MAX_ATTEMPTS or not has_time:
                    error.usage = self.count.usage
                    raise
            else:
                return
            self.sleep(pause)

    def _stream_turn(self) -> Generator[AgentEvent, None, None]:
        turn = self.turn = ModelTurn()
        try:
            with closing(self.model.stream_turn(replace(self.chat, seconds=self.seconds_left))) as events:
                for event in events:
                    match event:
                        case TextDelta():
                            turn.text += event.text
                            yield event
                        case ToolCall():
                            turn.calls.append(event)
                        case TurnUsage():
                            turn.usage = event.usage
                        case TurnEnd():
                            turn.end = event
        finally:
            # what an interrupted turn took counts too
            self.count.add_turn(turn.usage)

    def _use_tools(self) -> Generator[AgentEvent, None, None]:
        results = []
        for index, call in enumerate(self.turn.calls):
            if index < self.limits.calls:
                result = run_tool(self.tools, call)
                yield ToolEnd(call, result)
            else:
                result = ToolResult(call.id, f"Use up to {self.limits.calls} tools at a time.", is_error=True)
            results.append(result)
        self.has_tools = not self._is_spent()
        notes = () if self.has_tools else (TextPart(self.last_note),)
        model_turn = (self.turn.end.turn,) if self.turn.end else ()
        self.add_turns(*model_turn, Turn("person", (*results, *notes)))
        if self.forbids_tools:
            self.chat = replace(self.chat, may_use_tools=self.has_tools)

    def _is_spent(self) -> bool:
        limits, used = self.limits, self.count.usage
        return (
            self.rounds >= limits.rounds
            or self.seconds_left < limits.last_seconds
            or used.prompt_tokens > limits.prompt_tokens
            or used.prompt_tokens - used.cache_read >= limits.new_tokens
            or used.output >= limits.written_tokens
            or self.count.is_mostly_spent
        )
