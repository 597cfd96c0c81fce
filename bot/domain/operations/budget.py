"""Daily budgets for model calls: the caps, the payers, and what is dropped first.

The caps are US dollars per local day. The payer is a person, by workspace and user, or the bot itself, which has
an empty name, for what it posts on schedule. All people together get a share of the total, so that the rest
remains for scheduled digests.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
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
PERSONAL_EXHAUSTED = "the person who asked has used up their budget for today"
TOO_MANY_CALLS = "the person who asked sent too many requests in a minute"
# the reasons that concern the budget
REVIEWS_EXHAUSTED = "today's budget for the second reading is used up"
BUDGET_REASONS = (NEARLY_EXHAUSTED, TOTAL_EXHAUSTED, PERSONAL_EXHAUSTED, TOO_MANY_CALLS)


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


def build_payer_name(date: dt.date, payer: str) -> str:
    """Return the name under which the cost of a person on that day is counted."""
    return f"{date}:{payer}"


def build_review_name(date: dt.date) -> str:
    """Return the name under which all reviews for bugs of a day are counted."""
    return f"{date}:reviews"


def list_names(date: dt.date, payer: str) -> tuple[str, ...]:
    """Return the names under which a call is counted."""
    return (
        (build_payer_name(date, payer), f"{date}:people", build_total_name(date))
        if payer
        else (build_total_name(date),)
    )


def list_caps(
    date: dt.date, payer: str, purpose: CallPurpose, daily: float, personal: float
) -> Sequence[BudgetCap]:
    """Return the caps that a call of the payer must stay below, in US dollars: a person's own cap first."""
    *own, whole = list_names(date, payer)
    shared = [(whole, daily), *((name, PEOPLE_SHARE * daily) for name in own[1:])]
    return (
        *(BudgetCap(name, personal, PERSONAL_EXHAUSTED) for name in own[:1]),
        *(BudgetCap(name, dollars, TOTAL_EXHAUSTED) for name, dollars in shared),
        *(
            BudgetCap(name, purpose.share * dollars, NEARLY_EXHAUSTED)
            for name, dollars in shared
            if purpose is not CallPurpose.USUAL
        ),
    )
