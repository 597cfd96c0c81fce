"""The queues of a store, with an actor for each kind of job, and what is seen of jobs: ids, spans, metrics."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from threading import get_ident
from typing import Any

from dramatiq import Actor, Broker, BrokerError, Message, MessageProxy, Worker
from dramatiq.common import current_millis
from dramatiq.middleware import Middleware
from opentelemetry import trace
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from redis import Redis

from bot.app import App
from bot.errors import StoreUnavailable, UsageError
from bot.features.questions.service import abandon_question, answer_questions
from bot.features.subscriptions.incidents import Incident, IncidentKind, report_incident
from bot.platform import deadlines
from bot.platform.correlation import get_request_id, identify_request
from bot.platform.costs import bill_to, name_payer
from bot.platform.deadlines import ShutdownSignal
from bot.platform.dramatiq.broker import (
    JobInterruption,
    JobPostponement,
    LossReason,
    LostJob,
    make_broker,
    wrap_job,
)
from bot.platform.jobs import JOBS, MINUTE, Job, JobQueue, JobRetries, QueueName, job, read_asker
from bot.platform.metrics import Instruments
from bot.platform.slack.answers import Answer
from bot.platform.slack.blocks import Post
from bot.platform.slack.directory import WELCOMES, Welcome
from bot.platform.slack.notices import (
    GAVE_UP,
    SET_ASIDE,
    Greeting,
    HelpExample,
    render_ask_window,
    render_greeting,
    render_notice,
)
from bot.platform.slack.replies import ModalPresenter, find_permalink
from bot.platform.slack.requests import Audience, SlackRequest
from bot.platform.store.connection import Keyspace, translate_redis_errors
from bot.platform.store.tables import Log, Store
from bot.usage import BudgetRefusal

log = logging.getLogger(__name__)

# days of a busy repository that were never read take minutes; such jobs don't keep the quick ones waiting
_LONG_THREADS = 2
# milliseconds between two looks of a thread whether it is to end, and whether a job that waits is due
_POLL_MILLISECONDS = 200
# the names of options in the messages of the queues; they are never changed
REQUEST_OPTION, TRACE_OPTION = "request", "trace"
# of the random id of a message: as long as a reference
_ID_LENGTH = 6
_LOST = "lost"
_PROPAGATOR = TraceContextTextMapPropagator()
_TRACER = trace.get_tracer("prdigest")


@dataclass(frozen=True, slots=True)
class JobTimeLimits:
    """Time limits for one attempt of a job, in seconds.

    The asker of a ``quick`` job is told its result within that time. A day of a busy repository that was never
    read takes a minute, and an overview has up to fourteen days (``long``). Each question in a thread has a time
    limit of its own, so their job has none. A job with a delay begins after ``delay_factor`` times that delay.
    """

    quick: float = 120.0
    long: float = 1_200.0
    delay_factor: float = 1.0

    def get_time_limit(self, lane: QueueName) -> float:
        return {QueueName.QUICK: self.quick, QueueName.LONG: self.long, QueueName.TALK: math.inf}[lane]


class DramatiqJobQueue:
    """``JobQueue`` on a store, with an actor for each kind of job that is declared by now. Workers run the jobs.

    ``app`` does the jobs; a process that only sends has none here. ``shutdown`` interrupts running jobs, which go
    back to their queues. ``instruments`` count them.
    """

    def __init__(
        self,
        store: Redis,
        keyspace: Keyspace,
        app: App | None = None,
        shutdown: ShutdownSignal | None = None,
        times: JobTimeLimits = JobTimeLimits(),
        instruments: Instruments | None = None,
    ) -> None:
        self._app = app
        self._shutdown = shutdown or ShutdownSignal()
        self._times = times
        report = partial(enqueue_loss_report, self)
        self._brokers = {
            lane: make_broker(store, report, keyspace, JobObserver(instruments)) for lane in QueueName
        }
        if app:
            # what a job enqueues goes on the same queues
            app.jobs = self
        self._actors = {each.name: self._make_actor(each) for each in JOBS}

    def send(self, job: Job[Any], payload: dict[str, Any]) -> None:
        """Enqueue a job. Raises StoreUnavailable."""
        delay = round(job.delay * self._times.delay_factor) or None
        try:
            with translate_redis_errors():
                self._actors[job.name].send_with_options(args=(job.encode(payload),), delay=delay)
        except BrokerError as error:
            raise StoreUnavailable("The store does not accept jobs: start Redis or check REDIS_URL.") from error

    def make_workers(self, threads: int) -> tuple[Worker, ...]:
        """Create the workers: ``threads`` for quick jobs, as many for questions, two for long jobs."""
        counts = {QueueName.QUICK: threads, QueueName.TALK: threads, QueueName.LONG: _LONG_THREADS}
        return tuple(
            Worker(self._brokers[lane], worker_threads=count, worker_timeout=_POLL_MILLISECONDS)
            for lane, count in counts.items()
        )

    def close(self) -> None:
        for broker in self._brokers.values():
            broker.close()

    def _make_actor(self, kind: Job[Any]) -> Actor[Any, None]:
        def work(*arguments: Any) -> None:
            app, asker = self._app, read_asker(arguments)
            if app is None:
                raise RuntimeError("this process has nothing to run jobs with")
            try:
                known = asker and app.identify(asker)
            except UsageError as error:
                # who opened App Home or invited the bot asked for nothing
                if asker and (asker.message or asker.response_url):
                    app.replies.tell_asker(asker, str(error))
                return
            # at the cost of the asker or, without one, of the bot; a spent budget is told once a day
            with bill_to(name_payer(known) if known else "") as account:
                try:
                    payload = kind.decode(arguments)
                    if known:
                        kind.run(app.serve(known.user), **payload | {"asker": known})
                    else:
                        kind.run(app, **payload)
                except UsageError as error:
                    # the settings allowed it when it was enqueued, and no longer do
                    if known is None:
                        raise
                    app.replies.tell_asker(known, str(error))
            if known and BudgetRefusal.PERSON_USED in account.refusals:
                app.replies.report_spent_budget(known, app.get_today())

        work.__name__ = kind.name
        # Dramatiq's own time limit does not work in workers that share a process, and can't interrupt a thread
        # that waits for another one
        limit_time = partial(
            deadlines.bound_work, self._times.get_time_limit(kind.lane), self._shutdown, deadlines.MAX_WAITS
        )
        retries = {"max_retries": kind.retries.max_retries, "min_backoff": kind.retries.first_pause}
        if kind.retries.longest_pause is not None:
            retries["max_backoff"] = kind.retries.longest_pause
        return Actor(
            wrap_job(work, limit_time),
            broker=self._brokers[kind.lane],
            actor_name=kind.name,
            queue_name=kind.lane.value,
            priority=0,
            options=retries,
        )


# --- what is seen of jobs


class JobObserver(Middleware):
    """Middleware that gives the work of a job its request's id and trace, and counts attempts on ``instruments``.

    A job without an asker that no other work enqueued, such as a scheduled digest, gets an id of its own. A span
    costs next to nothing without a collector.
    """

    def __init__(self, instruments: Instruments | None = None) -> None:
        self._instruments = instruments
        # by thread, not by message: a job that is put back may begin in another thread before it ends in this one
        self._open: dict[int, ExitStack] = {}
        self._began: dict[int, float] = {}

    def after_declare_actor(self, broker: Broker, actor: Actor[Any, Any]) -> None:
        """Begin to count the lost jobs of a kind at zero: the first one is an increase that an alarm sees."""
        if self._instruments:
            self._instruments.jobs.labels(actor.actor_name, _LOST)

    def before_enqueue(self, broker: Broker, message: Message[Any], delay: int | None) -> None:
        """Note id and trace, unless the job has them: one that is put back keeps its own."""
        if REQUEST_OPTION not in message.options:
            message.options[REQUEST_OPTION] = get_request_id() or name_request(message)
            with identify_request(name_request(message)):
                log.info("job %s goes to its queue", message.actor_name)
        carrier: dict[str, str] = {}
        _PROPAGATOR.inject(carrier)
        if carrier:
            message.options.setdefault(TRACE_OPTION, carrier)
        trace.get_current_span().set_attribute("prdigest.request_id", get_request_id())

    def before_process_message(self, broker: Broker, message: MessageProxy) -> None:
        """Give the id and a span to what this thread does from now on; of a new job note how long it waited."""
        carrier = message.options.get(TRACE_OPTION)
        origin = _PROPAGATOR.extract(carrier if isinstance(carrier, Mapping) else {})
        with ExitStack() as context:
            context.enter_context(identify_request(name_request(message)))
            attributes = {"prdigest.job": message.actor_name, "prdigest.request_id": get_request_id()}
            context.enter_context(
                _TRACER.start_as_current_span(
                    f"job {message.actor_name}", origin, trace.SpanKind.CONSUMER, attributes
                )
            )
            self._open[get_ident()] = context.pop_all()
        self._began[get_ident()] = time.monotonic()
        if self._instruments:
            self._instruments.jobs_running.labels(message.queue_name).inc()
            if not message.options.keys() & {"eta", "retries"}:
                # another machine may have enqueued it, whose clock may be ahead
                waited = max(0, current_millis() - message.message_timestamp)
                self._instruments.job_wait_seconds.labels(message.queue_name).observe(waited / 1_000)

    def after_process_message(
        self, broker: Broker, message: MessageProxy, *, result: Any = None, exception: BaseException | None = None
    ) -> None:
        """Count an attempt and end its span with the type of an error, whose text may quote somebody."""
        if self._instruments:
            self._instruments.jobs_running.labels(message.queue_name).dec()
            seconds = time.monotonic() - self._began.pop(get_ident(), time.monotonic())
            self._instruments.job_seconds.labels(message.actor_name).observe(seconds)
            match exception:
                case _ if message.failed:
                    outcome = _LOST
                case None:
                    outcome = "done"
                case JobInterruption():
                    outcome = "interrupted"
                case JobPostponement():
                    outcome = "postponed"
                case _:
                    outcome = "retried"
            self._instruments.jobs.labels(message.actor_name, outcome).inc()
            log.info("job %s: %s after %.1f s", message.actor_name, outcome, seconds)
        if exception is not None:
            trace.get_current_span().set_status(trace.StatusCode.ERROR, type(exception).__name__)
        self.after_skip_message(broker, message)

    def after_skip_message(self, broker: Broker, message: MessageProxy) -> None:
        """Take id and span away, also from a job that another middleware skips."""
        self._open.pop(get_ident(), ExitStack()).close()


def name_request(message: Message[Any] | MessageProxy) -> str:
    """Return the id of the request that a message is for, made from its asker or itself if it names none."""
    named = message.options.get(REQUEST_OPTION)
    if isinstance(named, str) and named:
        return named
    asker = read_asker(message.args)
    return asker.reference if asker else str(message.message_id)[:_ID_LENGTH]


# --- jobs of askers


@job("tell")
def send_private_notice(app: App, asker: SlackRequest, sentence: str) -> None:
    app.replies.tell_asker(asker, sentence)


@job("say")
def post_public_notice(app: App, asker: SlackRequest, sentence: str) -> None:
    answer = Answer.for_asker(render_notice(sentence))
    app.replies.give_answer(asker, "say", Audience.CHANNEL, lambda: answer)


@job("greet")
def send_greeting(app: App, asker: SlackRequest, why: Greeting, examples: tuple[HelpExample, ...]) -> None:
    """Send a greeting with help. A user of the direct messages gets it once, also without a message."""
    answer = Answer.for_asker(render_greeting(why, app.repositories.default, examples))
    if asker.message or not asker.is_direct:
        app.replies.give_answer(asker, "greeting", Audience.HERE, lambda: answer)
    else:
        app.replies.give_answer(asker, "greeting", Audience.CHANNEL, lambda: answer)
        app.tables.put(WELCOMES, Welcome(app.now()), asker.user)


@job("help")
def send_help(app: App, asker: SlackRequest, text: str) -> None:
    block = {"type": "section", "text": {"type": "mrkdwn", "text": text}}
    answer = Answer.for_asker(Post(text, (block,)))
    app.replies.give_answer(asker, "help", Audience.HERE, lambda: answer)


@job("ask_hint")
def explain_asking(app: App, asker: SlackRequest) -> None:
    """Show the asker how to ask about the message whose button they pressed, with its address if Slack gives it.

    A window is seen wherever the message is: a hint would stand at the end of the channel, or in a closed thread.
    """
    window = render_ask_window(find_permalink(app.messenger, asker.channel, asker.message))
    ModalPresenter(app.views, app.replies).open_modal(asker, asker.trigger, window)


# --- lost jobs

# as long as Dramatiq keeps their messages; for who reads what the doctor lists
LOST_JOBS = Log("lost", LostJob, "jobs that were set aside", length=50, days=7)

# clauses about a job, for operators, and what its asker reads
_REASONS = {
    LossReason.FAILED: "the last try failed; the worker's log says why",
    LossReason.ENDLESS: "it crashed three times and is not run again; prdigest doctor lists it for a week",
}
_SENTENCES = {LossReason.FAILED: GAVE_UP, LossReason.ENDLESS: SET_ASIDE}


# Slack may be away for hours, and nothing else says to the asker that nothing comes: ten to twenty hours in all,
# less than the day for which it is known what was answered
@job("end", retries=JobRetries(70, longest_pause=20 * MINUTE))
def announce_loss(app: App, lost: LostJob, asker: SlackRequest | None = None, place: str = "") -> None:
    """Tell the asker, once, that a job was given up, or who asked first in the thread, and then operators."""
    sentence, reason = _SENTENCES[lost.loss], _REASONS[lost.loss]
    if place:
        question = abandon_question(app, place, sentence)
        asker = question.visit if question else None
    elif asker:
        app.replies.end_job(asker, lost.id, f"{sentence} [{asker.reference}]")
    if asker:
        lost = replace(lost, user=asker.user, channel=asker.channel, reference=asker.reference)
    log.error("%s is given up: %s", lost.title, reason)
    if lost.loss is LossReason.ENDLESS:
        app.tables.append(LOST_JOBS, lost)
    report_incident(
        app, Incident(f"job:{lost.id}", IncidentKind.LOST, lost.title, reason, lost.at, None, lost.channel)
    )
    if place:
        answer_questions.send_to(app.jobs, place)


def enqueue_loss_report(jobs: JobQueue, message: MessageProxy, loss: LossReason) -> None:
    """Enqueue the report that a job was given up. Slack may not accept it at this moment."""
    if message.actor_name == announce_loss.name:
        lost = announce_loss.read_argument(message.args, "lost")
        log.error("nobody could be told that a job was given up: %s", lost.name if lost else "")
        return
    lost = LostJob(message.message_id, message.actor_name, loss, datetime.now(UTC))
    is_talk = message.actor_name == answer_questions.name
    place = answer_questions.read_argument(message.args, "place") if is_talk else None
    announce_loss.send_to(jobs, lost, read_asker(message.args), place or "")


def list_lost_jobs(tables: Store, now: datetime) -> Sequence[LostJob]:
    """List the jobs that were given up in the last week, the latest first. One that was told twice is one."""
    kept, since = dict.fromkeys(tables.list_recent(LOST_JOBS, LOST_JOBS.length)), now - timedelta(days=7)
    return sorted((job for job in kept if job.at > since), key=lambda job: job.at, reverse=True)
