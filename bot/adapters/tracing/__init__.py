"""Traces of requests, jobs and calls, for OpenTelemetry. Without a collector every span costs next to nothing."""

from __future__ import annotations

from bot.adapters.tracing.export import EXTRA_HINT, has_exporter, trace_process
from bot.adapters.tracing.jobs import JobTracing
from bot.adapters.tracing.requests import trace_request

__all__ = ["EXTRA_HINT", "JobTracing", "has_exporter", "trace_process", "trace_request"]
