"""How much answers may cost: all of a day, and one person's."""

from __future__ import annotations

from collections.abc import Callable

from bot.domain.days import LocalDay
from bot.domain.visits import Visit
from bot.ports import Spending

_ALL = "Today's budget for answers is used up; it begins anew at midnight ({})."
_OWN = "You have used up your budget for answers today; it begins anew at midnight ({})."


class Budget:
    """US dollars of a local day. Answers that are written at the same time may go over it by their own cost."""

    def __init__(self, spending: Spending, today: Callable[[], LocalDay], daily: float, personal: float) -> None:
        self._spending = spending
        self._today = today
        self._daily = daily
        self._personal = personal

    def refusal(self, visit: Visit) -> str:
        """Why there is no answer by the model, as a sentence for the asker; empty if there may be one.

        Raises:
            StoreUnavailable: nobody knows what was spent.
        """
        whole, own = self._names(visit)
        zone = str(self._today().zone)
        if self._spending.spent(whole) >= self._daily:
            return _ALL.format(zone)
        return _OWN.format(zone) if self._spending.spent(own) >= self._personal else ""

    def spent_today(self) -> tuple[float, float]:
        """What all answers of today have cost, and what they may cost. Raises StoreUnavailable."""
        return self._spending.spent(f"{self._today().date}"), self._daily

    def spend(self, visit: Visit, dollars: float) -> None:
        """An answer cost this. Raises StoreUnavailable."""
        if dollars > 0:
            self._spending.add(dollars, *self._names(visit))

    def _names(self, visit: Visit) -> tuple[str, str]:
        date = self._today().date
        return f"{date}", f"{date}:{visit.team}:{visit.user}"
