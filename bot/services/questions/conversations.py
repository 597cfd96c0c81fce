"""Answers to the questions of a thread in the order of asking, each once, wherever an attempt ended."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime

from bot.domain.conversations.slack_request import Audience
from bot.domain.conversations.thread import Question
from bot.domain.errors import PrdigestError, SlackCallRefused
from bot.domain.keyspace.keys import ANSWER_PROGRESS, LEASE
from bot.platform import deadlines
from bot.platform.correlation import identify_request
from bot.platform.costs import bill_to, name_payer
from bot.ports import AnswerDisplay, AnswerDisplays, QuestionQueue, RecordStore
from bot.render.blocks.sanitize import sanitize_text
from bot.render.conversations.answers import render_private_answer
from bot.render.conversations.notices import describe_error
from bot.render.conversations.sentences import GAVE_UP
from bot.services.questions.answer_writer import ANSWER_DRAFT_JSON, AnswerWriter
from bot.services.questions.feedback import AnswerFeedback
from bot.services.questions.thread_memory import ThreadMemories
from bot.services.slack.answers.answer import Answer
from bot.services.slack.answers.answered_request import AnsweredRequest
from bot.services.slack.answers.replies import ReplySender, log_refusal

log = logging.getLogger(__name__)

# seconds after which a thread is locked by a process that lives, not by one that died. The job of that one, which
# may be this one, can come back before its lock expires, and nobody else would take the question
_LOCK_SECONDS = LEASE.lifetime.total_seconds() + 1
# a job is retried for some minutes, and again with each further question of its thread
_MAX_ATTEMPTS = 20


class ConversationService:
    """Service that answers the questions of threads."""

    def __init__(
        self,
        question_queue: QuestionQueue,
        records: RecordStore[AnsweredRequest],
        displays: AnswerDisplays,
        memories: ThreadMemories,
        writer: AnswerWriter,
        feedback: AnswerFeedback,
        replies: ReplySender,
        now: Callable[[], datetime],
    ) -> None:
        self._question_queue = question_queue
        self._records = records
        self._displays = displays
        self._memories = memories
        self._writer = writer
        self._feedback = feedback
        self._replies = replies
        self._now = now

    def serve_thread(self, place: str) -> None:
        """Answer all waiting questions of a thread, unless a living process does: it takes these too.

        Raises:
            SlackUnavailable, StoreUnavailable: another attempt continues from there.
        """
        # a process that came while this one was about to end found the thread locked, and relies on this one
        while self._question_queue.get_first(place) is not None:
            with self._question_queue.try_lock(place, _LOCK_SECONDS) as is_ours:
                if not is_ours:
                    return
                self._serve_waiting(place)

    def _serve_waiting(self, place: str) -> None:
        while question := self._question_queue.get_first(place):
            time_limit = deadlines.bound_work(
                self._replies.response_times.question_time, waits=deadlines.MAX_WAITS
            )
            who = question.visit
            with time_limit, bill_to(name_payer(who)), identify_request(who.reference):
                self._answer_question(question)
            self._question_queue.remove_question(place, question)

    def _answer_question(self, question: Question) -> None:
        """Answer a question. Raises errors that another attempt may avoid; the asker gets all others."""
        key = _build_key(question)
        record = self._records.load(key)
        if record.is_answered:
            return
        record = self._records.save(key, record, record.count_attempt())
        # after so many failures, the questions behind this one must not wait any longer
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
        """Notify the asker of a thread's first question that there is no answer, and remove the question.

        Return that question, None if there is none. Raises SlackUnavailable, StoreUnavailable: another call
        continues.
        """
        question = self._question_queue.get_first(place)
        if question:
            self._end_question(question, _build_key(question), sentence)
            self._question_queue.remove_question(place, question)
        return question

    def _end_question(self, question: Question, key: str, sentence: str) -> None:
        """Notify the asker of a question that there is no answer, unless there is one."""
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

        def save_message(ts: str) -> None:
            self._records.save(key, record, record.record_message(ts))

        return self._displays.open_display(question.visit, key, save_message, message)

    def _show_error(self, question: Question, key: str, display: AnswerDisplay, error: Exception) -> None:
        """Show an error in place of the answer if it was begun, else to the asker alone."""
        sentence = describe_error(error, question.visit.reference)
        if self._records.load(key).message and not isinstance(error, SlackCallRefused):
            display.finish(sanitize_text(sentence), ())
        else:
            display.show_status("")
            self._replies.tell_asker(question.visit, sentence)

    def _show_answer(self, question: Question, key: str, record: AnsweredRequest, display: AnswerDisplay) -> None:
        slack_request = question.visit
        memory = self._memories.load_memory(slack_request.channel, slack_request.thread, question.ts)
        draft = ANSWER_DRAFT_JSON.load_text(record.draft_json) if record.draft_json else None
        if draft is None:
            with deadlines.reserve_time(self._replies.response_times.display_reserve):
                draft = self._writer.write_answer(question, memory, display)
            self._records.save(key, record, record.record_draft(ANSWER_DRAFT_JSON.dump_text(draft)))
        # a vote may come as soon as the buttons are shown
        begun_message = self._records.load(key).message
        if begun_message:
            self._feedback.remember_answer(slack_request.channel, begun_message, draft.inputs)
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
            if message != begun_message:
                self._feedback.remember_answer(slack_request.channel, message, draft.inputs)
        # meanwhile, something else may have been posted in the thread
        memory = self._memories.load_memory(slack_request.channel, slack_request.thread, question.ts)
        self._memories.save_memory(
            slack_request.channel, slack_request.thread, memory.add_answer(question, draft.raw_text)
        )

    def _find_earlier_message(self, question: Question, key: str) -> str:
        """Return the message of an attempt that did not record it; empty if Slack does not allow the search."""
        try:
            return self._displays.find_earlier_message(question.visit, key, question.ts)
        except SlackCallRefused as error:
            log.info("can't look into %s: %s", question.visit.channel, error)
            return ""


def _build_key(question: Question) -> str:
    return ANSWER_PROGRESS.build_key(question.visit.key, "question")
