"""What bounds the cost of model calls."""

from __future__ import annotations

from functools import cached_property

from bot.adapters.redis import RedisLimiter, RedisSpending
from bot.container.part import Part
from bot.services.operations.budget import Budget
from bot.services.operations.metering import Meter


class Costs(Part):
    """Builds each service when it is first asked for."""

    @cached_property
    def meter(self) -> Meter | None:
        """What model calls are paid by; None where who writes is no model, and costs nothing."""
        if self._root.outside.stands_in:
            return None
        limit = self._settings.prdigest_user_calls
        limiter = RedisLimiter(self._root.fleeting_store, limit, self._root.keys)
        return Meter(self.budget, limiter, self._root.provider.prices)

    @cached_property
    def budget(self) -> Budget:
        """How much model calls may cost."""
        settings, spending = self._settings, RedisSpending(self._root.fleeting_store, self._root.keys)
        return Budget(spending, self._root.today, settings.prdigest_daily_budget, settings.prdigest_user_budget)
