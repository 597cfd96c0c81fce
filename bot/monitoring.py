"""What lets operators see inside a process: its metrics on a port of their own, those of the store, its traces."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime, timedelta

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import make_wsgi_app
from prometheus_client.registry import Collector

from bot.app import App
from bot.errors import StoreUnavailable
from bot.features.subscriptions.rules import RunOutcome
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
            serving = serve_app(
                make_wsgi_app(registry),
                *(address.host, port, _MAX_REQUEST_BYTES),
                variable="PRDIGEST_METRICS_ADDRESS: port",
            )
            bound_port = parts.enter_context(serving)
            log.info("metrics on http://%s/metrics", ListenAddress(address.host, bound_port))
        yield


# --- the state of the store: each process reports the same figures


class StoreCollector(Collector):
    """Collector of the state of an app's store, read whenever Prometheus asks."""

    def __init__(self, app: App) -> None:
        self._app = app

    def describe(self) -> Iterable[Metric]:
        """Describe nothing, so that no store is asked when the collector is registered."""
        return ()

    def collect(self) -> Iterable[Metric]:
        try:
            return list_store_metrics(self._app)
        except StoreUnavailable as error:
            log.warning("the metrics of the store can't be read: %s", error)
            return [GaugeMetricFamily("prdigest_store_up", "Whether the store answers", value=0)]


def list_store_metrics(app: App) -> list[Metric]:
    """Return the metrics of schedule, queues, budget and store, by a few calls. Raises StoreUnavailable."""
    now, server = app.now(), read_status(app.store)
    due = app.due_queue.list_due(now)
    delays = [now - at for item, at in due if isinstance(item, NextDigest)]
    ticked = app.cache.get(LAST_TICK.build_key())
    runs = GaugeMetricFamily(
        "prdigest_last_run_timestamp_seconds", "When a digest last had this outcome", labels=("outcome",)
    )
    # newest first: the last of each outcome stays
    last_runs = {run.outcome: run.at for run in reversed(app.tables.list_recent(RUN_LOG, _MAX_RUNS))}
    for outcome, instant in last_runs.items():
        runs.add_metric((outcome.value,), instant.timestamp())
    queues = GaugeMetricFamily("prdigest_queue_jobs", "Jobs on the queues", labels=("queue", "state"))
    # a delayed job waits for its time
    for state, count_jobs in (("waiting", count_waiting_jobs), ("delayed", count_delayed_jobs)):
        for queue, count in count_jobs(app.store, app.keyspace).items():
            queues.add_metric((queue, state), count)
    cost, budget = app.spending.get_spending(f"{app.get_today().date}"), app.settings.prdigest_daily_budget

    def make_gauge(name: str, meaning: str, value: float) -> Metric:
        return GaugeMetricFamily(f"prdigest_{name}", meaning, value=value)

    late = sum(delay >= LATE_AFTER for delay in delays)
    longest = max(delays, default=timedelta()).total_seconds()
    reports = sum(isinstance(item, IncidentReport | ReportUpdate) for item, _ in due)
    ticks = [datetime.fromisoformat(ticked).timestamp()] if ticked else []
    return [
        make_gauge("store_up", "Whether the store answers", 1),
        *(make_gauge("clock_last_tick_timestamp_seconds", "When a clock last ticked", at) for at in ticks),
        make_gauge("digests_due", "Scheduled digests that are due and not posted", len(delays)),
        make_gauge("digests_late", "Scheduled digests that are late", late),
        make_gauge("digest_delay_seconds", "How long the oldest due digest has been due", longest),
        make_gauge("incident_reports_due", "Reports about problems that wait to be posted", reports),
        runs,
        queues,
        make_gauge("cost_today_dollars", "US dollars of today's model calls", cost),
        make_gauge("budget_dollars", "US dollars that a day's model calls may cost", budget),
        make_gauge("store_memory_bytes", "Memory that the store uses", server.used),
        make_gauge("store_memory_limit_bytes", "Memory that the store may use, 0 for all", server.limit),
    ]
