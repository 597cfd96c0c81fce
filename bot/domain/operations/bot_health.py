"""The health of the bot, as people see it in Slack."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from bot.domain.operations.run import Run


@dataclass(frozen=True, slots=True)
class BotHealth:
    """The last tick of a clock, the last good and bad runs, and today's cost in US dollars.

    ``last_tick`` is None if there was no tick in the last day. ``store`` describes the memory usage of the store,
    and ``is_full`` is true if it is nearly full. ``stand_in_note`` is a sentence about what writes the summaries
    if there is no model. ``monthly_budget`` is None if only days are limited.
    """

    last_tick: datetime | None
    last_success: Run | None
    last_failure: Run | None
    cost_today: float
    budget: float
    has_model: bool
    store: str = ""
    is_full: bool = False
    stand_in_note: str = ""
    cost_of_month: float = 0.0
    monthly_budget: float | None = None


@dataclass(frozen=True, slots=True)
class LatestDigest:
    """The last digest of a subscription: a short text, its address, and the time at which it was due.

    ``repository_url`` is the address of the repository that the numbers in the text belong to.
    """

    text: str
    address: str
    due_at: datetime
    repository_url: str = ""
