"""What operators see of real processes: one id on all lines of a request, true counts, and whole traces."""

import json
import re
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from localslack.users.person import Person
from localslack.users.sender import Delivery
from localslack.users.transport import HttpTransport
from prometheus_client.parser import text_string_to_metric_families
from redis import Redis

from bot.app import open_app
from bot.monitoring import monitor_process
from bot.platform.slack.requests import SlackRequest
from bot.platform.tracing import EXTRA_HINT
from bot.settings import Process, load_settings
from tests.emulators.github.store import changed_file, pull
from tests.helpers.checks import closed_port, eventually, waiting_jobs
from tests.helpers.collector import CollectedSpan, Collector, run_collector
from tests.helpers.processes.command import Process as RunningProcess
from tests.helpers.processes.command import prdigest, started
from tests.helpers.world import CHANNEL, World, add_yesterday, world

pytestmark = pytest.mark.slow

SECRET = "signing-secret"
PROCESSES = ("web", "worker", "clock")
MODEL_CALL = "anthropic.messages.create"
Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


@dataclass
class Observed:
    """What three processes showed while they posted a digest, answered a command and failed at another one."""

    world: World
    answered: str
    failed: str
    lines: dict[str, list[dict[str, Any]]]
    samples: dict[str, Samples]
    statuses: dict[str, int]
    collector: Collector

    def value(self, process: str, name: str, **labels: str) -> float:
        required_labels = set(labels.items())
        return sum(
            each
            for (known, own), each in self.samples[process].items()
            if known == name and required_labels <= own
        )

    def ids(self, process: str, words: str) -> set[str]:
        return {line["request"] for line in self.lines[process] if words in line["message"]}

    def span(self, name: str, request_id: str) -> CollectedSpan:
        [matching_span] = [
            each
            for each in self.collector.spans
            if each.name == name and each.attributes.get("prdigest.request_id") == request_id
        ]
        return matching_span


def read_lines(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text().splitlines()]


def find_address(log: Path) -> str:
    match = re.search(r"http://127\.0\.0\.1:\d+/metrics", log.read_text())
    return match[0] if match else ""


def scrape(address: str) -> Samples:
    with urllib.request.urlopen(address, timeout=10) as response:
        families = text_string_to_metric_families(response.read().decode())
    return {(each.name, frozenset(each.labels.items())): each.value for kind in families for each in kind.samples}


def get_status(address: str) -> int:
    try:
        with urllib.request.urlopen(address, timeout=10) as response:
            return int(response.status)
    except urllib.error.HTTPError as error:
        return error.code


def is_idle(address: str) -> bool:
    return scrape(address).get(("prdigest_jobs_running", frozenset({("queue", "prdigest")}))) == 0


def name_request(sent: Delivery) -> str:
    fields = sent.payload
    key = f"command:{fields['trigger_id']}"
    return SlackRequest(key, fields["team_id"], fields["channel_id"], fields["user_id"]).reference


def start(there: World, name: str, log: Path) -> RunningProcess:
    with log.open("wb") as file:
        return started(name, settings=there.settings, folder=log.parent, files=(0, 1, file.fileno()))


@pytest.fixture(scope="module")
def observed_processes(store_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Observed]:
    folder = tmp_path_factory.mktemp("monitored")
    logs = {name: folder / f"{name}.log" for name in PROCESSES}
    with ExitStack() as stack:
        store = stack.enter_context(Redis.from_url(store_url))
        store.flushall()
        there, collector = stack.enter_context(world(store_url)), stack.enter_context(run_collector())
        add_yesterday(there.github)
        earlier = datetime.now(UTC) - timedelta(days=3)
        for number in (103, 104):
            files = (changed_file("engine/retry.py"),)
            there.github.add("octo/engine", pull(number, merged_at=earlier, files=files))
        there.settings.update(
            PRDIGEST_REPO="octo/engine",
            PRDIGEST_CHANNEL=CHANNEL,
            PRDIGEST_POST_AT="00:00",
            SLACK_SIGNING_SECRET=SECRET,
            PORT=str(closed_port()),
            PRDIGEST_LOG_FORMAT="json",
            PRDIGEST_METRICS_ADDRESS="0",
            OTEL_EXPORTER_OTLP_ENDPOINT=collector.url,
        )
        processes = {name: start(there, name, log) for name, log in logs.items()}
        try:
            for log in logs.values():
                eventually(lambda log=log: ' started"' in log.read_text())  # type: ignore[misc]
            eventually(lambda: there.slack.list_calls_to("chat.getPermalink"))
            person = Person(
                there.slack, HttpTransport(f"http://127.0.0.1:{there.settings['PORT']}/slack/events", SECRET)
            )
            answered = person.send_command("/prsummary", "103")
            eventually(lambda: len(there.slack.list_messages(CHANNEL)) == 2)
            there.github.fail_next("401", times=20)
            failed = person.send_command("/prsummary", "104")
            eventually(lambda: there.slack.ephemerals)
            eventually(lambda: not waiting_jobs(store))
            eventually(lambda: is_idle(find_address(logs["worker"])))
            samples = {name: scrape(find_address(log)) for name, log in logs.items()}
            public = f"http://127.0.0.1:{there.settings['PORT']}"
            statuses = {path: get_status(f"{public}{path}") for path in ("/healthz", "/metrics")}
        finally:
            for process in processes.values():
                process.terminate()
            codes = [process.wait(timeout=40) for process in processes.values()]
        assert codes == [0, 0, 0]
        yield Observed(
            there,
            name_request(answered),
            name_request(failed),
            {name: read_lines(log) for name, log in logs.items()},
            samples,
            statuses,
            collector,
        )


class TestLog:
    def test_each_line_has_the_same_fields_and_its_time_in_utc(self, observed_processes: Observed) -> None:
        for line in [line for lines in observed_processes.lines.values() for line in lines]:
            assert line.keys() - {"exception"} == {"time", "level", "logger", "message", "request"}
            assert datetime.fromisoformat(line["time"]).utcoffset() == timedelta(0)

    def test_one_id_goes_from_the_request_over_the_job_to_the_call_of_the_model(
        self, observed_processes: Observed
    ) -> None:
        assert observed_processes.answered in observed_processes.ids("web", "job summary goes to its queue")
        assert observed_processes.answered in observed_processes.ids("worker", "model call: claude-haiku")
        assert observed_processes.answered in observed_processes.ids("worker", "job summary: done")

    def test_the_id_is_the_reference_that_the_asker_reads(self, observed_processes: Observed) -> None:
        [message] = observed_processes.world.slack.ephemerals
        assert f"[{observed_processes.failed}]" in message["text"]
        assert observed_processes.failed in observed_processes.ids("web", "job summary goes to its queue")
        assert observed_processes.ids("worker", "no answer") == {observed_processes.failed}

    def test_a_scheduled_digest_has_an_id_of_its_own_from_the_clock_to_the_model(
        self, observed_processes: Observed
    ) -> None:
        [digest] = observed_processes.ids("clock", "job deliver goes to its queue")
        assert re.fullmatch("[0-9a-f]{6}", digest)
        assert observed_processes.ids("worker", "job deliver: done") == {digest}
        assert observed_processes.ids("worker", "model call: claude-sonnet") == {digest}

    def test_what_belongs_to_no_request_has_no_id(self, observed_processes: Observed) -> None:
        assert observed_processes.ids("worker", "worker started") == {""}


class TestMetrics:
    def test_requests_are_counted_with_the_time_of_their_acknowledgement(
        self, observed_processes: Observed
    ) -> None:
        labels = {"transport": "http", "kind": "command", "result": "acknowledged"}
        assert observed_processes.value("web", "prdigest_slack_requests_total", **labels) == 2
        assert observed_processes.value("web", "prdigest_slack_ack_seconds_count", transport="http") == 2
        assert (
            observed_processes.value("web", "prdigest_slack_ack_seconds_bucket", transport="http", le="3.0") == 2
        )

    def test_jobs_are_counted_by_result(self, observed_processes: Observed) -> None:
        assert observed_processes.value("worker", "prdigest_jobs_total", job_type="deliver", result="done") == 1
        assert observed_processes.value("worker", "prdigest_jobs_total", job_type="summary", result="done") == 2
        assert observed_processes.value("worker", "prdigest_jobs_total", result="lost") == 0
        assert observed_processes.value("worker", "prdigest_job_wait_seconds_count", queue="prdigest") == 2

    def test_model_calls_are_those_that_the_model_saw(self, observed_processes: Observed) -> None:
        calls = len(observed_processes.world.claude.requests)
        # two summaries and the reviews and opening of a digest
        assert calls == 6
        assert observed_processes.value("worker", "prdigest_model_calls_total", result="ok") == calls
        assert observed_processes.value("worker", "prdigest_model_tokens_total", kind="input") > 1_000
        spent = observed_processes.value("worker", "prdigest_model_cost_dollars_total")
        assert spent == pytest.approx(observed_processes.value("clock", "prdigest_cost_today_dollars"), abs=1e-5)

    def test_calls_to_github_and_slack_are_counted(self, observed_processes: Observed) -> None:
        assert (
            observed_processes.value("worker", "prdigest_service_calls_total", service="github", result="ok") > 2
        )
        assert (
            observed_processes.value("worker", "prdigest_service_calls_total", service="github", result="failed")
            >= 1
        )
        posts = {"service": "slack", "operation": "chat.postMessage"}
        assert observed_processes.value("worker", "prdigest_service_calls_total", **posts) == len(
            observed_processes.world.slack.list_calls_to("chat.postMessage")
        )

    def test_lookups_in_the_cache_are_counted_by_kind(self, observed_processes: Observed) -> None:
        assert (
            observed_processes.value("worker", "prdigest_cache_reads_total", cache="model_answers", result="miss")
            > 0
        )

    def test_the_state_of_the_store_is_in_each_process(self, observed_processes: Observed) -> None:
        for process in PROCESSES:
            assert observed_processes.value(process, "prdigest_store_up") == 1
            assert observed_processes.value(process, "prdigest_clock_last_tick_timestamp_seconds") > 1e9
            assert observed_processes.value(process, "prdigest_last_run_timestamp_seconds", outcome="posted") > 1e9
            assert observed_processes.value(process, "prdigest_digests_late") == 0
            assert observed_processes.value(process, "prdigest_budget_dollars") == 10
        assert observed_processes.value("worker", "prdigest_digest_runs_total", outcome="posted") == 1

    def test_they_are_not_on_the_public_port(self, observed_processes: Observed) -> None:
        assert observed_processes.statuses == {"/healthz": 200, "/metrics": 404}

    def test_no_label_names_a_channel_a_person_or_a_repository(self, observed_processes: Observed) -> None:
        values = {
            value
            for samples in observed_processes.samples.values()
            for _, labels in samples
            for _, value in labels
        }
        assert not [each for each in values if re.search(r"[CU]0[A-Z]|octo|engine", each)]


class TestTraces:
    def test_a_command_is_one_trace_from_the_request_over_the_job_to_the_model(
        self, observed_processes: Observed
    ) -> None:
        request = observed_processes.span("slack request", observed_processes.answered)
        job = observed_processes.span("job summary", observed_processes.answered)
        assert (request.parent, request.process) == ("", "web")
        assert (job.parent, job.trace, job.process) == (request.id, request.trace, "worker")
        calls = [
            each for each in observed_processes.collector.list_named(MODEL_CALL) if each.trace == request.trace
        ]
        assert [each.parent for each in calls] == [job.id]

    def test_calls_to_github_are_in_the_trace_of_their_job(self, observed_processes: Observed) -> None:
        job = observed_processes.span("job summary", observed_processes.answered)
        calls = [each for each in observed_processes.collector.list_named("POST") if each.parent == job.id]
        assert calls
        assert all(each.trace == job.trace for each in calls)
        assert observed_processes.collector.paths == {"/v1/traces"}

    def test_github_learns_nothing_of_a_trace(self, observed_processes: Observed) -> None:
        requests = observed_processes.world.github.calls_to("/graphql")
        assert requests
        assert not [each for each in requests if "traceparent" in {name.lower() for name in each.headers}]

    def test_spans_have_no_text_of_a_prompt_and_no_secret(self, observed_processes: Observed) -> None:
        attribute_text = json.dumps([each.attributes for each in observed_processes.collector.spans])
        for secret in (
            "xoxb-",
            observed_processes.world.github.token,
            observed_processes.world.claude.api_key,
            "Change part",
        ):
            assert secret not in attribute_text


def test_a_collector_that_is_away_keeps_no_process_from_its_work_and_its_end(
    store: Redis, store_url: str, tmp_path: Path
) -> None:
    log = tmp_path / "run.log"
    with world(store_url) as there:
        add_yesterday(there.github)
        there.settings.update(
            PRDIGEST_REPO="octo/engine",
            PRDIGEST_CHANNEL=CHANNEL,
            PRDIGEST_POST_AT="00:00",
            SLACK_SIGNING_SECRET=SECRET,
            PORT="0",
            OTEL_EXPORTER_OTLP_ENDPOINT=f"http://127.0.0.1:{closed_port()}",
        )
        process = start(there, "run", log)
        try:
            eventually(lambda: there.slack.list_calls_to("chat.getPermalink"))
        finally:
            process.terminate()
            code = process.wait(timeout=20)
    assert code == 0
    assert "Traceback" not in log.read_text()


def test_without_the_extra_the_log_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318")
    with (
        open_app(load_settings(), lambda: datetime.now(UTC), time.sleep) as base,
        monitor_process(base, Process.WORKER, can_export=lambda: False),
    ):
        [line] = [record.getMessage() for record in caplog.records]
    assert line.endswith(EXTRA_HINT)


def test_a_port_that_is_taken_is_one_sentence(store: Redis, store_url: str, tmp_path: Path) -> None:
    with world(store_url) as there, run_collector() as other:
        port = other.url.rpartition(":")[2]
        own = {"PRDIGEST_REPO": "octo/engine", "PRDIGEST_METRICS_ADDRESS": str(int(port) - 2)}
        done = prdigest("clock", settings={**there.settings, **own}, folder=tmp_path)
    assert done.returncode == 2
    sentence = f"PRDIGEST_METRICS_ADDRESS: port {port} can't be used (Address already in use): set another one."
    assert sentence in done.stderr
