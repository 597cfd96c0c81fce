"""A log of runs whose entries are counted."""

from __future__ import annotations

from collections.abc import Sequence

from bot.adapters.metrics.instruments import Instruments
from bot.domain.operations.run import Run, RunOutcome
from bot.ports import RunLog


class ObservedRunLog:
    """A ``RunLog`` that counts runs by their outcome."""

    def __init__(self, run_log: RunLog, instruments: Instruments) -> None:
        self._run_log = run_log
        self._runs = instruments.digest_runs
        for outcome in RunOutcome:
            # an outcome that did not occur yet is a zero: the first one is an increase that an alarm sees
            self._runs.labels(outcome.value)

    def add_run(self, run: Run) -> None:
        """Add a run. Raises StoreUnavailable."""
        self._run_log.add_run(run)
        self._runs.labels(run.outcome.value).inc()

    def list_recent(self, count: int) -> Sequence[Run]:
        """List the last runs, newest first. Raises StoreUnavailable."""
        return self._run_log.list_recent(count)
