"""The dashboard, the alarms and ``docs/monitoring.md`` name metrics that exist, with labels that they have."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import yaml

from bot.features.subscriptions.runs import RunOutcome
from bot.monitoring import StoreState, list_store_metrics
from bot.platform.metrics import Instruments
from tests.helpers.processes.command import ROOT
from tests.helpers.tables import check_rows
from tests.project.test_documents import list_sections, read_rows

FOLDER = ROOT / "docs" / "monitoring"
ALARMS = [
    rule for group in yaml.safe_load((FOLDER / "alerts.yaml").read_text())["groups"] for rule in group["rules"]
]
CASES = yaml.safe_load((FOLDER / "alerts_test.yaml").read_text())["tests"]
DASHBOARD = json.loads((FOLDER / "grafana.json").read_text())
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
NAME = r"prdigest_[a-z_]+"
# of histograms and counters; Prometheus adds the last two labels
SUFFIXES = re.compile(r"_(?:bucket|count|sum)$")
ADDED_LABELS = {"le", "instance"}
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
STATE = StoreState(
    last_tick=NOON,
    due_digests=1,
    late_digests=1,
    longest_delay=timedelta(hours=1),
    due_reports=1,
    waiting_jobs={"prdigest": 1},
    delayed_jobs={"prdigest": 1},
    cost_today=1.0,
    budget=10.0,
    used_memory=1,
    memory_limit=2,
    last_runs={RunOutcome.POSTED: NOON},
)


def list_metrics() -> dict[str, set[str]]:
    """The labels of each metric, by its name as Prometheus has it."""
    labels = {"prdigest_build_info": {"version"}}
    for instrument in vars(Instruments()).values():
        if hasattr(instrument, "_labelnames"):
            [family] = instrument.describe()
            labels[f"{family.name}_total" if family.type == "counter" else family.name] = set(
                instrument._labelnames
            )
    for family in list_store_metrics(STATE):
        labels[family.name] = {label for sample in family.samples for label in sample.labels}
    return labels


METRICS = list_metrics()


def list_expressions() -> Iterator[str]:
    yield from (rule["expr"] for rule in ALARMS)
    yield from (target["expr"] for panel in PANELS for target in panel["targets"])


def find_unknown(expression: str) -> list[str]:
    """What an expression names and no metric has."""
    known, unknown = set[str](), []
    for name, matchers in re.findall(rf"({NAME})(?:\{{([^}}]*)\}})?", expression):
        base = name if name in METRICS else SUFFIXES.sub("", name)
        if base not in METRICS:
            unknown.append(name)
            continue
        known |= METRICS[base]
        labels = set(re.findall(r"(\w+)\s*[=!]", matchers))
        unknown += [f"{name}: {label}" for label in sorted(labels - METRICS[base])]
    grouped = {label for group in re.findall(r"by \(([^)]*)\)", expression) for label in group.split(", ")}
    return unknown + sorted(grouped - known - ADDED_LABELS)


@check_rows(sorted(set(list_expressions())))
def test_an_expression_names_metrics_and_labels_that_exist(expression: str) -> None:
    assert re.search(NAME, expression) or expression.startswith("up{")
    assert find_unknown(expression) == []


@pytest.mark.parametrize(
    ("expression", "unknown"),
    [
        ("max(prdigest_nothing)", ["prdigest_nothing"]),
        ('prdigest_jobs_total{colour="red"}', ["prdigest_jobs_total: colour"]),
        ("sum by (colour) (prdigest_jobs_total)", ["colour"]),
        ("rate(prdigest_job_seconds_bucket[5m])", []),
    ],
)
def test_a_name_that_no_metric_has_is_noticed(expression: str, unknown: list[str]) -> None:
    assert find_unknown(expression) == unknown


def test_the_page_lists_each_metric_with_its_labels() -> None:
    rows = [row for row in read_rows("monitoring.md", 3) if row[0].startswith("`prdigest_")]
    told = {row[0].strip("`"): set(re.findall(r"`(\w+)`", row[1])) for row in rows}
    assert len(told) == len(rows)
    assert told == METRICS


def test_each_metric_is_on_the_dashboard_or_is_no_figure_of_its_own() -> None:
    shown = {SUFFIXES.sub("", name) for each in list_expressions() for name in re.findall(NAME, each)}
    assert METRICS.keys() - shown == {"prdigest_build_info"}


def test_each_alarm_has_its_section_with_what_to_do() -> None:
    sections = list_sections(ROOT / "docs" / "monitoring.md")
    for alarm in ALARMS:
        page, _, section = alarm["annotations"]["runbook_url"].partition("#")
        assert (page, section) == ("docs/monitoring.md", alarm["alert"].lower())
        assert section in sections
        assert alarm["annotations"]["summary"].endswith(".")
        assert alarm["labels"]["severity"] in {"page", "ticket"}
    alarms = {section for section in sections if section.startswith("prdigest")}
    assert alarms == {alarm["alert"].lower() for alarm in ALARMS}


def test_each_alarm_has_a_case_in_which_it_fires_and_one_in_which_it_does_not() -> None:
    """``promtool test rules docs/monitoring/alerts_test.yaml`` runs them."""
    outcomes: dict[str, set[bool]] = {}
    for case in CASES:
        for test in case["alert_rule_test"]:
            outcomes.setdefault(test["alertname"], set()).add(bool(test["exp_alerts"]))
    assert outcomes == {alarm["alert"]: {True, False} for alarm in ALARMS}


def test_the_dashboard_lets_the_reader_choose_the_data_source() -> None:
    assert [each["type"] for each in DASHBOARD["templating"]["list"]] == ["datasource"]
    assert {panel["datasource"]["uid"] for panel in PANELS} == {"${datasource}"}
    ids = [panel["id"] for panel in DASHBOARD["panels"]]
    assert len(set(ids)) == len(ids)


def test_no_two_panels_overlap() -> None:
    occupied_cells: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        place: dict[str, Any] = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert place["x"] + place["w"] <= 24
        assert not cells & occupied_cells, panel["title"]
        occupied_cells |= cells
