"""How much model calls may cost: all of a day, and one person's."""

from __future__ import annotations

import logging
from collections.abc import Callable
from uuid import uuid4

from bot.domain.conversations.slack_request import Visit
from bot.domain.errors import BudgetSpent
from bot.domain.operations.budget import OWN_SPENT, Hold, Need, list_caps, list_names, name_whole
from bot.domain.time.day import LocalDay
from bot.ports import Spending
from bot.services.operations.payer import name_payer

log = logging.getLogger(__name__)

_ALL = "Today's budget for the model is used up; it begins anew at midnight ({})."
_OWN = "You have used up your budget for today; it begins anew at midnight ({})."


class Budget:
    """US dollars of a local day. Calls that run at the same time may go over it by what they cost, and no more."""

    def __init__(
        self,
        spending: Spending,
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

    def refusal(self, visit: Visit) -> str:
        """Why there is no answer by the model, as a sentence for the asker; empty if there may be one.

        Raises:
            StoreUnavailable: nobody knows what was spent.
        """
        today = self._today()
        caps = list_caps(today.date, name_payer(visit), Need.USUAL, self._daily, self._personal)
        for cap in caps:
            if self._spending.spent(cap.name) >= cap.dollars:
                return (_OWN if cap.reason == OWN_SPENT else _ALL).format(today.zone)
        return ""

    def hold(self, payer: str, need: Need, dollars: float) -> Hold:
        """Reserve what a call is expected to cost, until it is settled.

        Raises:
            BudgetSpent: there is nothing left for such a call.
            StoreUnavailable: nobody knows what was spent.
        """
        date = self._today().date
        caps = list_caps(date, payer, need, self._daily, self._personal)
        hold = Hold(self._new_token(), dollars, list_names(date, payer))
        refused = self._spending.hold(hold, [(cap.name, cap.dollars) for cap in caps])
        if refused is not None:
            raise BudgetSpent(caps[refused].reason)
        return hold

    def settle(self, hold: Hold, dollars: float) -> None:
        """A call has cost this. Raises StoreUnavailable: what was reserved is free again in some minutes."""
        self._spending.settle(hold, max(0.0, dollars))

    def spent_today(self) -> tuple[float, float]:
        """What all calls of today have cost, and what they may cost. Raises StoreUnavailable."""
        return self._spending.spent(name_whole(self._today().date)), self._daily
