"""What is seen of jobs: the id of the request that each is for, its span, and the metrics of its attempts."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from threading import get_ident
from typing import Any

from dramatiq import Actor, Broker, Message, MessageProxy
from dramatiq.common import current_millis
from dramatiq.middleware import Middleware
from opentelemetry import trace
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from pydantic import TypeAdapter

from bot.platform.correlation import get_request_id, identify_request
from bot.platform.dramatiq.retries import JobInterruption, JobPostponement
from bot.platform.jobs import read_argument
from bot.platform.metrics import Instruments
from bot.platform.slack.requests import SlackRequest

log = logging.getLogger(__name__)

# the names of options in the messages of the queues; they are never changed
REQUEST_OPTION, TRACE_OPTION = "request", "trace"
# of the random id of a message: as long as a reference
_ID_LENGTH = 6
_LOST = "lost"
_PROPAGATOR = TraceContextTextMapPropagator()
_TRACER = trace.get_tracer("prdigest")
# every job that somebody asked for has this part
_ASKER_ADAPTER = TypeAdapter(SlackRequest)


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
        """Count an attempt when all is decided about its job, and end its span with the type of an error.

        The text of an error may quote what somebody wrote.
        """
        if self._instruments:
            self._instruments.jobs_running.labels(message.queue_name).dec()
            seconds = time.monotonic() - self._began.pop(get_ident(), time.monotonic())
            self._instruments.job_seconds.labels(message.actor_name).observe(seconds)
            outcome = _name_result(message, exception)
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


def read_asker(arguments: Sequence[Any]) -> SlackRequest | None:
    """Return the asker of a job from what its message carries, None if it has none.

    The rest may be unreadable: they are still told that it was given up.
    """
    return read_argument(arguments, "asker", _ASKER_ADAPTER)


def _name_result(message: MessageProxy, exception: BaseException | None) -> str:
    if message.failed:
        return _LOST
    match exception:
        case None:
            return "done"
        case JobInterruption():
            return "interrupted"
        case JobPostponement():
            return "postponed"
        case _:
            return "retried"
