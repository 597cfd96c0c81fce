"""Answers to single questions: a conversation with the model in rounds of tools, shown while it is written."""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass
from typing import TypeVar

from bot.domain.conversations.answer_end import AnswerEnd
from bot.domain.errors import AnswerCancelled, ModelError
from bot.ports import (
    AnswerDisplay,
    Chat,
    ChatModel,
    TextDelta,
    TextPart,
    ToolCall,
    ToolResult,
    Turn,
)
from bot.render.conversations.streaming import AnswerMarkdown, Links
from bot.services.operations.model_tools import format_excess_call
from bot.services.operations.model_turns import ModelTurn, build_turn_retrying
from bot.services.questions.answer_inputs import ToolExchange
from bot.services.questions.answer_progress import (
    AnswerEvent,
    AnswerProgress,
    ToolsStart,
    TurnStart,
    WrittenAnswer,
)
from bot.services.questions.tools.toolbox import Toolbox
from bot.services.summaries.prompts import ANSWER_VERSION, read_instructions

log = logging.getLogger(__name__)

R = TypeVar("R")
# events as they happen, and a result at the end
AnswerEvents = Generator[AnswerEvent, None, R]

_LAST_TURN_NOTE = "No more tools: write the answer now from what you have, and say what is missing."


@dataclass(frozen=True, slots=True)
class AnswerLimits:
    """The limits of one answer.

    ``rounds`` and ``calls`` limit the model's turns and the tools in each; ``tokens`` is the limit of all prompts
    together. After ``reading_seconds`` there are no more tools, after ``seconds`` no more text: the rest of the
    four minutes is for Slack, the last edit and a slow network.
    """

    rounds: int = 8
    calls: int = 6
    tokens: int = 400_000
    output_tokens: int = 8_000
    reading_seconds: float = 140.0
    seconds: float = 210.0
    silence_seconds: float = 25.0


class AnswerAgent:
    """Agent that answers questions with the model. ``clock`` returns seconds that only increase."""

    def __init__(
        self,
        model: ChatModel,
        name: str,
        clock: Callable[[], float],
        sleep: Callable[[float], None],
        limits: AnswerLimits = AnswerLimits(),
    ) -> None:
        self._model = model
        self._name = name
        self._clock = clock
        self._sleep = sleep
        self._limits = limits

    def answer_question(
        self,
        turns: tuple[Turn, ...],
        toolbox: Toolbox,
        links: Links,
        display: AnswerDisplay,
        started: float | None = None,
    ) -> WrittenAnswer:
        """Answer the question at the end of ``turns``. Its time counts from ``started``, or from now.

        Raises:
            ModelError: there is nothing to show. It carries the usage.
            SlackUnavailable, StoreUnavailable: another attempt may help.
        """
        start = self._clock() if started is None else started
        answer = AnswerProgress(turns, AnswerMarkdown(links), self._clock, start + self._limits.seconds)
        with closing(self._stream_events(answer, toolbox)) as events:
            for event in events:
                try:
                    for update in answer.handle_event(event):
                        update.apply_to(display)
                except AnswerCancelled:
                    answer.end = AnswerEnd.STOPPED
        return answer.build_answer()

    def _stream_events(self, answer: AnswerProgress, toolbox: Toolbox) -> AnswerEvents[None]:
        """Yield the events of the conversation. If text was shown, a failure of the model ends the answer."""
        try:
            end = yield from self._run_rounds(answer, toolbox)
        except ModelError as error:
            error.usage = answer.usage
            answer.end_answer(AnswerEnd.BROKEN)
            if not answer.text.strip():
                raise
            answer.failure = str(error)
            log.info("an answer breaks off: %s", error)
        else:
            answer.end_answer(end)

    def _run_rounds(self, answer: AnswerProgress, toolbox: Toolbox) -> AnswerEvents[AnswerEnd]:
        """Run rounds of tools until the model has finished or a limit is reached."""
        while answer.seconds_left > 0 and not answer.end:
            turn = yield from self._run_turn(answer, toolbox)
            answer.rounds += 1
            if not turn.calls or not answer.may_use_tools:
                is_cut = turn.end is not None and turn.end.is_cut
                return answer.end or (AnswerEnd.TRUNCATED if is_cut else AnswerEnd.COMPLETE)
            yield ToolsStart(tuple(turn.calls))
            if not answer.end:
                self._use_tools(answer, toolbox, turn)
        return answer.end or AnswerEnd.LATE

    def _use_tools(self, answer: AnswerProgress, toolbox: Toolbox, turn: ModelTurn) -> None:
        """Add the results for the model's next turn, which may be its last."""
        results = [self._run_tool(answer, toolbox, call, index) for index, call in enumerate(turn.calls)]
        late = answer.seconds_left < self._limits.seconds - self._limits.reading_seconds
        spent = answer.rounds >= self._limits.rounds - 1 or answer.usage.prompt_tokens > self._limits.tokens
        answer.may_use_tools = not (late or spent)
        notes = () if answer.may_use_tools else (TextPart(_LAST_TURN_NOTE),)
        model_turn = (turn.end.turn,) if turn.end else ()
        answer.turns = (*answer.turns, *model_turn, Turn("person", (*results, *notes)))

    def _run_tool(self, answer: AnswerProgress, toolbox: Toolbox, call: ToolCall, index: int) -> ToolResult:
        if index >= self._limits.calls:
            return ToolResult(call.id, format_excess_call(self._limits.calls), is_error=True)
        result = toolbox.run_tool(call.name, call.arguments)
        answer.exchanges.append(ToolExchange(call.name, dict(call.arguments), result.text))
        return ToolResult(call.id, result.text, result.is_error)

    def _run_turn(self, answer: AnswerProgress, toolbox: Toolbox) -> AnswerEvents[ModelTurn]:
        """Yield the events of the next turn. An interrupted one is repeated and replaces its shown text."""
        turn = ModelTurn()
        for attempt in build_turn_retrying(lambda: answer.seconds_left, self._sleep):
            with attempt:
                turn = ModelTurn()
                yield TurnStart(is_again=attempt.retry_state.attempt_number > 1)
                yield from self._stream_turn(answer, toolbox, turn)
        return turn

    def _stream_turn(self, answer: AnswerProgress, toolbox: Toolbox, turn: ModelTurn) -> AnswerEvents[None]:
        """Yield the text of a turn to its end, or up to a limit: showing it takes part of the time."""
        try:
            with closing(self._model.stream_turn(self._build_chat(answer, toolbox))) as events:
                for event in events:
                    if not isinstance(event, TextDelta):
                        turn.note_event(event)
                        continue
                    yield event
                    answer.check_deadline()
                    if answer.end:
                        return
        finally:
            answer.usage += turn.usage

    def _build_chat(self, answer: AnswerProgress, toolbox: Toolbox) -> Chat:
        return Chat(
            model=self._name,
            system=read_instructions(ANSWER_VERSION),
            tools=toolbox.definitions,
            turns=answer.turns,
            max_tokens=self._limits.output_tokens,
            silence=self._limits.silence_seconds,
            seconds=answer.seconds_left,
            may_use_tools=answer.may_use_tools,
        )
