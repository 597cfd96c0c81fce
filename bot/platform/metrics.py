"""Counters and histograms of what this process does, and what counts. ``docs/monitoring.md`` has their meanings.

No label has a value from outside: kinds, results and names of the code alone, so that their number is small.
"job" and "instance" are names that Prometheus gives itself.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from typing import Any, Literal

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info
from prometheus_client.gc_collector import GCCollector
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector

from bot.usage import Usage

log = logging.getLogger(__name__)

# seconds; Slack gives up a request after three (docs.slack.dev, "Acknowledging requests")
_ACK_BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 3.0, 5.0)
_CALL_BUCKETS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)
# a first look at a busy day takes minutes, and a job has twenty at most
_JOB_BUCKETS = (0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1_200.0)


class Instruments:
    """The instruments of one process, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        for collector in (ProcessCollector, PlatformCollector, GCCollector):
            collector(registry=registry)
        Info("prdigest_build", "The version that runs", registry=registry).info({"version": version("prdigest")})
        count, observe = partial(Counter, registry=registry), partial(Histogram, registry=registry)
        requests = ("transport", "kind", "result")
        self.requests = count("prdigest_slack_requests", "Requests from Slack", requests)
        acknowledged = "Seconds until a request from Slack is acknowledged"
        self.ack_seconds = observe(
            "prdigest_slack_ack_seconds", acknowledged, ("transport",), buckets=_ACK_BUCKETS
        )
        self.jobs = count("prdigest_jobs", "Attempts of jobs that ended", ("job_type", "result"))
        attempt, waiting = "Seconds of one attempt", "Seconds that a new job waits on its queue"
        self.job_seconds = observe("prdigest_job_seconds", attempt, ("job_type",), buckets=_JOB_BUCKETS)
        self.job_wait_seconds = observe("prdigest_job_wait_seconds", waiting, ("queue",), buckets=_JOB_BUCKETS)
        running = "Jobs that run in this process"
        self.jobs_running = Gauge("prdigest_jobs_running", running, ("queue",), registry=registry)
        self.model_calls = count("prdigest_model_calls", "Calls of a model", ("model", "purpose", "result"))
        answer = "Seconds of a call of a model"
        self.model_call_seconds = observe("prdigest_model_call_seconds", answer, ("model",), buckets=_CALL_BUCKETS)
        self.model_tokens = count("prdigest_model_tokens", "Tokens that models read and wrote", ("model", "kind"))
        dollars = "US dollars of calls with a known price"
        self.model_cost = count("prdigest_model_cost_dollars", dollars, ("model",))
        calls = ("service", "operation", "result")
        self.service_calls = count("prdigest_service_calls", "Calls to GitHub and Slack", calls)
        call = "Seconds of a call, with its retries"
        self.service_call_seconds = observe(
            "prdigest_service_call_seconds", call, ("service",), buckets=_CALL_BUCKETS
        )
        self.cache_reads = count("prdigest_cache_reads", "Lookups in the cache", ("cache", "result"))
        self.digest_runs = count("prdigest_digest_runs", "Attempts at scheduled digests", ("outcome",))

    def count_cache_read(self, cache: str, is_hit: bool) -> None:  # noqa: FBT001 (a callback's one value)
        self.cache_reads.labels(cache, "hit" if is_hit else "miss").inc()

    @contextmanager
    def watch_call(self, service: str, operation: str) -> Iterator[None]:
        """Watch a call to a service: how long it takes, and whether it raises."""
        began, result = time.monotonic(), "failed"
        try:
            yield
            result = "ok"
        finally:
            seconds = time.monotonic() - began
            self.service_calls.labels(service, operation, result).inc()
            self.service_call_seconds.labels(service).observe(seconds)
            log.debug("%s %s: %s after %.3f s", service, operation, result, seconds)

    def count_model_call(
        self, model: str, purpose: str, result: str, seconds: float, usage: Usage, dollars: float
    ) -> None:
        """Count a call of a model, and log it: with time, tokens and cost, never with its text."""
        self.model_calls.labels(model, purpose, result).inc()
        self.model_call_seconds.labels(model).observe(seconds)
        written = usage.cache_write + usage.cache_write_hour
        for kind, count in (
            ("input", usage.input),
            ("output", usage.output),
            ("cache_read", usage.cache_read),
            ("cache_write", written),
        ):
            self.model_tokens.labels(model, kind).inc(count)
        self.model_cost.labels(model).inc(dollars)
        log.info(
            "model call: %s for %s, %s after %.1f s, %d tokens read, %d written",
            *(model, purpose, result, seconds, usage.prompt_tokens, usage.output),
        )


# --- requests from Slack, and the time until each is acknowledged

Transport = Literal["http", "socket"]
# what Slack calls the types of its payloads, by the names of the metric
_PAYLOADS = {
    "event_callback": "event",
    "block_actions": "action",
    "view_submission": "form",
    "view_closed": "form",
    "url_verification": "check",
}
_OTHER = "other"


@dataclass
class RequestRecord:
    """A request while it is handled: its kind and its result, as far as they are known."""

    kind: str = _OTHER
    result: str = "failed"

    def note_payload(self, payload: Mapping[str, Any]) -> None:
        self.kind = "command" if "command" in payload else _PAYLOADS.get(str(payload.get("type")), _OTHER)

    def note_status(self, status: int) -> None:
        """Note the HTTP status of the response: Slack takes each below 300 as an acknowledgement."""
        if status < 300:
            self.result = "acknowledged"
        elif status < 500:
            self.result = "refused"


@contextmanager
def count_request(instruments: Instruments, transport: Transport) -> Iterator[RequestRecord]:
    record, began = RequestRecord(), time.monotonic()
    try:
        yield record
    finally:
        instruments.requests.labels(transport, record.kind, record.result).inc()
        instruments.ack_seconds.labels(transport).observe(time.monotonic() - began)
