"""Metrics of the whole bot, read from the store whenever Prometheus asks."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from bot.domain.errors import StoreUnavailable
from bot.domain.operations.store_state import StoreState

log = logging.getLogger(__name__)


class StoreStateCollector(Collector):
    """Collector of what ``read_state`` returns. Each process of a store reports the same figures."""

    def __init__(self, read_state: Callable[[], StoreState]) -> None:
        self._read_state = read_state

    def describe(self) -> Iterable[Metric]:
        """Describe nothing, so that no store is asked when the collector is registered."""
        return ()

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics; without the store only that it does not answer."""
        try:
            state = self._read_state()
        except StoreUnavailable as error:
            log.warning("the metrics of the store can't be read: %s", error)
            yield _make_gauge("store_up", "Whether the store answers", 0)
            return
        yield _make_gauge("store_up", "Whether the store answers", 1)
        yield from _list_schedule_metrics(state)
        yield from _list_load_metrics(state)


def _list_schedule_metrics(state: StoreState) -> Iterator[Metric]:
    """Yield what is due, what is late, and when something was last done."""
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


def _list_load_metrics(state: StoreState) -> Iterator[Metric]:
    """Yield the jobs on the queues, the cost of today, and the memory of the store."""
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
