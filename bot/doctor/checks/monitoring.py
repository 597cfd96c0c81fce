"""Check of what operators see: whether there are metrics and traces."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bot.domain.operations.finding import Finding

METRICS, TRACES = "Metrics", "Traces"


@dataclass(frozen=True, slots=True)
class MonitoringPlan:
    """Where the metrics are read and the traces sent, each empty if nowhere.

    ``missing_exporter`` is what to do if the packages that send traces are not installed; empty if they are.
    """

    metrics_address: str = ""
    traces_address: str = ""
    missing_exporter: str = ""


def check_monitoring(plan: MonitoringPlan) -> Iterator[Finding]:
    """Report whether metrics and traces are on. Both may be off: nothing depends on them."""
    if plan.metrics_address:
        yield Finding.build_success(METRICS, f"on {plan.metrics_address} and the two ports after it, by process")
    else:
        yield Finding.build_note(METRICS, "off: PRDIGEST_METRICS_ADDRESS is not set")
    if not plan.traces_address:
        yield Finding.build_note(TRACES, "off: OTEL_EXPORTER_OTLP_ENDPOINT is not set")
    elif plan.missing_exporter:
        problem = "off: OTEL_EXPORTER_OTLP_ENDPOINT is set, but the extra otel is not installed"
        yield Finding.build_failure(TRACES, problem, plan.missing_exporter)
    else:
        yield Finding.build_success(TRACES, f"sent to {plan.traces_address}")
