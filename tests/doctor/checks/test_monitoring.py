"""What the doctor says of metrics and traces."""

from __future__ import annotations

import pytest

from bot.adapters.tracing import EXTRA_HINT, has_exporter
from bot.doctor.checks.monitoring import MonitoringPlan, check_monitoring
from tests.doctor.findings import format_findings

MISSING = "off: OTEL_EXPORTER_OTLP_ENDPOINT is set, but the extra otel is not installed"


@pytest.mark.parametrize(
    ("plan", "lines"),
    [
        (
            MonitoringPlan(),
            [
                "- Metrics: off: PRDIGEST_METRICS_ADDRESS is not set",
                "- Traces: off: OTEL_EXPORTER_OTLP_ENDPOINT is not set",
            ],
        ),
        (
            MonitoringPlan("127.0.0.1:9464", "http://127.0.0.1:4318"),
            [
                "+ Metrics: on 127.0.0.1:9464 and the two ports after it, by process",
                "+ Traces: sent to http://127.0.0.1:4318",
            ],
        ),
        (
            MonitoringPlan("", "http://127.0.0.1:4318", EXTRA_HINT),
            [
                "- Metrics: off: PRDIGEST_METRICS_ADDRESS is not set",
                f"! Traces: {MISSING} -> {EXTRA_HINT}",
            ],
        ),
    ],
    ids=["off", "on", "extra missing"],
)
def test_it_says_what_is_on(plan: MonitoringPlan, lines: list[str]) -> None:
    assert format_findings(check_monitoring(plan)) == lines


def test_the_extra_is_there_where_the_tests_run() -> None:
    assert has_exporter()
