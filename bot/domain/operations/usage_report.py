"""What ``/prdigest usage`` reports: the costs of a day and a month, and what is left of their budgets."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Any

from bot.domain.operations.budget import BudgetLimits, CallPurpose
from bot.domain.operations.ledger import CostTotals, Expense


@dataclass(frozen=True, slots=True)
class Spending:
    """US dollars that count toward the budget of a day or a month. ``limit`` is None if there is no budget."""

    dollars: float
    limit: float | None

    @property
    def left(self) -> float | None:
        """What is left; None without a budget."""
        return None if self.limit is None else max(0.0, self.limit - self.dollars)

    def is_reached(self, purpose: CallPurpose) -> bool:
        """Return whether calls for a purpose are left out."""
        return self.limit is not None and self.dollars >= purpose.share * self.limit


@dataclass(frozen=True, slots=True)
class LastDigest:
    """The digest that was posted last: its repository and days, and what it took."""

    title: str
    tokens: int
    dollars: float


@dataclass(frozen=True, slots=True)
class UsageReport:
    """The costs of today and of a month, by the ledger, and what counts toward the budgets.

    ``month`` is its first day. ``today``, ``day_spending`` and ``month_spending`` are None for an earlier month:
    its budget has no meaning any more. ``zone`` is where days begin. Without ``has_prices`` the models in use have
    none, so that dollars are not what calls cost.
    """

    month: dt.date
    zone: str
    month_totals: CostTotals
    today_totals: CostTotals | None = None
    day_spending: Spending | None = None
    month_spending: Spending | None = None
    last_digest: LastDigest | None = None
    has_prices: bool = True

    @property
    def omissions(self) -> tuple[CallPurpose, ...]:
        """The purposes for which no calls are made now, since a budget runs low; the least important first."""
        budgets = [each for each in (self.day_spending, self.month_spending) if each]
        return tuple(purpose for purpose in CallPurpose if any(each.is_reached(purpose) for each in budgets))

    def dump_json(self) -> dict[str, Any]:
        """Return the report for scripts. Dollars are not rounded."""
        return {
            "month": f"{self.month:%Y-%m}",
            "zone": self.zone,
            "month_total": _dump_totals(self.month_totals),
            "today_total": _dump_totals(self.today_totals) if self.today_totals else None,
            "day_budget": _dump_spending(self.day_spending),
            "month_budget": _dump_spending(self.month_spending),
            "prices_known": self.has_prices,
            "left_out": [purpose.name.lower() for purpose in self.omissions],
            "last_digest": None
            if self.last_digest is None
            else {
                "title": self.last_digest.title,
                "tokens": self.last_digest.tokens,
                "dollars": self.last_digest.dollars,
            },
        }


def build_spendings(limits: BudgetLimits, today: float, month: float) -> tuple[Spending, Spending]:
    """Build what counts toward the budgets of a day and of a month, in US dollars."""
    return Spending(today, limits.daily), Spending(month, limits.monthly)


def _dump_spending(spending: Spending | None) -> dict[str, float | None] | None:
    if spending is None:
        return None
    return {"dollars": spending.dollars, "limit": spending.limit, "left": spending.left}


def _dump_totals(totals: CostTotals) -> dict[str, Any]:
    return {
        **_dump_expense(totals.total),
        "by_kind": {str(kind): _dump_expense(expense) for kind, expense in totals.by_kind.items()},
        "dollars_by_origin": {str(origin): dollars for origin, dollars in totals.by_origin.items()},
        "work": {
            str(kind): {"count": work.count, "tokens": work.tokens, "dollars": work.dollars}
            for kind, work in totals.work.items()
        },
        "summaries_from_cache": totals.cache_hits,
        "summaries_made": totals.cache_misses,
    }


def _dump_expense(expense: Expense) -> dict[str, Any]:
    usage = expense.usage
    return {
        "calls": expense.calls,
        "input_tokens": usage.input,
        "output_tokens": usage.output,
        "cache_read_tokens": usage.cache_read,
        "cache_write_tokens": usage.cache_write + usage.cache_write_hour,
        "dollars": expense.dollars,
    }
