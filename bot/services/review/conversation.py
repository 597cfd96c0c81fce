"""A conversation with the model about one pull request: rounds of tools, then a report in JSON."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace

from pydantic import ValidationError

from bot.domain.errors import ModelAnswerInvalid
from bot.domain.operations.usage import NO_USAGE, CallPurpose, PriceList, Usage
from bot.platform import deadlines
from bot.platform.models.agent import AgentLimits, AgentLoop, TokenCount
from bot.platform.models.prompts import read_instructions
from bot.platform.models.tools import Tools, define_tools
from bot.ports import Chat, ChatModel, TextPart, ToolResult, Turn
from bot.services.review.schemas import ReviewAnswer
from bot.services.summaries.schemas import build_schema
from bot.services.summaries.structured_completion import describe_validation_error

log = logging.getLogger(__name__)

REVIEW_VERSION = "review.v1"
# of what is set aside for a review
_READING_SHARE = 0.6
_LAST_ROUND_NOTE = "No more tools: write the report now from what you have seen."
_NO_MORE_TOOLS = "There are no more tools for this review."
_REPEAT_NOTE = "Your report was refused: {}. Write it again, as JSON within the limits."


# the last forty seconds are for the report
REVIEW_LIMITS = AgentLimits(
    rounds=4,
    calls=4,
    seconds=180.0,
    last_seconds=40.0,
    silence_seconds=60.0,
    new_tokens=24_000,
    written_tokens=4_000,
)


@dataclass(kw_only=True)
class ReviewCost(TokenCount):
    """The cost of one review so far: tokens and US dollars, None if a price is unknown.

    ``cautious_dollars`` is what a budget counts, ``reserved`` what is set aside there for this review.
    """

    model: str
    prices: PriceList
    reserved: float = 0.0
    dollars: float | None = 0.0
    cautious_dollars: float = 0.0

    @property
    def is_mostly_spent(self) -> bool:
        """Whether the rest of what is set aside is needed for the report."""
        return bool(self.reserved) and self.cautious_dollars > _READING_SHARE * self.reserved

    def add_turn(self, usage: Usage) -> None:
        super().add_turn(usage)
        cost = self.prices.cost(self.model, usage)
        self.dollars = None if cost is None or self.dollars is None else self.dollars + cost
        if usage != NO_USAGE and self.prices.prices:
            self.cautious_dollars += self.prices.cautious_cost(self.model, usage)


def run_review(
    model: ChatModel,
    tools: Tools,
    cost: ReviewCost,
    change: str,
    clock: Callable[[], float],
    sleep: Callable[[float], None],
    limits: AgentLimits,
) -> ReviewAnswer:
    """Return the report on a change. One that is no report is asked for again, once.

    Raises:
        ModelError: there is none.
        StoreUnavailable: what was read can't be kept.
    """
    chat = Chat(
        model=cost.model,
        system=read_instructions(REVIEW_VERSION),
        tools=define_tools(tools),
        turns=(Turn("person", (TextPart(change),)),),
        max_tokens=limits.output_tokens,
        silence=limits.silence_seconds,
        seconds=limits.seconds,
        schema=build_schema(ReviewAnswer),
        need=CallPurpose.SECOND_READING,
    )
    ends_at = clock() + min(limits.seconds, deadlines.get_seconds_left())
    # a service that knows of no tools in one turn has another prompt cache for it
    loop = AgentLoop(
        model, chat, tools, limits, _LAST_ROUND_NOTE, clock, sleep, ends_at, cost, forbids_tools=False
    )
    answer = _ask_for_report(loop)
    if answer is None:
        loop.has_tools, loop.chat = False, replace(loop.chat, may_use_tools=False)
        answer = _ask_for_report(loop)
    if answer is None:
        raise ModelAnswerInvalid("the model's report was not usable")
    return answer


def _ask_for_report(loop: AgentLoop) -> ReviewAnswer | None:
    """Return the report; None if it can't be used, which the model is told."""
    for _ in loop.run():
        pass
    turn, results = loop.turn, tuple[ToolResult, ...]()
    if turn.end is None or turn.is_cut:
        problem = "it was cut at its length limit"
    elif turn.calls:
        problem = "it calls tools"
        results = tuple(ToolResult(call.id, _NO_MORE_TOOLS, is_error=True) for call in turn.calls)
    else:
        try:
            return ReviewAnswer.model_validate_json(turn.text)
        except ValidationError as error:
            problem = describe_validation_error(error)
    log.info("a review is refused: %s", problem)
    note = TextPart(_REPEAT_NOTE.format(problem))
    if turn.end is None or turn.is_cut:
        *before, last = loop.chat.turns
        loop.chat = replace(loop.chat, turns=(*before, replace(last, parts=(*last.parts, note))))
    else:
        loop.add_turns(turn.end.turn, Turn("person", (*results, note)))
    return None
