"""Backfill of past days whose summaries come from message batches, at a lower price.

The days are read several times. What the model was not asked for yet is collected and submitted as a batch; with
its answers in the cache, the next reading completes the days.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterator

from bot.domain.history.backfill import BackfillOutcome
from bot.domain.pull_requests.models import Repository
from bot.domain.time.date_range import Span
from bot.services.history.backfill import Backfill, BackfillAborted, CostLimit
from bot.services.history.batch_collector import BatchCollector, CollectionFull
from bot.services.history.batch_runner import BatchReport, BatchRunner
from bot.services.history.throttle import WaitListener

_RUNS_ELSEWHERE = "Another process fills days of {} by batches: wait until it ends."


class BatchBackfill:
    """Backfill by batches. ``backfill`` asks the ``collector`` for summaries, within ``limit``."""

    def __init__(
        self, backfill: Backfill, collector: BatchCollector, runner: BatchRunner, limit: CostLimit
    ) -> None:
        self._backfill = backfill
        self._collector = collector
        self._runner = runner
        self._limit = limit

    def fill_days(self, repository: Repository, span: Span, say: WaitListener) -> Iterator[BackfillOutcome]:
        """Yield the outcome of each day, newest first, once all batches are over.

        A run after one that was killed goes on with the batch that was submitted.

        Raises:
            BackfillAborted: while iterating: the limit is reached, another process runs batches of the repository,
                or a batch is not over after more than a day.
            PrdigestError: what :meth:`bot.services.history.backfill.Backfill.fill_days` raises.
        """
        name = str(repository).lower()
        with self._runner.try_lock(name) as is_held:
            if not is_held:
                raise BackfillAborted(_RUNS_ELSEWHERE.format(repository))
            self._note_report(self._runner.resume_batch(name, say))
            outcomes: dict[dt.date, BackfillOutcome] = {}
            while True:
                is_complete = self._read_days(repository, span, say, outcomes)
                prompts = self._collector.take_prompts()
                if not prompts:
                    break
                self._note_report(self._runner.run_batch(name, prompts, say))
        yield from outcomes.values()
        if not is_complete:
            raise self._limit.build_error()

    def _read_days(
        self, repository: Repository, span: Span, say: WaitListener, outcomes: dict[dt.date, BackfillOutcome]
    ) -> bool:
        """Read the days, and note the outcome of each. Return whether all prompts found room."""
        try:
            # the collector has the limit
            for outcome in self._backfill.fill_days(repository, span, CostLimit(math.inf), say):
                # a day that an earlier reading of this run completed is not one that was loaded before
                if not (outcome.was_filled and outcome.day.date in outcomes):
                    outcomes[outcome.day.date] = outcome
        except CollectionFull:
            return False
        return True

    def _note_report(self, report: BatchReport) -> None:
        self._limit.spent += report.dollars
        self._collector.note_failures(report.failures)
