"""What bounds the cost of model calls."""

from __future__ import annotations

from functools import cached_property

from bot.adapters.redis import RedisRateLimiter, RedisSpendingStore
from bot.container.part import WiringPart
from bot.services.operations.budget import Budget
from bot.services.operations.metering import CallMeter


class CostWiring(WiringPart):
    """Builds each service when it is first asked for."""

    @cached_property
    def meter(self) -> CallMeter | None:
        """What model calls are paid by; None where who writes is no model, and costs nothing."""
        if self._root.sources.stands_in:
            return None
        limit = self._settings.prdigest_user_calls
        limiter = RedisRateLimiter(self._root.expiring_store, limit, self._root.keyspace)
        return CallMeter(self.budget, limiter, self._root.provider.prices)

    @cached_property
    def budget(self) -> Budget:
        """How much model calls may cost."""
        settings, spending = self._settings, RedisSpendingStore(self._root.expiring_store, self._root.keyspace)
        return Budget(
            spending, self._root.get_today, settings.prdigest_daily_budget, settings.prdigest_user_budget
        )
