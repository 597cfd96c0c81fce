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
PEOPLES_SHARE = 0.75
# changed lines up to which a pull request is small: its title and its files describe most of it
MOST_SMALL = 50
# reasons for a missing model answer, as clauses for the readers of the text that replaces it
NEARLY_SPENT = "today's budget for the model is nearly used up"
ALL_SPENT = "today's budget for the model is used up"
OWN_SPENT = "whoever asked has used up their budget for today"
TOO_MANY = "whoever asked has asked for a lot in a minute"
# the reasons that concern the budget
SAVING = (NEARLY_SPENT, ALL_SPENT, OWN_SPENT, TOO_MANY)


class Need(IntEnum):
    """The purpose of a model call. The least important comes first and is dropped first."""

    SECOND_READING = 0
    OVERVIEW = 1
    SMALL = 2
    USUAL = 3

    @property
    def share(self) -> float:
        """The fraction of a cap up to which calls for this purpose are made."""
        return (0.8, 0.9, 0.95, 1.0)[self]


def rank_need(changed_lines: int) -> Need:
    """Return the purpose of a summary of a pull request of that size."""
    return Need.SMALL if changed_lines <= MOST_SMALL else Need.USUAL


@dataclass(frozen=True, slots=True)
class Cap:
    """A limit in US dollars for the cost counted under a name. ``reason`` is shown where the limit is reached."""

    name: str
    dollars: float
    reason: str


@dataclass(frozen=True, slots=True)
class Hold:
    """US dollars reserved for a call under several names. ``token`` is unique."""

    token: str
    dollars: float
    names: tuple[str, ...]


def name_whole(date: dt.date) -> str:
    """Return the name under which the total of a day is counted."""
    return f"{date}"


def name_own(date: dt.date, payer: str) -> str:
    """Return the name under which the cost of a person on that day is counted."""
    return f"{date}:{payer}"


def list_names(date: dt.date, payer: str) -> tuple[str, ...]:
    """Return the names under which a call is counted."""
    return (name_own(date, payer), f"{date}:people", name_whole(date)) if payer else (name_whole(date),)


def list_caps(date: dt.date, payer: str, need: Need, daily: float, personal: float) -> Sequence[Cap]:
    """Return the caps that a call of the payer must stay below, in US dollars: a person's own cap first."""
    *own, whole = list_names(date, payer)
    shared = [(whole, daily), *((name, PEOPLES_SHARE * daily) for name in own[1:])]
    return (
        *(Cap(name, personal, OWN_SPENT) for name in own[:1]),
        *(Cap(name, dollars, ALL_SPENT) for name, dollars in shared),
        *(Cap(name, need.share * dollars, NEARLY_SPENT) for name, dollars in shared if need is not Need.USUAL),
    )
