"""The work of each step: post the digest of a day, or answer a question."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from zoneinfo import ZoneInfo

from bot.domain.conversations.commands import AllowedRepositories
from bot.domain.conversations.slack_request import SlackRequest
from bot.domain.conversations.step_inputs import StepInputs
from bot.domain.conversations.thread import Question, ThreadMemory
from bot.domain.errors import UsageError
from bot.domain.subscriptions.models import DigestSpec
from bot.domain.text.strings import truncate_text
from bot.domain.time.date_range import Span, parse_day
from bot.domain.time.day import TodayProvider
from bot.render.conversations import sentences
from bot.services.questions.answer_writer import AnswerWriter
from bot.services.steps.step_run import StepOutputs
from bot.services.subscriptions.delivery import DigestDelivery

# what later steps can put into a message
MAX_ANSWER_LENGTH = 3_000


class StepWork:
    """Service that does the work of steps, under the rules for commands.

    ``get_zone`` returns the time zone of a channel's digests, None if there are several.
    """

    def __init__(
        self,
        delivery: DigestDelivery,
        writer: AnswerWriter,
        repositories: AllowedRepositories,
        today: TodayProvider,
        get_zone: Callable[[str], ZoneInfo | None],
    ) -> None:
        self._delivery = delivery
        self._writer = writer
        self._repositories = repositories
        self._today = today
        self._get_zone = get_zone

    def post_digest(self, inputs: StepInputs) -> StepOutputs:
        """Post the digest of a day, yesterday if none is named, and return its address.

        If it was posted before, that is the address. Raises PrdigestError.
        """
        today = self._today(self._get_zone(inputs.channel))
        day = parse_day(inputs.day or "yesterday", today)
        if day.date >= today.date:
            raise UsageError(sentences.STEP_DAY_NOT_OVER)
        repository = (
            self._repositories.parse_repository(inputs.repository)
            if inputs.repository
            else self._repositories.default
        )
        spec = DigestSpec(inputs.channel, repository, Span(day.date, day.date, day.zone))
        return StepOutputs(link=self._delivery.post_digest(spec).permalink)

    def answer_question(self, asked_by: SlackRequest, inputs: StepInputs) -> StepOutputs:
        """Answer a question in Markdown, in which nothing notifies anybody. Raises PrdigestError."""
        if not inputs.question:
            raise UsageError(sentences.STEP_WITHOUT_QUESTION)
        question = Question(asked_by, inputs.question, asked_by.message)
        draft = self._writer.write_answer(question, ThreadMemory(""), _NoDisplay())
        return StepOutputs(answer=truncate_text(draft.text, MAX_ANSWER_LENGTH))


class _NoDisplay:
    """``AnswerDisplay`` for an answer that nobody sees before it is complete."""

    def show_status(self, doing: str) -> None:
        """Show nothing."""

    def append_text(self, text: str) -> None:
        """Show nothing."""

    def replace_text(self, text: str) -> None:
        """Show nothing."""

    def finish(self, text: str, below: Sequence[Mapping[str, Any]]) -> str:
        """Show nothing, and return no timestamp: there is no message."""
        return ""
