"""Budgets for model calls: the caps, the payers, and what is dropped first.

The caps are US dollars per local day and per local month. The payer is a person, by workspace and user, or the bot
itself, which has an empty name, for what it posts on schedule. All people together get a share of the total, so
that the rest remains for scheduled digests.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum

# the share of the total that all people together may spend; a morning of 43 pull requests costs a few per cent of
# the usual ten dollars, and the rest is reserved for it
PEOPLE_SHARE = 0.75
# changed lines up to which a pull request is small: its title and its files describe most of it
MAX_SMALL_LINES = 50
_MONTH_NAME = re.compile(r"\d{4}-\d\d(?!-)", re.A)


class BudgetRefusal(StrEnum):
    """Why the budget allows no call of the model. The store may have it; no value is ever changed."""

    DAY_NEARLY_USED = "day_nearly_used"
    DAY_USED = "day_used"
    MONTH_NEARLY_USED = "month_nearly_used"
    MONTH_USED = "month_used"
    PERSON_USED = "person_used"
    TOO_MANY_CALLS = "too_many_calls"
    REVIEWS_USED = "reviews_used"

    @property
    def clause(self) -> str:
        """The refusal as a clause, for the readers of the text that replaces an answer."""
        return _CLAUSES[self]


_CLAUSES: Mapping[BudgetRefusal, str] = {
    BudgetRefusal.DAY_NEARLY_USED: "today's model budget is nearly used up",
    BudgetRefusal.DAY_USED: "today's model budget is used up",
    BudgetRefusal.MONTH_NEARLY_USED: "this month's model budget is nearly used up",
    BudgetRefusal.MONTH_USED: "this month's model budget is used up",
    BudgetRefusal.PERSON_USED: "the person who asked has used up their budget for today",
    BudgetRefusal.TOO_MANY_CALLS: "the person who asked sent too many requests in a minute",
    BudgetRefusal.REVIEWS_USED: "today's budget for the second reading is used up",
}
_NEARLY = {
    BudgetRefusal.DAY_USED: BudgetRefusal.DAY_NEARLY_USED,
    BudgetRefusal.MONTH_USED: BudgetRefusal.MONTH_NEARLY_USED,
}


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
    """A limit in US dollars for the cost counted under a name. ``refusal`` is the reason at the limit."""

    name: str
    dollars: float
    refusal: BudgetRefusal


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
    own = [BudgetCap(build_payer_name(date, payer), limits.personal, BudgetRefusal.PERSON_USED)] if payer else []
    shared = [
        *_list_shared_caps(build_total_name(date), payer, limits.daily, BudgetRefusal.DAY_USED),
        *_list_shared_caps(build_month_name(date), payer, limits.monthly, BudgetRefusal.MONTH_USED),
    ]
    reduced = [
        BudgetCap(cap.name, purpose.share * cap.dollars, _NEARLY[cap.refusal])
        for cap in shared
        if purpose is not CallPurpose.USUAL
    ]
    return (*own, *shared, *reduced)


def _build_people_name(total: str) -> str:
    """Return the name under which the calls of all people are counted."""
    return f"{total}:people"


def _list_shared_caps(
    total: str, payer: str, dollars: float | None, refusal: BudgetRefusal
) -> Iterator[BudgetCap]:
    """Yield the caps of a day or a month, if it has a limit: that of all calls, and that of people's."""
    if dollars is None:
        return
    yield BudgetCap(total, dollars, refusal)
    if payer:
        yield BudgetCap(_build_people_name(total), PEOPLE_SHARE * dollars, refusal)
