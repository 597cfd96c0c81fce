"""Reader of the state of the whole bot from the store, a few calls for all of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from bot.domain.keyspace.keys import LAST_TICK
from bot.domain.operations.budget import build_total_name
from bot.domain.operations.run import Run, RunOutcome
from bot.domain.operations.store_state import StoreState
from bot.domain.subscriptions.due_items import LATE_AFTER, IncidentReport, NextDigest, ReportUpdate
from bot.domain.time.day import TodayProvider
from bot.ports import Cache, DueQueue, RunLog, SpendingStore
from bot.ports.probes import StoreProbe

_MAX_RUNS = 50


class StoreStateReader:
    """Reader of the state of the store. ``budget`` is US dollars a day; ``now`` returns an aware time."""

    def __init__(
        self,
        cache: Cache,
        due_queue: DueQueue,
        run_log: RunLog,
        spending: SpendingStore,
        budget: float,
        probe: StoreProbe,
        get_today: TodayProvider,
        now: Callable[[], datetime],
    ) -> None:
        self._cache = cache
        self._due_queue = due_queue
        self._run_log = run_log
        self._spending = spending
        self._budget = budget
        self._probe = probe
        self._get_today = get_today
        self._now = now

    def read_state(self) -> StoreState:
        """Return the current state. Raises StoreUnavailable."""
        now = self._now()
        due = self._due_queue.list_due(now)
        delays = [now - at for item, at in due if isinstance(item, NextDigest)]
        ticked = self._cache.get(LAST_TICK.build_key())
        server = self._probe.read_status()
        return StoreState(
            last_tick=datetime.fromisoformat(ticked) if ticked else None,
            due_digests=len(delays),
            late_digests=sum(delay >= LATE_AFTER for delay in delays),
            longest_delay=max(delays, default=timedelta()),
            due_reports=sum(isinstance(item, IncidentReport | ReportUpdate) for item, _ in due),
            waiting_jobs=self._probe.count_waiting_jobs(),
            delayed_jobs=self._probe.count_delayed_jobs(),
            cost_today=self._spending.get_spending(build_total_name(self._get_today().date)),
            budget=self._budget,
            used_memory=server.used,
            memory_limit=server.limit,
            last_runs=_find_last_runs(self._run_log.list_recent(_MAX_RUNS)),
        )


def _find_last_runs(runs: Sequence[Run]) -> dict[RunOutcome, datetime]:
    """Return the last run of each outcome; ``runs`` are newest first."""
    return {run.outcome: run.at for run in reversed(runs)}
