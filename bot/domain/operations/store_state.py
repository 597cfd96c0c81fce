"""What the store says of the whole bot at one moment, for metrics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.domain.operations.run import RunOutcome


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
    last_runs: Mapping[RunOutcome, datetime] = field(default_factory=dict)
