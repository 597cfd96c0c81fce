"""Traces for OpenTelemetry: spans of requests and jobs, and their export to a collector, over HTTP.

Without a collector every span costs next to nothing. The message of a job carries the trace of what enqueued it.

The spans of model calls are those of the vendor's SDK, and those of GitHub calls are made by the official
instrumentation of ``requests``. Calls to Slack have none: their addresses may be secrets.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from importlib.metadata import version
from importlib.util import find_spec
from threading import get_ident
from typing import Any

from dramatiq import Broker, Message, MessageProxy
from dramatiq.middleware import Middleware
from opentelemetry import propagate, trace
from opentelemetry.propagators.composite import CompositePropagator
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from bot.platform.correlation import get_request_id

# what a person does where the SDK is missing
EXTRA_HINT = "Install the extra with `uv sync --no-dev --extra otel`, or unset OTEL_EXPORTER_OTLP_ENDPOINT."
_PACKAGES = (
    "opentelemetry.sdk",
    "opentelemetry.exporter.otlp.proto.http",
    "opentelemetry.instrumentation.requests",
)
# seconds for the last spans at the end of a process; a collector that is away must not keep it alive
_FLUSH_SECONDS = 2.0
# the name of the option in the messages of the queues; it is never changed
TRACE_OPTION = "trace"
_PROPAGATOR = TraceContextTextMapPropagator()
_TRACER = trace.get_tracer("prdigest")


def has_exporter() -> bool:
    """Return whether the packages of the extra ``otel`` are installed."""
    return all(_is_installed(package) for package in _PACKAGES)


def _is_installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:
        # a parent of it is missing
        return False


@contextmanager
def trace_process(endpoint: str, process: str) -> Iterator[None]:
    """Send the spans of this process to the collector at ``endpoint`` until the end of the block.

    The environment may name the service, the sampler and headers, as OpenTelemetry's specification says. This sets
    the provider of the whole process, so it works once in a process. Needs the extra ``otel``.
    """
    # the extra need not be installed, and the SDK takes a third of a second to import
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415
    from opentelemetry.instrumentation.requests import RequestsInstrumentor  # noqa: PLC0415
    from opentelemetry.sdk.resources import OTELResourceDetector, Resource  # noqa: PLC0415
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
    from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415

    own = Resource(
        {"service.name": "prdigest", "service.version": version("prdigest"), "prdigest.process": process}
    )
    provider = TracerProvider(resource=own.merge(OTELResourceDetector().detect()), shutdown_on_exit=False)
    exporter = OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}/v1/traces")
    provider.add_span_processor(BatchSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    # jobs carry the trace; other services learn nothing of it
    propagate.set_global_textmap(CompositePropagator([]))
    RequestsInstrumentor().instrument(tracer_provider=provider)
    try:
        yield
    finally:
        RequestsInstrumentor().uninstrument()
        last = threading.Thread(target=provider.shutdown, daemon=True, name="spans")
        last.start()
        last.join(_FLUSH_SECONDS)


@contextmanager
def trace_request(transport: str) -> Iterator[None]:
    """Make a span of the request of the block. It begins a trace: what Slack sends names none."""
    with _TRACER.start_as_current_span(
        "slack request", kind=trace.SpanKind.SERVER, attributes={"prdigest.transport": transport}
    ):
        yield


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
