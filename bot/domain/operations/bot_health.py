"""How the bot is, for people who look at it in Slack."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from bot.domain.operations.run import Run


@dataclass(frozen=True, slots=True)
class Health:
    """When a clock last looked (None: not in the last day), the last good and bad runs, US dollars of today.

    ``store`` says how much of its memory the store uses, and ``is_full`` that it is nearly full. ``stands_in`` is
    a sentence on who writes in place of a model.
    """

    ticked: datetime | None
    good: Run | None
    bad: Run | None
    spent: float
    budget: float
    has_model: bool
    store: str = ""
    is_full: bool = False
    stands_in: str = ""


@dataclass(frozen=True, slots=True)
class Latest:
    """The last digest of a subscription: what it says in short, its address, and when it was due."""

    text: str
    address: str
    due: datetime
