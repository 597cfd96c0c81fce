"""What the doctor says of metrics and traces, and of the MCP server."""

from typing import Any

import pytest

from bot.doctor.checks import check_agents, check_monitoring
from bot.mcp import EXTRA_HINT, has_sdk
from bot.platform.tracing import EXTRA_HINT as TRACING_HINT
from bot.platform.tracing import has_exporter
from bot.settings import Settings
from tests.doctor.findings import format_findings
from tests.helpers.checks import is_one_sentence

NO_METRICS = "- Metrics: off: PRDIGEST_METRICS_ADDRESS is not set"
MISSING = "off: OTEL_EXPORTER_OTLP_ENDPOINT is set, but the extra otel is not installed"
METRICS, TRACES = (
    {"prdigest_metrics_address": "127.0.0.1:9464"},
    {"otel_exporter_otlp_endpoint": "http://x:SECRET@otel:4318/a"},
)
MONITORING: dict[str, tuple[dict[str, Any], bool, list[str]]] = {
    "off": ({}, True, [NO_METRICS, "- Traces: off: OTEL_EXPORTER_OTLP_ENDPOINT is not set"]),
    "on": (
        {**METRICS, **TRACES},
        True,
        [
            "+ Metrics: on 127.0.0.1:9464 and the two ports after it, by process",
            "+ Traces: sent to http://otel:4318",
        ],
    ),
    "extra missing": (TRACES, False, [NO_METRICS, f"! Traces: {MISSING} -> {TRACING_HINT}"]),
}


@pytest.mark.parametrize(("settings", "can_export", "lines"), MONITORING.values(), ids=MONITORING)
def test_it_says_what_is_on(settings: dict[str, Any], can_export: bool, lines: list[str]) -> None:
    assert format_findings(check_monitoring(Settings(**settings), can_export=can_export)) == lines


def test_the_extra_is_there_where_the_tests_run() -> None:
    assert has_exporter()


TOKEN = {"prdigest_mcp_token": "a-token-of-32-letters-or-more-for-agents"}
AGENTS: dict[str, tuple[dict[str, Any], bool, list[str]]] = {
    "off": ({}, False, []),
    "over HTTP": (TOKEN, True, ["+ Agents: MCP on 127.0.0.1:3010 with the token: no profiles"]),
    "over standard input": (
        {"prdigest_mcp_profiles": "plugin app"},
        True,
        ["+ Agents: MCP for clients on this machine: profiles app, plugin"],
    ),
    "extra missing": (TOKEN, False, [f"! Agents: no MCP server: the extra mcp is not installed -> {EXTRA_HINT}"]),
}


@pytest.mark.parametrize(("settings", "is_installed", "lines"), AGENTS.values(), ids=AGENTS)
def test_it_says_what_agents_reach(settings: dict[str, Any], is_installed: bool, lines: list[str]) -> None:
    assert format_findings(check_agents(Settings(**settings), has_sdk=is_installed)) == lines


def test_without_the_extra_a_sentence_says_what_to_install() -> None:
    assert has_sdk()
    assert is_one_sentence(EXTRA_HINT)
