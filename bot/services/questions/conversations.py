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
from bot.domain.keyspace.keys import ANSWER
from bot.ports import AnswerDisplay, AnswerDisplays, Line, RecordStore
from bot.render.blocks.sanitize import sanitize_text
from bot.render.conversations.answers import render_private_answer
from bot.render.conversations.notices import GAVE_UP, describe_error
from bot.services.operations import deadlines
from bot.services.operations.payer import bill_to, name_payer
from bot.services.questions.answer_writer import Draft, Writer
from bot.services.questions.feedback import Votes
from bot.services.questions.thread_memory import Memories
from bot.services.slack.answered_request import AnsweredRequest
from bot.services.slack.replies import Answer, Replies, log_refusal

log = logging.getLogger(__name__)

# a job is tried for some minutes, and again with each further question of its thread
_MOST_TRIES = 20


class Conversations:
    """Serves threads."""

    def __init__(
        self,
        line: Line,
        records: RecordStore[AnsweredRequest],
        displays: AnswerDisplays,
        memories: Memories,
        writer: Writer,
        votes: Votes,
        replies: Replies,
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

    def serve(self, place: str) -> None:
        """Answer all that waits in a thread, unless another process is at it: it takes these questions too.

        Raises:
            SlackUnavailable, StoreUnavailable: trying again goes on from there.
        """
        # whoever joined while we were about to leave found the place taken, and relies on us
        while self._line.first(place) is not None:
            with self._line.serve(place) as is_ours:
                if not is_ours:
                    return
                self._serve(place)

    def _serve(self, place: str) -> None:
        while question := self._line.first(place):
            limited = deadlines.bound_work(self._replies.promises.question_time, waits=deadlines.MAX_WAITS)
            with limited, bill_to(name_payer(question.visit)):
                self._answer(question)
            self._line.leave(place, question)

    def _answer(self, question: Question) -> None:
        """Raises what trying again may mend; all else the asker is told."""
        key = _key(question)
        record = self._records.load(key)
        if record.is_answered:
            return
        record = self._records.save(key, record, record.count_try())
        # Slack failed so often that those who wait behind it shall wait no longer
        if record.tries > _MOST_TRIES:
            self._end(question, key, GAVE_UP)
            return
        display = self._opened(question, key, record)
        try:
            self._show(question, key, record, display)
        except PrdigestError as error:
            if self._replies.is_for_later(question.visit, error):
                raise
            log_refusal(question.visit, error)
            self._regret(question, key, display, error)
        except Exception as error:
            log.exception("a defect [%s]", question.visit.reference)
            self._regret(question, key, display, error)
        self._records.save(key, record, record.complete(self._now()))

    def give_up(self, place: str, sentence: str) -> Question | None:
        """Tell whoever is first in a thread that there will be no answer, and let the next one come up.

        Gives that question, if there is one. Raises SlackUnavailable, StoreUnavailable: again goes on.
        """
        question = self._line.first(place)
        if question:
            self._end(question, _key(question), sentence)
            self._line.leave(place, question)
        return question

    def _end(self, question: Question, key: str, sentence: str) -> None:
        """Tell its asker that there is no answer, unless there is one."""
        reference = question.visit.reference
        log.error("a question is given up [%s]", reference)
        record = self._records.load(key)
        if not record.is_answered:
            self._replies.tell(question.visit, f"{sentence} [{reference}]")
            self._records.save(key, record, record.complete(self._now()))

    def _opened(self, question: Question, key: str, record: AnsweredRequest) -> AnswerDisplay:
        message = record.message
        if record.begun_at and not message:
            message = self._begun_before(question, key)
            if message:
                record = self._records.save(key, record, record.record_message(message))
        if record.begun_at is None:
            record = self._records.claim(key, record, record.begin(self._now()))

        def keep(ts: str) -> None:
            self._records.save(key, record, record.record_message(ts))

        return self._displays.open_display(question.visit, key, keep, message)

    def _regret(self, question: Question, key: str, display: AnswerDisplay, error: Exception) -> None:
        """What went wrong, in the place of an answer that was begun, else to the asker alone."""
        said = describe_error(error, question.visit.reference)
        if self._records.load(key).message and not isinstance(error, SlackCallRefused):
            display.finish(sanitize_text(said), ())
        else:
            display.show_status("")
            self._replies.tell(question.visit, said)

    def _show(self, question: Question, key: str, record: AnsweredRequest, display: AnswerDisplay) -> None:
        visit = question.visit
        memory = self._memories.of(visit.channel, visit.thread, question.ts)
        draft = _loaded(record.draft_json) if record.draft_json else None
        if draft is None:
            with deadlines.reserve_time(self._replies.promises.display_reserve):
                draft = self._writer.write(question, memory, display)
            self._records.save(key, record, record.record_draft(_dumped(draft)))
        # a thumb may be pressed in the moment in which it is there
        begun = self._records.load(key).message
        if begun:
            self._votes.remember(visit.channel, begun, draft.inputs)
        try:
            message = display.finish(draft.text, draft.below)
        except SlackCallRefused as error:
            log.info("no answer in %s, the asker gets it [%s]: %s", visit.channel, visit.reference, error)
            display.show_status("")
            private = Answer.for_asker(render_private_answer(draft.text, draft.below))
            self._replies.give(visit, "private", Audience.ASKER, lambda: private)
        else:
            if message != begun:
                self._votes.remember(visit.channel, message, draft.inputs)
        # something else may have been posted in the thread meanwhile
        memory = self._memories.of(visit.channel, visit.thread, question.ts)
        self._memories.keep(visit.channel, visit.thread, memory.with_answer(question, draft.said))

    def _begun_before(self, question: Question, key: str) -> str:
        """The message of a try that ended before it could say so. Who may not look begins a new one."""
        try:
            return self._displays.find_earlier_message(question.visit, key, question.ts)
        except SlackCallRefused as error:
            log.info("can't look into %s: %s", question.visit.channel, error)
            return ""


def _key(question: Question) -> str:
    return ANSWER.key(question.visit.key, "question")


def _dumped(draft: Draft) -> str:
    found = {"text": draft.text, "said": draft.said, "below": list(draft.below), "inputs": dict(draft.inputs)}
    return json.dumps(found, default=str)


def _loaded(text: str) -> Draft:
    found: dict[str, Any] = json.loads(text)
    below: Sequence[Mapping[str, Any]] = found["below"]
    return Draft(found["text"], found["said"], below, found["inputs"])
