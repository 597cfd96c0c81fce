"""Questions in threads: how they wait, what their thread remembers, and their answers, each given once.

A question waits in the queue of its thread, and one process at a time answers all that wait there, in the order of
asking. Each attempt continues where the one before ended, whatever ended it.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, replace

from bot.app import App
from bot.errors import PrdigestError, SlackCallRefused, UsageError
from bot.features.questions.answers import ANSWER_DRAFT_JSON, write_answer
from bot.features.questions.rules import Question, RememberedMessage, ThreadMemory, is_remark
from bot.features.questions.view import render_private_answer
from bot.features.questions.votes import INPUTS
from bot.platform import deadlines
from bot.platform.correlation import identify_request
from bot.platform.costs import WorkKind, bill_to, name_payer, tally_costs
from bot.platform.jobs import JobQueue, QueueName, job
from bot.platform.markdown import sanitize_text
from bot.platform.slack.answers import Answer, AnsweredRequest
from bot.platform.slack.display import SlackAnswerDisplay
from bot.platform.slack.messages import AnswerDisplay
from bot.platform.slack.notices import GAVE_UP, describe_error
from bot.platform.slack.replies import log_refusal
from bot.platform.slack.requests import Audience, SlackRequest, restore_bot_text, restore_user_text
from bot.platform.store.keys import ANSWER_PROGRESS, DIGEST_RECORD, LEASE, build_thread_name
from bot.platform.store.tables import Queue, Store, Table
from impact.text.strings import truncate_text

log = logging.getLogger(__name__)

# seconds after which a thread is locked by a process that lives, not by one that died. The job of that one, which
# may be this one, can come back before its lock expires, and nobody else would take the question
_LOCK_SECONDS = LEASE.lifetime.total_seconds() + 1
# seconds: a question may wait for a worker over a weekend. Later, nobody expects an answer any more
_LONGEST_WAIT = 3 * 86_400
# a job is retried for some minutes, and again with each further question of its thread
_MAX_ATTEMPTS = 20
# characters of one message that is read from Slack
_MAX_MESSAGE_LENGTH = 4_000


@dataclass(frozen=True, slots=True)
class Attention:
    is_on: bool


# durable: answers are owed since the questions were acknowledged, and a full store may evict what expires
QUESTIONS = Queue("waiting:{thread}", Question, "questions, by the time of asking", outlives_message=True)
MEMORIES = Table("thread:{channel}:{thread}", ThreadMemory, "what was said in a thread")
# only of threads that were muted, or started with a question to the bot
ATTENTION = Table("attention:{channel}:{thread}", Attention, "whether a thread is muted", outlives_message=True)


def is_listening(tables: Store, channel: str, thread: str, *, is_own: bool) -> bool:
    """Return whether replies without a mention are for the bot; ``is_own``: the bot started the thread."""
    attention = tables.get(ATTENTION, channel, thread)
    return attention.is_on if attention else is_own


def enqueue_question(tables: Store, jobs: JobQueue, question: Question) -> None:
    """Let a question wait for its turn in its thread, once however often it comes. Raises StoreUnavailable."""
    place, asked = build_thread_name(question.visit.channel, question.visit.thread), float(question.ts)
    tables.enqueue(QUESTIONS, question, asked, place, least=asked - _LONGEST_WAIT)
    answer_questions.send_to(jobs, place)


@job("questions", QueueName.TALK)
def answer_questions(app: App, place: str) -> None:
    """Answer what waits in a thread (``channel:thread``), unless a living process does: that takes all."""
    # a process that came while this one was about to end found the thread locked, and relies on this one
    while app.tables.get_first(QUESTIONS, place) is not None:
        with app.tables.try_lease(QUESTIONS, place, seconds=_LOCK_SECONDS) as is_ours:
            if not is_ours:
                return
            while question := app.tables.get_first(QUESTIONS, place):
                limit = deadlines.bound_work(app.response_times.question_time, waits=deadlines.MAX_WAITS)
                asker = question.visit
                with limit, identify_request(asker.reference):
                    _answer_for_asker(app, question)
                app.tables.remove_score(QUESTIONS, float(question.ts), place)


def _answer_for_asker(app: App, question: Question) -> None:
    try:
        asker = app.identify(question.visit)
    except UsageError as error:
        app.replies.tell_asker(question.visit, str(error))
        return
    with bill_to(name_payer(asker)):
        _answer_question(app.serve(asker.user), replace(question, visit=asker))


def abandon_question(app: App, place: str, sentence: str) -> Question | None:
    """Notify the asker of a thread's first question that there is no answer; remove and return the question."""
    question = app.tables.get_first(QUESTIONS, place)
    if question:
        _end_question(app, question, _build_key(question), sentence)
        app.tables.remove_score(QUESTIONS, float(question.ts), place)
    return question


def _build_key(question: Question) -> str:
    return ANSWER_PROGRESS.build_key(question.visit.key, "question")


def _end_question(app: App, question: Question, key: str, sentence: str) -> None:
    reference = question.visit.reference
    log.error("a question is given up [%s]", reference)
    record = app.answered_requests.load(key)
    if not record.answered_at:
        app.replies.tell_asker(question.visit, f"{sentence} [{reference}]")
        app.answered_requests.save(key, record, replace(record, answered_at=app.now()))


def _answer_question(app: App, question: Question) -> None:
    """Answer a question. Raises errors that another attempt may avoid; the asker gets all others."""
    key, asker = _build_key(question), question.visit
    record = app.answered_requests.load(key)
    if record.answered_at:
        return
    record = app.answered_requests.save(key, record, replace(record, attempts=record.attempts + 1))
    # after so many failures, the questions behind this one must not wait any longer
    if record.attempts > _MAX_ATTEMPTS:
        _end_question(app, question, key, GAVE_UP)
        return
    display = _open_display(app, question, key, record)
    try:
        _show_answer(app, question, key, record, display)
    except PrdigestError as error:
        if app.replies.may_retry(asker, error):
            raise
        log_refusal(asker, error)
        _show_error(app, question, key, display, error)
    except Exception as error:
        log.exception("a defect [%s]", asker.reference)
        _show_error(app, question, key, display, error)
    app.answered_requests.save(key, record, replace(record, answered_at=app.now()))


def _open_display(app: App, question: Question, key: str, record: AnsweredRequest) -> AnswerDisplay:
    asker, message = question.visit, record.message
    if record.begun_at and not message:
        # an earlier attempt may have begun one and not recorded it
        try:
            message = app.messenger.find_begun_answer(asker.channel, asker.thread, key, question.ts)
        except SlackCallRefused as error:
            log.info("can't look into %s: %s", asker.channel, error)
        if message:
            record = app.answered_requests.save(key, record, replace(record, message=message))
    if record.begun_at is None:
        record = app.answered_requests.claim(key, record, replace(record, begun_at=app.now()))

    def save_message(ts: str) -> None:
        app.answered_requests.save(key, record, replace(record, message=ts))

    return SlackAnswerDisplay(app.slack, asker, key, save_message, message, time.monotonic, app.sleep)


def _show_answer(app: App, question: Question, key: str, record: AnsweredRequest, display: AnswerDisplay) -> None:
    asker = question.visit
    memory = load_memory(app, asker.channel, asker.thread, question.ts)
    draft = ANSWER_DRAFT_JSON.load_text(record.draft_json) if record.draft_json else None
    if draft is None:
        with deadlines.reserve_time(app.response_times.display_reserve), tally_costs() as account:
            draft = write_answer(app, question, memory, display)
        app.budget.add_work(WorkKind.ANSWER, account.expense)
        app.answered_requests.save(key, record, replace(record, draft_json=ANSWER_DRAFT_JSON.dump_text(draft)))
    # a vote may come as soon as the buttons are shown
    begun_message = app.answered_requests.load(key).message
    if begun_message:
        app.tables.put(INPUTS, draft.inputs, asker.channel, begun_message)
    try:
        message = display.finish(draft.text, draft.footer)
    except SlackCallRefused as error:
        log.info("no answer in %s, the asker gets it [%s]: %s", asker.channel, asker.reference, error)
        display.show_status("")
        private = Answer.for_asker(render_private_answer(draft.text, draft.footer))
        app.replies.give_answer(asker, "private", Audience.ASKER, lambda: private)
    else:
        if message != begun_message:
            app.tables.put(INPUTS, draft.inputs, asker.channel, message)
    # meanwhile, something else may have been posted in the thread
    memory = load_memory(app, asker.channel, asker.thread, question.ts)
    app.tables.put(MEMORIES, memory.add_answer(question, draft.raw_text), asker.channel, asker.thread)


def _show_error(app: App, question: Question, key: str, display: AnswerDisplay, error: Exception) -> None:
    sentence = describe_error(error, question.visit.reference)
    if app.answered_requests.load(key).message and not isinstance(error, SlackCallRefused):
        display.finish(sanitize_text(sentence), ())
    else:
        display.show_status("")
        app.replies.tell_asker(question.visit, sentence)


# --- what a thread remembers


def load_memory(app: App, channel: str, thread: str, until: str) -> ThreadMemory:
    """Return the memory of a thread; if there is none, build it from its messages in Slack before ``until``."""
    if memory := app.tables.get(MEMORIES, channel, thread):
        return memory
    try:
        messages = app.messenger.list_messages(channel, thread)
    except SlackCallRefused as error:
        log.info("the thread is not read, its memory begins without it: %s", error)
        messages = []
    earlier = [message for message in messages if float(message.ts) < float(until)]
    memory = ThreadMemory(next((message.about for message in earlier if message.is_own and message.about), ""))
    for place, message in enumerate(earlier):
        text = restore_bot_text(message.text) if message.is_own else restore_user_text(message.text)
        if message.is_own:
            # the record has what began the thread, and the parts of a digest
            is_left_out = place == 0 or DIGEST_RECORD.has_key(message.key)
            # the text of an answer to a command is only for notifications
            text = _describe_post(message.about, text) if message.about else text
        else:
            is_left_out = is_remark(message.text)
        if text and not is_left_out:
            text = truncate_text(text, _MAX_MESSAGE_LENGTH)
            memory = memory.add_messages(RememberedMessage("bot" if message.is_own else "person", text))
    app.tables.put(MEMORIES, memory, channel, thread)
    return memory


def note_post(app: App, asker: SlackRequest, about: str, text: str) -> None:
    """Remember a post of the bot that is no answer. A thread without memory gets it later, from Slack."""
    memory = app.tables.get(MEMORIES, asker.channel, asker.thread)
    if memory is not None:
        memory = memory.add_messages(RememberedMessage("bot", _describe_post(about, text)))
        app.tables.put(MEMORIES, memory, asker.channel, asker.thread)


def _describe_post(about: str, text: str) -> str:
    return f"[The bot posted: {about}] {text}".strip()
