"""Spans of Slack's requests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from opentelemetry import trace

_TRACER = trace.get_tracer("prdigest")


@contextmanager
def trace_request(transport: str) -> Iterator[None]:
    """Make a span of the request of the block. It begins a trace: what Slack sends names none."""
    with _TRACER.start_as_current_span(
        "slack request", kind=trace.SpanKind.SERVER, attributes={"prdigest.transport": transport}
    ):
        yield
