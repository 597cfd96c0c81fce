"""How the bot is, for people who look at it in Slack."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from bot.domain.runs import Run


@dataclass(frozen=True, slots=True)
class Health:
    """When a clock last looked (None: not in the last day), the last good and bad runs, US dollars of today."""

    ticked: datetime | None
    good: Run | None
    bad: Run | None
    spent: float
    budget: float
    has_model: bool


@dataclass(frozen=True, slots=True)
class Latest:
    """The last digest of a subscription: what it says in short, its address, and when it was due."""

    text: str
    address: str
    due: datetime
