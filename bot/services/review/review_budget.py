"""The daily cap of the second reading: counted in the store, over all processes, channels and commands."""

from __future__ import annotations

from collections.abc import Callable
from uuid import uuid4

from bot.domain.operations.budget import BudgetHold, build_review_name
from bot.domain.time.day import LocalDay
from bot.ports import SpendingStore


class ReviewBudget:
    """US dollars that reviews may cost on a local day.

    A review begins only if what it may cost is left, so the cap holds also for reviews that run at the same time.
    """

    def __init__(
        self,
        spending: SpendingStore,
        today: Callable[[], LocalDay],
        dollars: float,
        new_token: Callable[[], str] = lambda: uuid4().hex,
    ) -> None:
        self._spending = spending
        self._today = today
        self._dollars = dollars
        self._new_token = new_token

    def reserve_review(self, dollars: float) -> BudgetHold | None:
        """Reserve what a review may cost until it is settled; None if that is not left today.

        Raises StoreUnavailable.
        """
        name = build_review_name(self._today().date)
        hold = BudgetHold(self._new_token(), dollars, (name,))
        # a cap is reached once the sum before a reservation is
        reached = self._spending.reserve_budget(hold, [(name, self._dollars - dollars)])
        return hold if reached is None else None

    def settle_review(self, hold: BudgetHold, dollars: float) -> None:
        """Replace a reservation by the real cost. Raises StoreUnavailable: it expires in some minutes."""
        self._spending.settle_hold(hold, dollars)
