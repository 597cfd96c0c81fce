"""Budget for calls to the model: for a whole day, for a month, and for each person."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from uuid import uuid4

from bot.domain.conversations.slack_request import SlackRequest
from bot.domain.errors import BudgetExceeded
from bot.domain.operations.budget import (
    BudgetHold,
    BudgetLimits,
    BudgetRefusal,
    CallPurpose,
    build_month_name,
    build_terminal_name,
    build_total_name,
    list_caps,
    list_names,
)
from bot.domain.operations.ledger import LedgerEntry
from bot.domain.time.day import LocalDay
from bot.ports import SpendingStore
from bot.services.costs.billing import name_payer

_SPENT_SENTENCES = {
    BudgetRefusal.DAY_USED: "Today's model budget is used up; it resets at midnight ({zone}).",
    BudgetRefusal.PERSON_USED: "You have used up your budget for today; it resets at midnight ({zone}).",
    BudgetRefusal.MONTH_USED: "This month's model budget is used up; it resets on {first} ({zone}).",
}


class Budget:
    """Budget of a local day, and of its month, in US dollars.

    Calls that run at the same time may exceed it by their own cost at most.
    """

    def __init__(
        self,
        spending: SpendingStore,
        today: Callable[[], LocalDay],
        daily: float,
        personal: float,
        new_token: Callable[[], str] = lambda: uuid4().hex,
        monthly: float | None = None,
    ) -> None:
        self._spending = spending
        self._today = today
        self._limits = BudgetLimits(daily, personal, monthly)
        self._new_token = new_token

    def explain_refusal(self, slack_request: SlackRequest) -> str:
        """Return why the model gives no answer, as a sentence for the asker; empty if it may.

        Raises:
            StoreUnavailable: the spending is unknown.
        """
        today = self._today()
        caps = list_caps(today.date, name_payer(slack_request), CallPurpose.USUAL, self._limits)
        for cap in caps:
            if self._spending.get_spending(cap.name) >= cap.dollars:
                return _SPENT_SENTENCES[cap.refusal].format(zone=today.zone, first=find_next_month(today.date))
        return ""

    def reserve_cost(self, payer: str, purpose: CallPurpose, dollars: float) -> BudgetHold:
        """Reserve the expected cost of a call until it is settled.

        Raises:
            BudgetExceeded: not enough is left for such a call.
            StoreUnavailable: the spending is unknown.
        """
        date = self._today().date
        caps = list_caps(date, payer, purpose, self._limits)
        hold = BudgetHold(self._new_token(), dollars, list_names(date, payer))
        cap_index = self._spending.reserve_budget(hold, [(cap.name, cap.dollars) for cap in caps])
        if cap_index is not None:
            raise BudgetExceeded(caps[cap_index].refusal)
        return hold

    def settle_cost(self, hold: BudgetHold, dollars: float, entry: LedgerEntry | None = None) -> None:
        """Replace a reservation by the real cost of the call, and add the call to the ledger.

        Raises:
            StoreUnavailable: the reservation expires in some minutes.
        """
        self._spending.settle_hold(hold, max(0.0, dollars), entry)

    def record_unlimited(self, entry: LedgerEntry, dollars: float = 0.0) -> None:
        """Add an entry to the ledger whose cost counts toward no cap. Raises StoreUnavailable."""
        hold = BudgetHold(self._new_token(), 0.0, (build_terminal_name(entry.date),))
        self._spending.settle_hold(hold, max(0.0, dollars), entry)

    @property
    def limits(self) -> BudgetLimits:
        """The limits in US dollars."""
        return self._limits

    def get_date(self) -> dt.date:
        """Return the local date on which a call of now is counted."""
        return self._today().date

    def read_spending_today(self) -> tuple[float, float]:
        """Return what all calls of today have cost, and the budget of a day, in US dollars.

        Raises StoreUnavailable.
        """
        return self._spending.get_spending(build_total_name(self._today().date)), self._limits.daily

    def read_spending_of_month(self) -> float:
        """Return what all calls of this month that count toward its cap have cost. Raises StoreUnavailable."""
        return self._spending.get_spending(build_month_name(self._today().date))


def find_next_month(date: dt.date) -> dt.date:
    """Return the first day of the month after a date."""
    return (date.replace(day=1) + dt.timedelta(days=32)).replace(day=1)
