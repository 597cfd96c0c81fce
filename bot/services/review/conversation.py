"""A conversation with the model about one pull request: rounds of tools, then a report in JSON."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace

from pydantic import ValidationError

from bot.domain.errors import ModelAnswerInvalid, ModelError
from bot.domain.operations.usage import NO_USAGE, CallPurpose, PriceList, Usage
from bot.platform import deadlines
from bot.ports import Chat, ChatModel, TextDelta, TextPart, ToolResult, Turn
from bot.services.operations.model_tools import ModelTools, format_excess_call
from bot.services.operations.model_turns import ModelTurn, build_turn_retrying
from bot.services.review.schemas import ReviewAnswer
from bot.services.summaries.prompts import read_instructions
from bot.services.summaries.schemas import build_schema
from bot.services.summaries.structured_completion import describe_validation_error

log = logging.getLogger(__name__)

REVIEW_VERSION = "review.v1"
# of what is set aside for a review
_READING_SHARE = 0.6
_LAST_ROUND_NOTE = "No more tools: write the report now from what you have seen."
_NO_MORE_TOOLS = "There are no more tools for this review."
_REPEAT_NOTE = "Your report was refused: {}. Write it again, as JSON within the limits."


@dataclass(frozen=True, slots=True)
class ReviewLimits:
    """The limits of one review.

    ``rounds`` and ``calls`` limit the model's turns with tools and the tools in each. Once ``new_tokens`` of the
    prompts did not come from the prompt cache, or ``written_tokens`` were written, there are no more tools. One
    turn writes up to ``output_tokens``. All turns together have ``seconds``, the last ``report_seconds`` of them
    without tools.
    """

    rounds: int = 4
    calls: int = 4
    new_tokens: int = 24_000
    written_tokens: int = 4_000
    output_tokens: int = 8_000
    seconds: float = 180.0
    report_seconds: float = 40.0
    silence_seconds: float = 60.0


DEFAULT_LIMITS = ReviewLimits()


@dataclass
class ReviewCost:
    """The cost of one review so far: tokens and US dollars, None if a price is unknown.

    ``cautious_dollars`` is what a budget counts, ``reserved`` what is set aside there for this review.
    """

    model: str
    prices: PriceList
    reserved: float = 0.0
    usage: Usage = NO_USAGE
    dollars: float | None = 0.0
    cautious_dollars: float = 0.0

    @property
    def is_mostly_spent(self) -> bool:
        """Whether the rest of what is set aside is needed for the report."""
        return bool(self.reserved) and self.cautious_dollars > _READING_SHARE * self.reserved

    def add_turn(self, usage: Usage) -> None:
        """Add the tokens of one call."""
        self.usage += usage
        cost = self.prices.cost(self.model, usage)
        self.dollars = None if cost is None or self.dollars is None else self.dollars + cost
        if usage != NO_USAGE and self.prices.prices:
            self.cautious_dollars += self.prices.cautious_cost(self.model, usage)


class ReviewConversation:
    """The conversation of one review. ``clock`` returns seconds that only increase."""

    def __init__(
        self,
        model: ChatModel,
        tools: ModelTools,
        cost: ReviewCost,
        clock: Callable[[], float],
        sleep: Callable[[float], None],
        limits: ReviewLimits,
    ) -> None:
        self._model = model
        self._tools = tools
        self._cost = cost
        self._clock = clock
        self._sleep = sleep
        self._limits = limits
        self._end = clock() + limits.seconds
        self._turns: tuple[Turn, ...] = ()
        self._rounds = 0
        self._has_tools = True

    def run_review(self, change: str) -> ReviewAnswer:
        """Return the report on a change. One that is no report is asked for again, once.

        Raises:
            ModelError: there is none.
            StoreUnavailable: what was read can't be kept.
        """
        self._turns = (Turn("person", (TextPart(change),)),)
        answer = self._ask_for_report()
        answer = self._ask_for_report(is_last=True) if answer is None else answer
        if answer is None:
            raise ModelAnswerInvalid("the model's report was not usable")
        return answer

    def _ask_for_report(self, *, is_last: bool = False) -> ReviewAnswer | None:
        """Run rounds until there is a report; None if it can't be used, which the model is told."""
        while True:
            turn, text = self._run_turn(may_use_tools=not is_last)
            if turn.end is None or turn.end.is_cut:
                self._refuse_report(None, "it was cut at its length limit")
                return None
            if turn.calls and self._has_tools:
                self._use_tools(turn, turn.end.turn)
                continue
            if turn.calls:
                results = tuple(ToolResult(call.id, _NO_MORE_TOOLS, is_error=True) for call in turn.calls)
                self._refuse_report(turn.end.turn, "it calls tools", results)
                return None
            try:
                return ReviewAnswer.model_validate_json(text)
            except ValidationError as error:
                self._refuse_report(turn.end.turn, describe_validation_error(error))
                return None

    def _use_tools(self, turn: ModelTurn, model_turn: Turn) -> None:
        """Add the results for the model's next turn, which may be its last."""
        self._rounds += 1
        results = []
        for index, call in enumerate(turn.calls):
            if index < self._limits.calls:
                output = self._tools.run_tool(call.name, call.arguments)
                results.append(ToolResult(call.id, output.text, output.is_error))
            else:
                reason = format_excess_call(self._limits.calls)
                results.append(ToolResult(call.id, reason, is_error=True))
        used = self._cost.usage
        is_spent = (
            used.prompt_tokens - used.cache_read >= self._limits.new_tokens
            or used.output >= self._limits.written_tokens
            or self._cost.is_mostly_spent
        )
        is_late = self._seconds_left < self._limits.report_seconds
        self._has_tools = not (is_spent or is_late or self._rounds >= self._limits.rounds)
        notes = () if self._has_tools else (TextPart(_LAST_ROUND_NOTE),)
        self._turns = (*self._turns, model_turn, Turn("person", (*results, *notes)))

    def _refuse_report(self, model_turn: Turn | None, problem: str, results: tuple[ToolResult, ...] = ()) -> None:
        """Add why a report was refused; without a turn of the model, to what it was asked last."""
        log.info("a review is refused: %s", problem)
        note = TextPart(_REPEAT_NOTE.format(problem))
        if model_turn is None:
            *before, last = self._turns
            self._turns = (*before, replace(last, parts=(*last.parts, note)))
        else:
            self._turns = (*self._turns, model_turn, Turn("person", (*results, note)))

    @property
    def _seconds_left(self) -> float:
        return min(self._end - self._clock(), deadlines.get_seconds_left())

    def _run_turn(self, *, may_use_tools: bool) -> tuple[ModelTurn, str]:
        """Return the model's next turn with its text. One that breaks off is asked for again."""
        turn, parts = ModelTurn(), list[str]()
        try:
            for attempt in build_turn_retrying(lambda: self._seconds_left, self._sleep):
                with attempt:
                    turn, parts = ModelTurn(), []
                    self._stream_turn(turn, parts, may_use_tools=may_use_tools)
        except ModelError as error:
            error.usage = self._cost.usage
            raise
        return turn, "".join(parts)

    def _stream_turn(self, turn: ModelTurn, parts: list[str], *, may_use_tools: bool) -> None:
        try:
            with closing(self._model.stream_turn(self._build_chat(may_use_tools=may_use_tools))) as events:
                for event in events:
                    if isinstance(event, TextDelta):
                        parts.append(event.text)
                    else:
                        turn.note_event(event)
        finally:
            self._cost.add_turn(turn.usage)

    def _build_chat(self, *, may_use_tools: bool) -> Chat:
        return Chat(
            model=self._cost.model,
            system=read_instructions(REVIEW_VERSION),
            tools=self._tools.definitions,
            turns=self._turns,
            max_tokens=self._limits.output_tokens,
            silence=self._limits.silence_seconds,
            seconds=self._seconds_left,
            may_use_tools=may_use_tools,
            schema=build_schema(ReviewAnswer),
            need=CallPurpose.SECOND_READING,
        )
