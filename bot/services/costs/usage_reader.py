"""Reader of what model calls cost: of today, of a month, and of the last digest."""

from __future__ import annotations

import calendar
import datetime as dt
from collections.abc import Callable

from bot.domain.operations.ledger import MICRODOLLARS, sum_days
from bot.domain.operations.run import RunOutcome
from bot.domain.operations.usage_report import LastDigest, UsageReport, build_spendings
from bot.domain.time.day import LocalDay
from bot.ports import CostLedger, RunLog
from bot.services.costs.budget import Budget
from bot.services.digest.records import DigestRecords

_MAX_RUNS = 50


class UsageReader:
    """Reader of costs. ``today`` is the local day of the budgets; ``has_prices`` is as in the report."""

    def __init__(
        self,
        ledger: CostLedger,
        budget: Budget,
        run_log: RunLog,
        records: DigestRecords,
        today: Callable[[], LocalDay],
        *,
        has_prices: bool = True,
    ) -> None:
        self._ledger = ledger
        self._budget = budget
        self._run_log = run_log
        self._records = records
        self._today = today
        self._has_prices = has_prices

    def read_usage(self, month: dt.date | None = None) -> UsageReport:
        """Return the costs of a month, by default the current one. Raises StoreUnavailable."""
        today = self._today()
        first = (month or today.date).replace(day=1)
        dates = [first.replace(day=day) for day in range(1, calendar.monthrange(first.year, first.month)[1] + 1)]
        days = dict(zip(dates, self._ledger.read_days(dates), strict=True))
        totals = sum_days(days.values())
        if today.date not in days:
            return UsageReport(first, str(today.zone), totals, has_prices=self._has_prices)
        spent_today, _ = self._budget.read_spending_today()
        day, of_month = build_spendings(self._budget.limits, spent_today, self._budget.read_spending_of_month())
        last, has_prices = self._find_last_digest(), self._has_prices
        return UsageReport(
            first, str(today.zone), totals, sum_days([days[today.date]]), day, of_month, last, has_prices
        )

    def _find_last_digest(self) -> LastDigest | None:
        """Return what the last digest took; None if none was posted lately."""
        for run in self._run_log.list_recent(_MAX_RUNS):
            digest = self._records.load_digest(run.key) if run.outcome is RunOutcome.POSTED else None
            if digest:
                title = f"{digest.spec.repository}, {digest.spec.span.title}"
                return LastDigest(title, digest.record.tokens, digest.record.microdollars / MICRODOLLARS)
        return None
