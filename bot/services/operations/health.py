"""Health of the bot, from its records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from bot.domain.keyspace.keys import TICKED
from bot.domain.operations.bot_health import Health
from bot.domain.operations.finding import Status
from bot.domain.operations.run import Outcome, Run
from bot.ports import Cache, Journal
from bot.ports.probes import Server
from bot.services.operations.budget import Budget
from bot.services.operations.store_memory import check_memory

_GOOD = (Outcome.POSTED, Outcome.MENDED)
_LOOKED_AT = 50


class Healths:
    """Reader of the bot's health."""

    def __init__(
        self,
        journal: Journal,
        cache: Cache,
        budget: Budget,
        server: Callable[[], Server],
        *,
        has_model: bool,
        stands_in: str = "",
    ) -> None:
        self._journal = journal
        self._server = server
        self._cache = cache
        self._budget = budget
        self._has_model = has_model
        self._stands_in = stands_in

    def read(self) -> Health:
        """Return the current health. Raise StoreUnavailable."""
        runs = self._journal.recent(_LOOKED_AT)
        ticked = self._cache.get(TICKED.key())
        spent, budget = self._budget.spent_today()
        memory = check_memory(self._server())
        return Health(
            ticked=datetime.fromisoformat(ticked) if ticked else None,
            good=_first(runs, is_good=True),
            bad=_first(runs, is_good=False),
            spent=spent,
            budget=budget,
            has_model=self._has_model,
            stands_in=self._stands_in,
            store=memory.found,
            is_full=memory.status is Status.FAILED,
        )


def _first(runs: Sequence[Run], *, is_good: bool) -> Run | None:
    """Return the first run that succeeded, or the first that failed."""
    return next((run for run in runs if (run.outcome in _GOOD) is is_good), None)
