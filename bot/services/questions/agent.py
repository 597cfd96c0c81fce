"""Answers to single questions: a conversation with the model in rounds of tools, shown while it is written."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import closing

from bot.domain.conversations.answer_end import AnswerEnd
from bot.domain.errors import AnswerCancelled, ModelAnswerInvalid, ModelError
from bot.platform.models.agent import AgentLimits, AgentLoop
from bot.platform.models.prompts import read_instructions
from bot.platform.models.tools import define_tools
from bot.ports import AnswerDisplay, Chat, ChatModel, Turn
from bot.render.conversations.streaming import AnswerMarkdown, Links
from bot.services.questions.answer_progress import AnswerProgress, WrittenAnswer
from bot.services.questions.tools.toolbox import Toolbox
from bot.services.summaries.prompts import ANSWER_VERSION

log = logging.getLogger(__name__)

_LAST_TURN_NOTE = "No more tools: write the answer now from what you have, and say what is missing."
# the rest of the four minutes is for Slack, the last edit and a slow network
ANSWER_LIMITS = AgentLimits(
    rounds=7, calls=6, seconds=210.0, last_seconds=70.0, silence_seconds=25.0, prompt_tokens=400_000
)


class AnswerAgent:
    """Agent that answers questions with the model. ``clock`` returns seconds that only increase."""

    def __init__(
        self,
        model: ChatModel,
        name: str,
        clock: Callable[[], float],
        sleep: Callable[[float], None],
        limits: AgentLimits = ANSWER_LIMITS,
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
        chat = Chat(
            model=self._name,
            system=read_instructions(ANSWER_VERSION),
            tools=define_tools(toolbox.tools),
            turns=turns,
            max_tokens=self._limits.output_tokens,
            silence=self._limits.silence_seconds,
            seconds=self._limits.seconds,
        )
        loop = AgentLoop(
            self._model,
            chat,
            toolbox.tools,
            self._limits,
            _LAST_TURN_NOTE,
            self._clock,
            self._sleep,
            start + self._limits.seconds,
        )
        answer, failure = AnswerProgress(AnswerMarkdown(links)), ""
        try:
            end = _show_events(loop, answer, display)
        except ModelError as error:
            # if text was shown, a failure of the model ends the answer
            end, failure = AnswerEnd.BROKEN, str(error)
            answer.markdown.end_answer(is_whole=False)
            if not answer.text.strip():
                raise
            log.info("an answer breaks off: %s", error)
        else:
            answer.markdown.end_answer(is_whole=end.is_whole)
        if not answer.text.strip():
            raise ModelAnswerInvalid("the model wrote no answer", loop.count.usage)
        if end is AnswerEnd.COMPLETE and answer.markdown.is_cut:
            end = AnswerEnd.TOO_LONG
        return WrittenAnswer(
            answer.text,
            answer.raw_text,
            end,
            loop.count.usage,
            tuple(answer.exchanges),
            loop.rounds,
            failure,
        )


def _show_events(loop: AgentLoop, answer: AnswerProgress, display: AnswerDisplay) -> AnswerEnd:
    """Show the conversation while it goes on; return why it ended."""
    with closing(loop.run()) as events:
        for event in events:
            try:
                for update in answer.handle_event(event):
                    update.apply_to(display)
            except AnswerCancelled:
                return AnswerEnd.STOPPED
            # showing text takes time, too
            if loop.seconds_left <= 0:
                return AnswerEnd.LATE
    return AnswerEnd.TRUNCATED if loop.turn.is_cut else AnswerEnd.COMPLETE
