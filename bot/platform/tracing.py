"""Traces for OpenTelemetry: spans of requests and jobs, and their export to a collector, over HTTP.

Without a collector every span costs next to nothing. The message of a job carries the trace of what enqueued it.

The spans of model calls are those of the vendor's SDK, and those of GitHub calls are made by the official
instrumentation of ``requests``. Calls to Slack have none: their addresses may be secrets.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from importlib.util import find_spec

from opentelemetry import propagate, trace
from opentelemetry.propagators.composite import CompositePropagator

# what a person does where the SDK is missing
EXTRA_HINT = "Install the extra with `uv sync --no-dev --extra otel`, or unset OTEL_EXPORTER_OTLP_ENDPOINT."
_PACKAGES = (
    "opentelemetry.sdk",
    "opentelemetry.exporter.otlp.proto.http",
    "opentelemetry.instrumentation.requests",
)
# seconds for the last spans at the end of a process; a collector that is away must not keep it alive
_FLUSH_SECONDS = 2.0
_TRACER = trace.get_tracer("prdigest")


def has_exporter() -> bool:
    """Return whether the packages of the extra ``otel`` are installed."""
    try:
        return all(find_spec(package) for package in _PACKAGES)
    except ModuleNotFoundError:
        # a parent of one is missing
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
    attributes = {"prdigest.transport": transport}
    with _TRACER.start_as_current_span("slack request", kind=trace.SpanKind.SERVER, attributes=attributes):
        yield
