"""Health of the bot, from its records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from bot.domain.keyspace.keys import LAST_TICK
from bot.domain.operations.bot_health import BotHealth
from bot.domain.operations.finding import CheckStatus
from bot.domain.operations.run import Run, RunOutcome
from bot.platform.costs import Budget
from bot.platform.store.server import ServerStatus
from bot.ports import Cache, RunLog
from bot.services.operations.store_memory import check_memory

_SUCCESSES = (RunOutcome.POSTED, RunOutcome.MENDED)
_MAX_RUNS = 50


class HealthReader:
    """Reader of the bot's health."""

    def __init__(
        self,
        run_log: RunLog,
        cache: Cache,
        budget: Budget,
        server: Callable[[], ServerStatus],
        *,
        has_model: bool,
        stands_in: str = "",
    ) -> None:
        self._run_log = run_log
        self._server = server
        self._cache = cache
        self._budget = budget
        self._has_model = has_model
        self._stand_in_note = stands_in

    def read_health(self) -> BotHealth:
        """Return the current health. Raises StoreUnavailable."""
        runs = self._run_log.list_recent(_MAX_RUNS)
        ticked = self._cache.get(LAST_TICK.build_key())
        memory = check_memory(self._server())
        return BotHealth(
            last_tick=datetime.fromisoformat(ticked) if ticked else None,
            last_success=_find_first(runs, is_good=True),
            last_failure=_find_first(runs, is_good=False),
            cost_today=self._budget.read_spending_today(),
            budget=self._budget.daily,
            has_model=self._has_model,
            stand_in_note=self._stand_in_note,
            store=memory.result,
            is_full=memory.status is CheckStatus.FAILED,
            cost_of_month=self._budget.read_spending_of_month(),
            monthly_budget=self._budget.monthly,
        )


def _find_first(runs: Sequence[Run], *, is_good: bool) -> Run | None:
    """Return the first run that succeeded, or the first that failed."""
    return next((run for run in runs if (run.outcome in _SUCCESSES) is is_good), None)
