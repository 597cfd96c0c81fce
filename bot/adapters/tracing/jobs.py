"""Spans of jobs: the message of a job carries the trace of whatever enqueued it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from threading import get_ident
from typing import Any

from dramatiq import Broker, Message, MessageProxy
from dramatiq.middleware import Middleware
from opentelemetry import trace
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from bot.platform.correlation import get_request_id

# the name of the option in the messages of the queues; it is never changed
TRACE_OPTION = "trace"
_PROPAGATOR = TraceContextTextMapPropagator()
_TRACER = trace.get_tracer("prdigest")


class JobTracing(Middleware):
    """Middleware that makes a span of each attempt of a job, within the trace of its request."""

    def __init__(self) -> None:
        # by thread, not by message: a job that is put back may begin in another thread before it ends in this one
        self._open: dict[int, ExitStack] = {}

    def before_enqueue(self, broker: Broker, message: Message[Any], delay: int | None) -> None:
        """Note the trace, unless the job has one: a job that is put back keeps its own."""
        carrier: dict[str, str] = {}
        _PROPAGATOR.inject(carrier)
        if carrier:
            message.options.setdefault(TRACE_OPTION, carrier)
        trace.get_current_span().set_attribute("prdigest.request_id", get_request_id())

    def before_process_message(self, broker: Broker, message: MessageProxy) -> None:
        """Begin the span of an attempt."""
        carrier = message.options.get(TRACE_OPTION)
        origin = _PROPAGATOR.extract(carrier if isinstance(carrier, Mapping) else {})
        attributes = {"prdigest.job": message.actor_name, "prdigest.request_id": get_request_id()}
        with ExitStack() as context:
            context.enter_context(
                _TRACER.start_as_current_span(
                    f"job {message.actor_name}", origin, trace.SpanKind.CONSUMER, attributes
                )
            )
            self._open[get_ident()] = context.pop_all()

    def after_process_message(
        self, broker: Broker, message: MessageProxy, *, result: Any = None, exception: BaseException | None = None
    ) -> None:
        """End the span, with the type of the error if there was one: its text may quote what somebody wrote."""
        if exception is not None:
            trace.get_current_span().set_status(trace.StatusCode.ERROR, type(exception).__name__)
        self._close()

    def after_skip_message(self, broker: Broker, message: MessageProxy) -> None:
        """End the span of a job that another middleware skips."""
        self._close()

    def _close(self) -> None:
        self._open.pop(get_ident(), ExitStack()).close()
