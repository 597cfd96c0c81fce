"""Questions in threads: how they wait, what their thread remembers, and their answers, each given once.

A question waits in the queue of its thread, and one process at a time answers all that wait there, in the order of
asking. Each attempt continues where the one before ended, whatever ended it.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

from bot.app import App
from bot.dates import LocalDay
from bot.errors import (
    AnswerCancelled,
    ModelAnswerInvalid,
    ModelError,
    PrdigestError,
    SlackCallRefused,
    StoreUnavailable,
    UsageError,
)
from bot.features.glossary import explain_asked
from bot.features.merges.view import Entry
from bot.features.noise.rules import UseKind
from bot.features.questions import texts
from bot.features.questions.markdown import AnswerMarkdown, Links
from bot.features.questions.reading import ReadingSession
from bot.features.questions.rules import (
    AnswerEnd,
    Citation,
    Question,
    RememberedMessage,
    ThreadMemory,
    is_remark,
    parse_subject,
    search_by_words,
)
from bot.features.questions.tools import build_tools, describe_touches
from bot.features.questions.view import (
    ENDS,
    GLOSSARY_NOTE,
    INPUTS,
    MODEL_NOTE,
    AnswerInputs,
    AnswerOutcome,
    NumberedCitation,
    ToolExchange,
    format_search_answer,
    label_citation,
    label_remark,
    name_call,
    render_footer,
    render_private_answer,
)
from bot.features.summaries.service import note_merges
from bot.platform import deadlines
from bot.platform.correlation import identify_request
from bot.platform.costs import WorkKind, bill_to, name_payer, tally_costs
from bot.platform.deadlines import ShutdownSignal, WorkStopped
from bot.platform.jobs import JobQueue, QueueName, job
from bot.platform.markdown import sanitize_text
from bot.platform.models import Chat, ChatModel, TextDelta, TextPart, ToolCall, Turn
from bot.platform.models.agent import AgentLimits, AgentLoop, ToolEnd, ToolsStart, TurnStart
from bot.platform.models.prompts import fence_text, read_instructions
from bot.platform.models.tools import define_tools
from bot.platform.pulls.models import Reference
from bot.platform.slack.answers import Answer, AnsweredRequest
from bot.platform.slack.blocks import AnswerDisplay, TaskCard, TaskStatus
from bot.platform.slack.display import SlackAnswerDisplay
from bot.platform.slack.notices import GAVE_UP, describe_error
from bot.platform.slack.replies import log_refusal
from bot.platform.slack.requests import Audience, SlackRequest, restore_bot_text, restore_user_text
from bot.platform.store.codecs import VersionedJson
from bot.platform.store.keys import ANSWER_PROGRESS, DIGEST_RECORD, LEASE, build_thread_name
from bot.platform.store.tables import Queue, Store, Table
from bot.redaction import redact_text
from bot.text import format_count
from bot.usage import Usage
from impact.repository import Repository
from impact.text.strings import collapse_lines, truncate_text

# --- answering

# The model's citations are checked against what was read for this answer.

log = logging.getLogger(__name__)

# characters: some 14,000 tokens. A busy day's list takes half; the rest holds complete diffs, which save rounds
# of reading, and make what further questions read small compared with what the prompt cache already holds
_MAX_RECORD_LENGTH = 56_000
# for all pull requests together in a thread about single ones
_MAX_DIFF_LENGTH = 48_000
# the rest of the four minutes is for Slack, the last edit and a slow network
ANSWER_LIMITS = AgentLimits(
    rounds=7, calls=6, seconds=210.0, last_seconds=70.0, silence_seconds=25.0, prompt_tokens=400_000
)
ANSWER_VERSION = "answer.v5"
_LAST_TURN_NOTE = "No more tools: write the answer now from what you have, and say what is missing."


@dataclass(frozen=True, slots=True)
class AnswerDraft:
    text: str
    raw_text: str
    footer: Sequence[Mapping[str, Any]]
    inputs: AnswerInputs


ANSWER_DRAFT_JSON = VersionedJson(AnswerDraft, 1)


def write_answer(app: App, question: Question, memory: ThreadMemory, display: AnswerDisplay) -> AnswerDraft:
    """Write the answer to a question and show it meanwhile. Raises PrdigestError if its subject cannot be read."""
    # the time for reading before the model is asked counts too
    today, started = app.get_today(), time.monotonic()
    subject = parse_subject(memory.about, app.repositories, today, app.get_today)
    if not memory.about:
        # a conversation that no post of the bot began is about what its channel subscribed to
        profile = app.get_channel_profile(question.visit.channel, subject.repository)
        subject = replace(subject, profile=profile)
    inputs = AnswerInputs(
        question=redact_text(question.text),
        repository=str(subject.repository),
        days=str(subject.span),
        numbers=subject.numbers,
        thread=memory.messages,
    )
    if entry := explain_asked(question.text):
        inputs = replace(inputs, answer=entry, model=GLOSSARY_NOTE)
        return AnswerDraft(entry, entry, render_footer(GLOSSARY_NOTE, "", "", 0), inputs)
    session = ReadingSession(app, today, subject)
    display.show_status("is reading the pull requests…")
    record, entries = build_initial_context(session)

    def search(sentence: str, outcome: AnswerOutcome, reason: str) -> AnswerDraft:
        matching, gaps = search_by_words(question.text, entries), session.provenance.gaps
        text = format_search_answer(sentence, session.span.title, matching, gaps)
        return AnswerDraft(text, text, (), replace(inputs, answer=text, outcome=outcome, reason=reason))

    refusal = app.budget.explain_refusal(question.visit) if app.chat else "No model is set up."
    if refusal or app.chat is None:
        return search(refusal, AnswerOutcome.REFUSED, refusal)
    citations, model = Citations(session), app.settings.prdigest_answer_model
    links = Links(citations.link, session.find_address)
    try:
        turns = build_turns(record, memory, question.text, today)
        written = talk_with_model(app.chat, turns, session, links, display, started=started)
    except ModelError as error:
        log.info("no answer by the model [%s]: %s", question.visit.reference, error)
        return search(f"It gave no answer: {error}.", AnswerOutcome.FAILED, str(error))

    note, cited = ENDS[written.end].format(failure=written.failure), _list_shown(citations.cited, written.text)
    footer = render_footer(
        note,
        session.provenance.sources,
        session.provenance.gaps,
        len(citations.failed),
        # what people say proves nothing about code
        is_unproven="`" in written.text and not cited,
        # readers of a thread know it from its first answer
        author="" if memory.answered else app.sources.stands_in or MODEL_NOTE,
    )
    inputs = replace(
        inputs,
        answer=written.text,
        model=app.sources.stands_in or model,
        prompt=ANSWER_VERSION,
        rounds=written.rounds,
        usage=written.usage,
        exchanges=written.exchanges,
        citations=cited,
        quoted=_list_shown(citations.quoted, written.text),
        failed_citations=tuple(citations.failed),
        note=note,
    )
    return AnswerDraft(written.text, written.raw_text, footer, inputs)


class Citations:
    """The citations of one answer: those that hold, with the number of their pull request and their address."""

    def __init__(self, session: ReadingSession) -> None:
        self._session = session
        self.cited: dict[Citation, tuple[int, str]] = {}
        self.quoted: dict[Citation, tuple[int, str]] = {}
        self.failed: dict[Citation, None] = {}

    def link(self, citation: Citation) -> tuple[str, str] | None:
        if remark := self._session.find_remark(citation):
            label, address = label_remark(*remark)
            self.quoted[citation] = remark[0].number, address
        elif evidence := self._session.find_evidence(citation):
            label, address = label_citation(*evidence)
            self.cited[citation] = evidence[0].number, address
        else:
            self.failed[citation] = None
            return None
        return label, address


def _list_shown(citations: Mapping[Citation, tuple[int, str]], text: str) -> tuple[NumberedCitation, ...]:
    return tuple(
        NumberedCitation(each.pull, each.path, each.quote, each.line, each.is_removed, number)
        for each, (number, address) in citations.items()
        if address in text
    )


# --- what the model is asked: the same text at the beginning for each question, so that its prompt cache holds it


def build_initial_context(session: ReadingSession) -> tuple[str, tuple[Entry, ...]]:
    """Return the record of a thread's days or pull requests, and those in it. Raises PrdigestError."""
    subject, provenance = session.subject, session.provenance
    classes = session.app.paths.get_path_classes(subject.repository)
    if subject.numbers:
        entries = tuple(session.get_entry(subject.repository, number) for number in subject.numbers)
        described = []
        for entry in entries:
            packed = texts.fit_diff(entry.pull, _MAX_DIFF_LENGTH // len(entries), classes)
            provenance.add_summary(entry.number)
            provenance.add_diff(entry.pull, entry.pull.files or (), packed.left_out)
            diff = f"\nDiff ({packed.coverage}):\n{packed.text or '[no text diff]'}"
            described.append(texts.format_pull_request(entry) + ("" if entry.pull.files is None else diff))
        return fence_text("record", "\n\n".join(described)), entries
    days = session.read_days(subject.repository, subject.span)
    # as detailed as it fits
    forms = (texts.format_pull_request, texts.format_details, texts.format_line, texts.format_short_line)
    listed = texts.format_entries([texts.format_head(days)], days.entries, _MAX_RECORD_LENGTH, forms)
    diffs = texts.collect_small_diffs(days.entries, _MAX_RECORD_LENGTH - len(listed.text), classes)
    if listed.hidden_count:
        provenance.add_gap(f"{format_count(listed.hidden_count, 'pull request')} of the list (too long)")
    provenance.add_days(days.span.title + (f" with {format_count(len(diffs), 'diff')}" if diffs else ""))
    for pull, _ in diffs:
        provenance.add_unread_files(pull)
    parts = [listed.text, describe_touches(session), *(text for _, text in diffs)]
    return fence_text("record", "\n".join(filter(None, parts))), days.entries


def build_turns(record: str, memory: ThreadMemory, question: str, today: LocalDay) -> tuple[Turn, ...]:
    """Return the turns up to a question. Sides take turns and no part is blank: services accept nothing else."""
    dialogue = [Turn("person", (TextPart(record, stable=True),))]
    for message in memory.messages:
        if message.by == "person":
            dialogue.append(Turn("person", (TextPart(fence_text("question", message.text)),)))
        elif message.text.strip():
            dialogue.append(Turn("model", (TextPart(message.text),)))
    # the date comes last: the text before it stays the same for the next question
    date = TextPart(f"Today is {today.date:%A} {today.date} ({today.zone}).")
    dialogue.append(Turn("person", (TextPart(fence_text("question", question)), date)))
    turns: list[Turn] = []
    for turn in dialogue:
        if turns and turns[-1].by == turn.by:
            turns[-1] = replace(turns[-1], parts=(*turns[-1].parts, *turn.parts))
        else:
            turns.append(turn)
    return tuple(turns)


# --- the talk with the model


@dataclass(frozen=True, slots=True)
class WrittenAnswer:
    """An answer for readers and as the model wrote it, why it ends, and ``failure``, if the model broke off."""

    text: str
    raw_text: str
    end: AnswerEnd
    usage: Usage
    exchanges: tuple[ToolExchange, ...]
    rounds: int
    failure: str = ""


def talk_with_model(
    model: ChatModel,
    turns: tuple[Turn, ...],
    session: ReadingSession,
    links: Links,
    display: AnswerDisplay,
    clock: Callable[[], float] = time.monotonic,
    started: float | None = None,
    limits: AgentLimits = ANSWER_LIMITS,
) -> WrittenAnswer:
    """Answer the question at the end of ``turns``, in rounds of tools, and show the answer while it is written.

    Its time counts from ``started`` in seconds of ``clock``, or from now. Raises ModelError, with the usage,
    if there is nothing to show, and WorkStopped if the asker wanted no more by then; SlackUnavailable and
    StoreUnavailable, after which another attempt may help.
    """
    tools = build_tools(session)
    chat = Chat(
        model=session.app.settings.prdigest_answer_model,
        system=read_instructions(ANSWER_VERSION),
        tools=define_tools(tools),
        turns=turns,
        max_tokens=limits.output_tokens,
        silence=limits.silence_seconds,
        seconds=limits.seconds,
    )
    ends_at = (clock() if started is None else started) + limits.seconds
    loop = AgentLoop(model, chat, tools, limits, _LAST_TURN_NOTE, clock, session.app.sleep, ends_at)
    answer, failure = _ShownAnswer(AnswerMarkdown(links), display), ""
    try:
        end = _show_events(loop, answer)
        # the model had finished, so that its last text is complete
        answer.markdown.end_answer(is_whole=end in (AnswerEnd.COMPLETE, AnswerEnd.TRUNCATED))
    except ModelError as error:
        # if text was shown, a failure of the model ends the answer
        end, failure = AnswerEnd.BROKEN, str(error)
        answer.markdown.end_answer(is_whole=False)
        if not answer.choose_text()[0].strip():
            raise
        log.info("an answer breaks off: %s", error)
    text, raw_text = answer.choose_text()
    if not text.strip() and end is AnswerEnd.STOPPED:
        raise WorkStopped
    if not text.strip():
        raise ModelAnswerInvalid("the model wrote no answer", loop.count.usage)
    if end is AnswerEnd.COMPLETE and answer.markdown.is_cut:
        end = AnswerEnd.TOO_LONG
    return WrittenAnswer(text, raw_text, end, loop.count.usage, tuple(answer.exchanges), loop.rounds, failure)


def _show_events(loop: AgentLoop, answer: _ShownAnswer) -> AnswerEnd:
    with suppress(AnswerCancelled, WorkStopped), closing(loop.run()) as events:
        for event in events:
            match event:
                case TextDelta():
                    answer.show_piece(answer.markdown.feed(event.text))
                case ToolsStart():
                    answer.show_piece(answer.markdown.end_turn())
                    answer.begin_tasks(loop.rounds, event.calls[: loop.limits.calls])
                case ToolEnd(call, result):
                    answer.end_task(TaskStatus.FAILED if result.is_error else TaskStatus.DONE)
                    answer.exchanges.append(ToolExchange(call.name, dict(call.arguments), result.text))
                case TurnStart(is_again=True):
                    # the text shown of the interrupted turn stays until there is new text
                    answer.markdown = copy(answer.turn_start)
                case TurnStart():
                    answer.turn_start = copy(answer.markdown)
            # showing text takes time, too
            if loop.seconds_left <= 0:
                return AnswerEnd.LATE
        return AnswerEnd.TRUNCATED if loop.turn.is_cut else AnswerEnd.COMPLETE
    return AnswerEnd.STOPPED


@dataclass
class _ShownAnswer:
    """What the asker sees of an answer: more than ``markdown`` has while a repeated turn has fewer words."""

    markdown: AnswerMarkdown
    display: AnswerDisplay
    exchanges: list[ToolExchange] = field(default_factory=list)
    running: list[TaskCard] = field(default_factory=list)
    shown: str = ""
    shown_raw: str = ""

    def __post_init__(self) -> None:
        self.turn_start = copy(self.markdown)

    def begin_tasks(self, turn: int, calls: Sequence[ToolCall]) -> None:
        # services may name the calls of each turn alike
        self.running = [TaskCard(f"{turn}.{place}", name_call(call)) for place, call in enumerate(calls)]
        self.display.show_tasks(*self.running)

    def end_task(self, status: TaskStatus) -> None:
        self.display.show_tasks(replace(self.running.pop(0), status=status))

    def show_piece(self, piece: str) -> None:
        """Show what came. Raises AnswerCancelled if the asker stopped the answer."""
        if not piece:
            return
        before, self.shown, self.shown_raw = self.shown, self.markdown.shown_text, self.markdown.raw_text
        if self.shown == before + piece:
            self.display.append_text(piece)
        else:
            self.display.replace_text(self.shown)

    def choose_text(self) -> tuple[str, str]:
        """Return the text so far, or what was shown before an interruption if that is more; and its raw text."""
        text = self.markdown.shown_text
        if len(self.shown) > len(text) and self.shown.startswith(text):
            return self.shown + ("\n```" if self.shown.count("```") % 2 else ""), self.shown_raw
        return text, self.markdown.raw_text


# --- the line of a thread

# seconds after which a thread is locked by a process that lives, not by one that died. The job of that one, which
# may be this one, can come back before its lock expires, and nobody else would take the question
_LOCK_SECONDS = LEASE.lifetime.total_seconds() + 1
# seconds: a question may wait for a worker over a weekend. Later, nobody expects an answer any more
_LONGEST_WAIT = 3 * 86_400
# a job is retried for some minutes, and again with each further question of its thread
_MAX_ATTEMPTS = 20
# characters of the name of a thread's session, and of one message that is read from Slack
_MAX_TITLE = 80
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
        record = app.answered_requests.save(key, record, replace(record, answered_at=app.now()))
        if app.messenger.is_agent:
            # the process that died left its session at work, with a button that stops nothing
            _open_display(app, question, key, record).show_status("")


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

    title = truncate_text(collapse_lines(redact_text(question.text)), _MAX_TITLE) if app.messenger.is_agent else ""
    return SlackAnswerDisplay(app.slack, asker, key, save_message, message, time.monotonic, app.sleep, title)


def _show_answer(app: App, question: Question, key: str, record: AnsweredRequest, display: AnswerDisplay) -> None:
    asker = question.visit
    memory = load_memory(app, asker.channel, asker.thread, question.ts)
    draft = ANSWER_DRAFT_JSON.load_text(record.draft_json) if record.draft_json else None
    if draft is None:
        reserve = deadlines.reserve_time(app.response_times.display_reserve)
        with reserve, tally_costs() as account, suppress(WorkStopped), _end_on_stop(app, question):
            draft = write_answer(app, question, memory, display)
        if draft is None:
            inputs = AnswerInputs(question=redact_text(question.text), answer=_STOPPED, note=_STOPPED)
            draft = AnswerDraft(_STOPPED, _STOPPED, (), inputs)
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
    _note_asked(app, asker, draft.inputs)
    # meanwhile, something else may have been posted in the thread
    memory = load_memory(app, asker.channel, asker.thread, question.ts)
    app.tables.put(MEMORIES, memory.add_answer(question, draft.raw_text), asker.channel, asker.thread)


def _note_asked(app: App, asker: SlackRequest, inputs: AnswerInputs) -> None:
    """Note the areas of what an answer quotes, else of its thread's subject."""
    numbers, name = dict.fromkeys([each.number for each in inputs.citations] or inputs.numbers), inputs.repository
    references = [Reference(Repository.parse(name), number) for number in numbers if name]
    note_merges(app, asker, UseKind.ASKED, references)


def _show_error(app: App, question: Question, key: str, display: AnswerDisplay, error: Exception) -> None:
    sentence = describe_error(error, question.visit.reference)
    if app.answered_requests.load(key).message and not isinstance(error, SlackCallRefused):
        display.finish(sanitize_text(sentence), ())
    else:
        display.show_status("")
        app.replies.tell_asker(question.visit, sentence)


# --- the button that stops an answer

# seconds between two looks of an answer whether somebody stopped it, which are one read of the store each
_STOP_PAUSE = 0.5
_STOPPED = ENDS[AnswerEnd.STOPPED]


@dataclass(frozen=True, slots=True)
class StopRequest:
    """That somebody stopped the answers in a thread to what was asked before ``ts``, which is Slack's time."""

    ts: str


STOPS = Table("stopped:{channel}:{thread}", StopRequest, "that answers in a thread were stopped", days=1 / 24)


def stop_answers(tables: Store, channel: str, thread: str, ts: str) -> None:
    """Stop the answers in a thread to what was asked before Slack's time ``ts``. Raises StoreUnavailable."""
    last = tables.get(STOPS, channel, thread)
    # Slack may deliver an earlier one again
    if last is None or float(last.ts) < float(ts):
        tables.put(STOPS, StopRequest(ts), channel, thread)


@contextmanager
def _end_on_stop(app: App, question: Question) -> Iterator[None]:
    """End the block by WorkStopped soon after somebody stops its answer, whatever it waits for."""
    process, is_over = deadlines.get_limit().ending, threading.Event()
    stop = ShutdownSignal(process)

    def look() -> None:
        while not (is_over.is_set() or stop.is_triggered):
            with suppress(StoreUnavailable):
                request = app.tables.get(STOPS, question.visit.channel, question.visit.thread)
                if request and float(request.ts) > float(question.ts):
                    stop.trigger()
            is_over.wait(_STOP_PAUSE)

    with process.call_on_trigger(stop.trigger), deadlines.bound_work(math.inf, stop):
        threading.Thread(target=look, daemon=True, name="stop").start()
        try:
            yield
        finally:
            is_over.set()


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
