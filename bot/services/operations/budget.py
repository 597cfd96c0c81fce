"""Budget for calls to the model: for a whole day, and for each person."""

from __future__ import annotations

import logging
from collections.abc import Callable
from uuid import uuid4

from bot.domain.conversations.slack_request import SlackRequest
from bot.domain.errors import BudgetExceeded
from bot.domain.operations.budget import (
    PERSONAL_EXHAUSTED,
    BudgetHold,
    CallPurpose,
    build_total_name,
    list_caps,
    list_names,
)
from bot.domain.time.day import LocalDay
from bot.ports import SpendingStore
from bot.services.operations.billing import name_payer

log = logging.getLogger(__name__)

_DAILY_SPENT = "Today's model budget is used up; it resets at midnight ({})."
_PERSONAL_SPENT = "You have used up your budget for today; it resets at midnight ({})."


class Budget:
    """Budget of a local day in US dollars.

    Calls that run at the same time may exceed it by their own cost at most.
    """

    def __init__(
        self,
        spending: SpendingStore,
        today: Callable[[], LocalDay],
        daily: float,
        personal: float,
        new_token: Callable[[], str] = lambda: uuid4().hex,
    ) -> None:
        self._spending = spending
        self._today = today
        self._daily = daily
        self._personal = personal
        self._new_token = new_token

    def explain_refusal(self, slack_request: SlackRequest) -> str:
        """Return why the model gives no answer, as a sentence for the asker; empty if it may.

        Raises:
            StoreUnavailable: the spending is unknown.
        """
        today = self._today()
        caps = list_caps(today.date, name_payer(slack_request), CallPurpose.USUAL, self._daily, self._personal)
        for cap in caps:
            if self._spending.get_spending(cap.name) >= cap.dollars:
                return (_PERSONAL_SPENT if cap.reason == PERSONAL_EXHAUSTED else _DAILY_SPENT).format(today.zone)
        return ""

    def reserve_cost(self, payer: str, purpose: CallPurpose, dollars: float) -> BudgetHold:
        """Reserve the expected cost of a call until it is settled.

        Raises:
            BudgetExceeded: not enough is left for such a call.
            StoreUnavailable: the spending is unknown.
        """
        date = self._today().date
        caps = list_caps(date, payer, purpose, self._daily, self._personal)
        hold = BudgetHold(self._new_token(), dollars, list_names(date, payer))
        cap_index = self._spending.reserve_budget(hold, [(cap.name, cap.dollars) for cap in caps])
        if cap_index is not None:
            raise BudgetExceeded(caps[cap_index].reason)
        return hold

    def settle_cost(self, hold: BudgetHold, dollars: float) -> None:
        """Replace a reservation by the real cost of the call.

        Raises:
            StoreUnavailable: the reservation expires in some minutes.
        """
        self._spending.settle_hold(hold, max(0.0, dollars))

    def read_spending_today(self) -> tuple[float, float]:
        """Return what all calls of today have cost, and the budget of a day, in US dollars.

        Raises StoreUnavailable.
        """
        return self._spending.get_spending(build_total_name(self._today().date)), self._daily
