"""Budgets for model calls: the caps, the payers, and what is dropped first.

The caps are US dollars per local day and per local month. The payer is a person, by workspace and user, or the bot
itself, which has an empty name, for what it posts on schedule. All people together get a share of the total, so
that the rest remains for scheduled digests.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum

# the share of the total that all people together may spend; a morning of 43 pull requests costs a few per cent of
# the usual ten dollars, and the rest is reserved for it
PEOPLE_SHARE = 0.75
# changed lines up to which a pull request is small: its title and its files describe most of it
MAX_SMALL_LINES = 50
# reasons for a missing model answer, as clauses for the readers of the text that replaces it
NEARLY_EXHAUSTED = "today's model budget is nearly used up"
TOTAL_EXHAUSTED = "today's model budget is used up"
MONTH_NEARLY_EXHAUSTED = "this month's model budget is nearly used up"
MONTH_EXHAUSTED = "this month's model budget is used up"
PERSONAL_EXHAUSTED = "the person who asked has used up their budget for today"
TOO_MANY_CALLS = "the person who asked sent too many requests in a minute"
# the reasons that concern the budget
REVIEWS_EXHAUSTED = "today's budget for the second reading is used up"
BUDGET_REASONS = (
    NEARLY_EXHAUSTED,
    TOTAL_EXHAUSTED,
    MONTH_NEARLY_EXHAUSTED,
    MONTH_EXHAUSTED,
    PERSONAL_EXHAUSTED,
    TOO_MANY_CALLS,
)

_NEARLY = {TOTAL_EXHAUSTED: NEARLY_EXHAUSTED, MONTH_EXHAUSTED: MONTH_NEARLY_EXHAUSTED}
_MONTH_NAME = re.compile(r"\d{4}-\d\d(?!-)", re.A)


class CallPurpose(IntEnum):
    """The purpose of a model call. The least important comes first and is dropped first."""

    SECOND_READING = 0
    OVERVIEW = 1
    SMALL = 2
    USUAL = 3

    @property
    def share(self) -> float:
        """The fraction of a cap up to which calls for this purpose are made."""
        return (0.8, 0.9, 0.95, 1.0)[self]


def classify_purpose(changed_lines: int) -> CallPurpose:
    """Return the purpose of a summary of a pull request of that size."""
    return CallPurpose.SMALL if changed_lines <= MAX_SMALL_LINES else CallPurpose.USUAL


@dataclass(frozen=True, slots=True)
class BudgetLimits:
    """US dollars that model calls may cost: of a day, of one person on a day, and of a month.

    Without a ``monthly`` limit, months are counted and not bounded.
    """

    daily: float
    personal: float
    monthly: float | None = None


@dataclass(frozen=True, slots=True)
class BudgetCap:
    """A limit in US dollars for the cost counted under a name. ``reason`` is shown where the limit is reached."""

    name: str
    dollars: float
    reason: str


@dataclass(frozen=True, slots=True)
class BudgetHold:
    """US dollars reserved for a call under several names. ``token`` is unique."""

    token: str
    dollars: float
    names: tuple[str, ...]


def build_total_name(date: dt.date) -> str:
    """Return the name under which the total of a day is counted."""
    return f"{date}"


def build_month_name(date: dt.date) -> str:
    """Return the name under which the total of a month is counted, such as ``2026-11``."""
    return f"{date:%Y-%m}"


def is_month_name(name: str) -> bool:
    """Return whether what is counted under a name belongs to a month, not to a day."""
    return _MONTH_NAME.match(name) is not None


def build_payer_name(date: dt.date, payer: str) -> str:
    """Return the name under which the cost of a person on that day is counted."""
    return f"{date}:{payer}"


def build_review_name(date: dt.date) -> str:
    """Return the name under which all reviews for bugs of a day are counted."""
    return f"{date}:reviews"


def build_terminal_name(date: dt.date) -> str:
    """Return the name under which the commands in a terminal of a day are counted. No cap holds for it."""
    return f"{date}:terminal"


def list_names(date: dt.date, payer: str) -> tuple[str, ...]:
    """Return the names under which a call is counted."""
    totals = (build_total_name(date), build_month_name(date))
    if not payer:
        return totals
    return (build_payer_name(date, payer), *(_build_people_name(total) for total in totals), *totals)


def list_caps(date: dt.date, payer: str, purpose: CallPurpose, limits: BudgetLimits) -> Sequence[BudgetCap]:
    """Return the caps that a call of the payer must stay below: a person's own cap first, then the day's."""
    own = [BudgetCap(build_payer_name(date, payer), limits.personal, PERSONAL_EXHAUSTED)] if payer else []
    shared = [
        *_list_shared_caps(build_total_name(date), payer, limits.daily, TOTAL_EXHAUSTED),
        *_list_shared_caps(build_month_name(date), payer, limits.monthly, MONTH_EXHAUSTED),
    ]
    reduced = [
        BudgetCap(cap.name, purpose.share * cap.dollars, _NEARLY[cap.reason])
        for cap in shared
        if purpose is not CallPurpose.USUAL
    ]
    return (*own, *shared, *reduced)


def _build_people_name(total: str) -> str:
    """Return the name under which the calls of all people are counted."""
    return f"{total}:people"


def _list_shared_caps(total: str, payer: str, dollars: float | None, reason: str) -> Iterator[BudgetCap]:
    """Yield the caps of a day or a month, if it has a limit: that of all calls, and that of people's."""
    if dollars is None:
        return
    yield BudgetCap(total, dollars, reason)
    if payer:
        yield BudgetCap(_build_people_name(total), PEOPLE_SHARE * dollars, reason)
