"""Answers the questions of a thread in the order in which they were asked, each once, wherever a try broke off."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from bot.domain.conversations.slack_request import Audience
from bot.domain.conversations.thread import Question
from bot.domain.errors import PrdigestError, SlackCallRefused
from bot.domain.keyspace.keys import ANSWER_PROGRESS
from bot.ports import AnswerDisplay, AnswerDisplays, QuestionQueue, RecordStore
from bot.render.blocks.sanitize import sanitize_text
from bot.render.conversations.answers import render_private_answer
from bot.render.conversations.notices import describe_error
from bot.render.conversations.sentences import GAVE_UP
from bot.services.operations import deadlines
from bot.services.operations.billing import bill_to, name_payer
from bot.services.questions.answer_writer import AnswerDraft, AnswerWriter
from bot.services.questions.feedback import AnswerFeedback
from bot.services.questions.thread_memory import ThreadMemories
from bot.services.slack.answered_request import AnsweredRequest
from bot.services.slack.replies import Answer, ReplySender, log_refusal

log = logging.getLogger(__name__)

# a job is tried for some minutes, and again with each further question of its thread
_MAX_ATTEMPTS = 20


class ConversationService:
    """Serves threads."""

    def __init__(
        self,
        line: QuestionQueue,
        records: RecordStore[AnsweredRequest],
        displays: AnswerDisplays,
        memories: ThreadMemories,
        writer: AnswerWriter,
        votes: AnswerFeedback,
        replies: ReplySender,
        now: Callable[[], datetime],
    ) -> None:
        self._line = line
        self._records = records
        self._displays = displays
        self._memories = memories
        self._writer = writer
        self._votes = votes
        self._replies = replies
        self._now = now

    def serve_thread(self, place: str) -> None:
        """Answer all that waits in a thread, unless another process is at it: it takes these questions too.

        Raises:
            SlackUnavailable, StoreUnavailable: trying again goes on from there.
        """
        # whoever joined while we were about to leave found the place taken, and relies on us
        while self._line.get_first(place) is not None:
            with self._line.try_lock(place) as is_ours:
                if not is_ours:
                    return
                self._serve_waiting(place)

    def _serve_waiting(self, place: str) -> None:
        while question := self._line.get_first(place):
            limited = deadlines.bound_work(self._replies.promises.question_time, waits=deadlines.MAX_WAITS)
            with limited, bill_to(name_payer(question.visit)):
                self._answer_question(question)
            self._line.remove_question(place, question)

    def _answer_question(self, question: Question) -> None:
        """Raises what trying again may mend; all else the asker is told."""
        key = _build_key(question)
        record = self._records.load(key)
        if record.is_answered:
            return
        record = self._records.save(key, record, record.count_attempt())
        # Slack failed so often that those who wait behind it shall wait no longer
        if record.attempts > _MAX_ATTEMPTS:
            self._end_question(question, key, GAVE_UP)
            return
        display = self._open_display(question, key, record)
        try:
            self._show_answer(question, key, record, display)
        except PrdigestError as error:
            if self._replies.may_retry(question.visit, error):
                raise
            log_refusal(question.visit, error)
            self._show_error(question, key, display, error)
        except Exception as error:
            log.exception("a defect [%s]", question.visit.reference)
            self._show_error(question, key, display, error)
        self._records.save(key, record, record.complete(self._now()))

    def abandon_question(self, place: str, sentence: str) -> Question | None:
        """Tell whoever is first in a thread that there will be no answer, and let the next one come up.

        Gives that question, if there is one. Raises SlackUnavailable, StoreUnavailable: again goes on.
        """
        question = self._line.get_first(place)
        if question:
            self._end_question(question, _build_key(question), sentence)
            self._line.remove_question(place, question)
        return question

    def _end_question(self, question: Question, key: str, sentence: str) -> None:
        """Tell its asker that there is no answer, unless there is one."""
        reference = question.visit.reference
        log.error("a question is given up [%s]", reference)
        record = self._records.load(key)
        if not record.is_answered:
            self._replies.tell_asker(question.visit, f"{sentence} [{reference}]")
            self._records.save(key, record, record.complete(self._now()))

    def _open_display(self, question: Question, key: str, record: AnsweredRequest) -> AnswerDisplay:
        message = record.message
        if record.begun_at and not message:
            message = self._find_earlier_message(question, key)
            if message:
                record = self._records.save(key, record, record.record_message(message))
        if record.begun_at is None:
            record = self._records.claim(key, record, record.begin_posting(self._now()))

        def keep(ts: str) -> None:
            self._records.save(key, record, record.record_message(ts))

        return self._displays.open_display(question.visit, key, keep, message)

    def _show_error(self, question: Question, key: str, display: AnswerDisplay, error: Exception) -> None:
        """What went wrong, in the place of an answer that was begun, else to the asker alone."""
        said = describe_error(error, question.visit.reference)
        if self._records.load(key).message and not isinstance(error, SlackCallRefused):
            display.finish(sanitize_text(said), ())
        else:
            display.show_status("")
            self._replies.tell_asker(question.visit, said)

    def _show_answer(self, question: Question, key: str, record: AnsweredRequest, display: AnswerDisplay) -> None:
        slack_request = question.visit
        memory = self._memories.load_memory(slack_request.channel, slack_request.thread, question.ts)
        draft = _load_draft(record.draft_json) if record.draft_json else None
        if draft is None:
            with deadlines.reserve_time(self._replies.promises.display_reserve):
                draft = self._writer.write_answer(question, memory, display)
            self._records.save(key, record, record.record_draft(_dump_draft(draft)))
        # a thumb may be pressed in the moment in which it is there
        begun = self._records.load(key).message
        if begun:
            self._votes.remember_answer(slack_request.channel, begun, draft.inputs)
        try:
            message = display.finish(draft.text, draft.footer)
        except SlackCallRefused as error:
            log.info(
                "no answer in %s, the asker gets it [%s]: %s",
                slack_request.channel,
                slack_request.reference,
                error,
            )
            display.show_status("")
            private = Answer.for_asker(render_private_answer(draft.text, draft.footer))
            self._replies.give_answer(slack_request, "private", Audience.ASKER, lambda: private)
        else:
            if message != begun:
                self._votes.remember_answer(slack_request.channel, message, draft.inputs)
        # something else may have been posted in the thread meanwhile
        memory = self._memories.load_memory(slack_request.channel, slack_request.thread, question.ts)
        self._memories.save_memory(
            slack_request.channel, slack_request.thread, memory.add_answer(question, draft.raw_text)
        )

    def _find_earlier_message(self, question: Question, key: str) -> str:
        """The message of a try that ended before it could say so. Who may not look begins a new one."""
        try:
            return self._displays.find_earlier_message(question.visit, key, question.ts)
        except SlackCallRefused as error:
            log.info("can't look into %s: %s", question.visit.channel, error)
            return ""


def _build_key(question: Question) -> str:
    return ANSWER_PROGRESS.build_key(question.visit.key, "question")


def _dump_draft(draft: AnswerDraft) -> str:
    found = {"text": draft.text, "said": draft.raw_text, "below": list(draft.footer), "inputs": dict(draft.inputs)}
    return json.dumps(found, default=str)


def _load_draft(text: str) -> AnswerDraft:
    found: dict[str, Any] = json.loads(text)
    below: Sequence[Mapping[str, Any]] = found["below"]
    return AnswerDraft(found["text"], found["said"], below, found["inputs"])
