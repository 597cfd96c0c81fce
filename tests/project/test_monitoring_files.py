import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
import yaml
from redis import Redis

from bot.features.subscriptions.rules import Run, RunOutcome
from bot.monitoring import list_store_metrics
from bot.platform.metrics import Instruments
from bot.platform.store.connection import RedisCache
from bot.platform.store.keys import LAST_TICK
from tests.helpers.apps import make_app
from tests.helpers.processes.command import ROOT
from tests.helpers.subscriptions import RunLog
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
Labels = dict[str, set[str]]


@pytest.fixture
def metrics(store: Redis) -> Labels:
    """The labels of each metric, by its name as Prometheus has it; in the store, a clock and a digest ran."""
    RedisCache(store).put(LAST_TICK.build_key(), NOON.isoformat(), LAST_TICK.lifetime)
    RunLog(store).add_run(Run(NOON, "key", RunOutcome.POSTED))
    labels = {"prdigest_build_info": {"version"}}
    for instrument in vars(Instruments()).values():
        if hasattr(instrument, "_labelnames"):
            [family] = instrument.describe()
            labels[f"{family.name}_total" if family.type == "counter" else family.name] = set(
                instrument._labelnames
            )
    for family in list_store_metrics(make_app(store, now=lambda: NOON)):
        labels[family.name] = {label for sample in family.samples for label in sample.labels}
    return labels


def list_expressions() -> Iterator[str]:
    yield from (rule["expr"] for rule in ALARMS)
    yield from (target["expr"] for panel in PANELS for target in panel["targets"])


def find_unknown(expression: str, metrics: Labels) -> list[str]:
    known, unknown = set[str](), []
    for name, matchers in re.findall(rf"({NAME})(?:\{{([^}}]*)\}})?", expression):
        base = name if name in metrics else SUFFIXES.sub("", name)
        if base not in metrics:
            unknown.append(name)
            continue
        known |= metrics[base]
        labels = set(re.findall(r"(\w+)\s*[=!]", matchers))
        unknown += [f"{name}: {label}" for label in sorted(labels - metrics[base])]
    grouped = {label for group in re.findall(r"by \(([^)]*)\)", expression) for label in group.split(", ")}
    return unknown + sorted(grouped - known - ADDED_LABELS)


def test_expressions_name_metrics_and_labels_that_exist(metrics: Labels) -> None:
    unknown = {expression: find_unknown(expression, metrics) for expression in list_expressions()}
    assert {expression: names for expression, names in unknown.items() if names} == {}
    assert all(re.search(NAME, expression) or expression.startswith("up{") for expression in unknown)


@pytest.mark.parametrize(
    ("expression", "unknown"),
    [
        ("max(prdigest_nothing)", ["prdigest_nothing"]),
        ('prdigest_jobs_total{colour="red"}', ["prdigest_jobs_total: colour"]),
        ("sum by (colour) (prdigest_jobs_total)", ["colour"]),
        ("rate(prdigest_job_seconds_bucket[5m])", []),
    ],
)
def test_a_name_that_no_metric_has_is_noticed(expression: str, unknown: list[str], metrics: Labels) -> None:
    assert find_unknown(expression, metrics) == unknown


def test_the_page_lists_each_metric_with_its_labels(metrics: Labels) -> None:
    rows = [row for row in read_rows("monitoring.md", 3) if row[0].startswith("`prdigest_")]
    told = {row[0].strip("`"): set(re.findall(r"`(\w+)`", row[1])) for row in rows}
    assert len(told) == len(rows)
    assert told == metrics


def test_each_metric_is_on_the_dashboard_or_is_no_figure_of_its_own(metrics: Labels) -> None:
    shown = {SUFFIXES.sub("", name) for each in list_expressions() for name in re.findall(NAME, each)}
    assert metrics.keys() - shown == {"prdigest_build_info"}


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
