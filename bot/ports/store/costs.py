"""Interfaces to the counters of spent dollars, and to the ledger of costs."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Protocol

from bot.domain.operations.budget import BudgetHold
from bot.domain.operations.ledger import LedgerEntry


class SpendingStore(Protocol):
    """US dollars by name, such as those of a person on a day. Every method may raise StoreUnavailable."""

    def get_spending(self, name: str) -> float:
        """Return all that was settled in the last two days, in dollars."""

    def reserve_budget(self, hold: BudgetHold, caps: Sequence[tuple[str, float]]) -> int | None:
        """Reserve dollars if the settled and reserved sums are below all caps, in one step.

        ``caps`` are names with dollars. Return None, or the index of the first cap that is reached; then nothing
        is reserved. A reservation that is not settled expires after some minutes.
        """

    def settle_hold(self, hold: BudgetHold, dollars: float, entry: LedgerEntry | None = None) -> None:
        """Replace a reservation by the dollars that were really spent, and add to the ledger, in one step.

        Settling a reservation again changes nothing.
        """


class CostLedger(Protocol):
    """The ledger of costs by local date, kept for 13 months. Every method may raise StoreUnavailable."""

    def read_days(self, dates: Sequence[dt.date]) -> Sequence[Mapping[str, int]]:
        """Return the amounts of each date by name, in their order, in one call; none for a date without any."""
