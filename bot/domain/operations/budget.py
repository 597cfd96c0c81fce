"""How much a day's model calls may cost, who may spend how much of it, and what is given up first.

The caps are dollars of a local day. Whoever pays is a person, by workspace and user, or the bot itself, which has
no name, for what it posts by itself. People together get a share of the whole, so that the rest is there for that.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

# what people may spend together of the whole; a morning of 43 pull requests costs a few per cent of the usual ten
# dollars, and has the rest for itself
PEOPLES_SHARE = 0.75
# changed lines up to which a pull request is a small one: its title and its files say most of what it does
MOST_SMALL = 50
# why there is no answer of the model's, as clauses for readers of what stands there in its place
NEARLY_SPENT = "today's budget for the model is nearly used up"
ALL_SPENT = "today's budget for the model is used up"
OWN_SPENT = "whoever asked has used up their budget for today"
TOO_MANY = "whoever asked has asked for a lot in a minute"
# those that speak of money
SAVING = (NEARLY_SPENT, ALL_SPENT, OWN_SPENT, TOO_MANY)


class Need(IntEnum):
    """What a model call is for: what can be missed most easily comes first, and is given up first."""

    SECOND_READING = 0
    OVERVIEW = 1
    SMALL = 2
    USUAL = 3

    @property
    def share(self) -> float:
        """The part of a cap up to which there are such calls."""
        return (0.8, 0.9, 0.95, 1.0)[self]


def rank_need(changed_lines: int) -> Need:
    """What the summary of a pull request of that size is."""
    return Need.SMALL if changed_lines <= MOST_SMALL else Need.USUAL


@dataclass(frozen=True, slots=True)
class Cap:
    """What is counted under a name, and how many dollars that may be; ``reason`` says why there are no more."""

    name: str
    dollars: float
    reason: str


@dataclass(frozen=True, slots=True)
class Hold:
    """Dollars that are reserved for a call under each of some names. ``token`` is no other's."""

    token: str
    dollars: float
    names: tuple[str, ...]


def name_whole(date: dt.date) -> str:
    """The name under which all of a day is counted."""
    return f"{date}"


def name_own(date: dt.date, payer: str) -> str:
    """The name under which a person's of that day is counted."""
    return f"{date}:{payer}"


def list_names(date: dt.date, payer: str) -> tuple[str, ...]:
    """Under which names a call is counted."""
    return (name_own(date, payer), f"{date}:people", name_whole(date)) if payer else (name_whole(date),)


def list_caps(date: dt.date, payer: str, need: Need, daily: float, personal: float) -> Sequence[Cap]:
    """What a call of that payer has to stay below, in US dollars: first what holds for all calls."""
    *own, whole = list_names(date, payer)
    shared = [(whole, daily), *((name, PEOPLES_SHARE * daily) for name in own[1:])]
    return (
        *(Cap(name, personal, OWN_SPENT) for name in own[:1]),
        *(Cap(name, dollars, ALL_SPENT) for name, dollars in shared),
        *(Cap(name, need.share * dollars, NEARLY_SPENT) for name, dollars in shared if need is not Need.USUAL),
    )
