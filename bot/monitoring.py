"""What lets operators see inside a process: its metrics on a port of their own, those of the store, its traces."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta

from flask import Flask, request
from flask.typing import ResponseReturnValue
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from bot.app import App
from bot.errors import StoreUnavailable
from bot.features.subscriptions.runs import RunOutcome
from bot.features.subscriptions.schedule import LATE_AFTER
from bot.features.subscriptions.tables import RUN_LOG
from bot.http_server import serve_app
from bot.platform.store.due_queue import IncidentReport, NextDigest, ReportUpdate
from bot.platform.store.keys import LAST_TICK
from bot.platform.store.server import count_delayed_jobs, count_waiting_jobs, read_status
from bot.platform.tracing import EXTRA_HINT, has_exporter, trace_process
from bot.settings import ListenAddress, Process

log = logging.getLogger(__name__)

# so that the processes of one machine can share the setting
PORT_OFFSETS = {Process.WEB: 0, Process.WORKER: 1, Process.CLOCK: 2}
# a scrape has no body
_MAX_REQUEST_BYTES = 10_000
# that are looked through for the last of each outcome
_MAX_RUNS = 50


@contextmanager
def monitor_process(app: App, process: Process, can_export: Callable[[], bool] = has_exporter) -> Iterator[None]:
    """Serve metrics and send traces until the end of the block, each if the settings say where.

    ``can_export`` says whether the packages that send traces are installed.

    Raises ConfigurationError if the port can't be used.
    """
    address, endpoint = app.settings.prdigest_metrics_address, app.settings.otel_exporter_otlp_endpoint
    with ExitStack() as parts:
        if endpoint and can_export():
            parts.enter_context(trace_process(endpoint, process.value))
        elif endpoint:
            log.error("OTEL_EXPORTER_OTLP_ENDPOINT is set, but no traces are sent. %s", EXTRA_HINT)
        if address is not None:
            registry = app.instruments.registry
            registry.register(StoreCollector(app.hurry()))
            for outcome in RunOutcome:
                # an outcome that did not occur yet is a zero: the first one is an increase that an alarm sees
                app.instruments.digest_runs.labels(outcome.value)
            # port 0 is any free one
            port = address.port and address.port + PORT_OFFSETS[process]
            web = Flask(__name__)

            @web.get("/metrics")
            def metrics() -> ResponseReturnValue:
                # in the form that Prometheus asks for
                encode, content_type = choose_encoder(request.headers.get("Accept", ""))
                return encode(registry), {"Content-Type": content_type}

            serving = serve_app(
                web, address.host, port, _MAX_REQUEST_BYTES, variable="PRDIGEST_METRICS_ADDRESS: port"
            )
            bound_port = parts.enter_context(serving)
            log.info("metrics on http://%s/metrics", ListenAddress(address.host, bound_port))
        yield


# --- the state of the store: each process reports the same figures


@dataclass(frozen=True, slots=True)
class StoreState:
    """The state of the schedule, the queues, the budget and the store.

    ``last_tick`` is the last tick of a clock (aware), None if there was none in the last day. ``due_digests`` is
    the number of scheduled digests that are due and not posted, ``late_digests`` of those that should have been
    posted some time ago, and ``longest_delay`` the delay of the oldest. ``due_reports`` is the number of reports
    about problems that wait to be posted. ``last_runs`` has the last run of each outcome (UTC).

    ``waiting_jobs`` and ``delayed_jobs`` are jobs by the name of their queue; a delayed job waits for its time.
    ``cost_today`` and ``budget`` are US dollars. ``used_memory`` and ``memory_limit`` are bytes of the server,
    0 for no limit.
    """

    last_tick: datetime | None
    due_digests: int
    late_digests: int
    longest_delay: timedelta
    due_reports: int
    waiting_jobs: Mapping[str, int]
    delayed_jobs: Mapping[str, int]
    cost_today: float
    budget: float
    used_memory: int
    memory_limit: int
    last_runs: Mapping[RunOutcome, datetime]


def read_store_state(app: App) -> StoreState:
    """Read it, by a few calls for all of it. Raises StoreUnavailable."""
    now = app.now()
    due = app.due_queue.list_due(now)
    delays = [now - at for item, at in due if isinstance(item, NextDigest)]
    ticked = app.cache.get(LAST_TICK.build_key())
    server = read_status(app.store)
    runs = app.tables.list_recent(RUN_LOG, _MAX_RUNS)
    return StoreState(
        last_tick=datetime.fromisoformat(ticked) if ticked else None,
        due_digests=len(delays),
        late_digests=sum(delay >= LATE_AFTER for delay in delays),
        longest_delay=max(delays, default=timedelta()),
        due_reports=sum(isinstance(item, IncidentReport | ReportUpdate) for item, _ in due),
        waiting_jobs=count_waiting_jobs(app.store, app.keyspace),
        delayed_jobs=count_delayed_jobs(app.store, app.keyspace),
        cost_today=app.spending.get_spending(f"{app.get_today().date}"),
        budget=app.settings.prdigest_daily_budget,
        used_memory=server.used,
        memory_limit=server.limit,
        # newest first
        last_runs={run.outcome: run.at for run in reversed(runs)},
    )


class StoreCollector(Collector):
    """Collector of the state of an app's store, read whenever Prometheus asks."""

    def __init__(self, app: App) -> None:
        self._app = app

    def describe(self) -> Iterable[Metric]:
        """Describe nothing, so that no store is asked when the collector is registered."""
        return ()

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics; without the store only that it does not answer."""
        try:
            state = read_store_state(self._app)
        except StoreUnavailable as error:
            log.warning("the metrics of the store can't be read: %s", error)
            yield _make_gauge("store_up", "Whether the store answers", 0)
            return
        yield from list_store_metrics(state)


def list_store_metrics(state: StoreState) -> Iterator[Metric]:
    yield _make_gauge("store_up", "Whether the store answers", 1)
    if state.last_tick:
        ticked = state.last_tick.timestamp()
        yield _make_gauge("clock_last_tick_timestamp_seconds", "When a clock last ticked", ticked)
    yield _make_gauge("digests_due", "Scheduled digests that are due and not posted", state.due_digests)
    yield _make_gauge("digests_late", "Scheduled digests that are late", state.late_digests)
    delay = state.longest_delay.total_seconds()
    yield _make_gauge("digest_delay_seconds", "How long the oldest due digest has been due", delay)
    yield _make_gauge("incident_reports_due", "Reports about problems that wait to be posted", state.due_reports)
    runs = GaugeMetricFamily(
        "prdigest_last_run_timestamp_seconds", "When a digest last had this outcome", labels=("outcome",)
    )
    for outcome, instant in state.last_runs.items():
        runs.add_metric((outcome.value,), instant.timestamp())
    yield runs
    queues = GaugeMetricFamily("prdigest_queue_jobs", "Jobs on the queues", labels=("queue", "state"))
    for name, jobs in (("waiting", state.waiting_jobs), ("delayed", state.delayed_jobs)):
        for queue, count in jobs.items():
            queues.add_metric((queue, name), count)
    yield queues
    yield _make_gauge("cost_today_dollars", "US dollars of today's model calls", state.cost_today)
    yield _make_gauge("budget_dollars", "US dollars that a day's model calls may cost", state.budget)
    yield _make_gauge("store_memory_bytes", "Memory that the store uses", state.used_memory)
    yield _make_gauge("store_memory_limit_bytes", "Memory that the store may use, 0 for all", state.memory_limit)


def _make_gauge(name: str, meaning: str, value: float) -> Metric:
    return GaugeMetricFamily(f"prdigest_{name}", meaning, value=value)
