"""What people read about the backfill of past days, in a terminal."""

from __future__ import annotations

from collections.abc import Mapping

from bot.domain.history.backfill import BackfillOutcome
from bot.domain.pull_requests.models import Repository
from bot.domain.text.strings import format_count
from bot.domain.time.date_range import Span

# the states of days, in the order of the sentence that counts them

FILLED = "filled"
FILLED_BEFORE = "loaded before"
NOT_FILLED = "not loaded"
NOT_REACHED = "not reached"


def format_total(pulls: int, spent: float | None) -> str:
    """Format what was read, and the cost of the model in US dollars; ``spent`` is None without a model."""
    return format_count(pulls, "pull request") + ("" if spent is None else f", ${spent:.2f}")


def format_day(outcome: BackfillOutcome) -> str:
    """Format one day, such as ``2026-02-24: 43 pull requests``."""
    if outcome.was_filled:
        return f"{outcome.day.date}: already loaded"
    return f"{outcome.day.date}: {outcome.failure_reason or format_count(outcome.pulls, 'pull request')}"


def format_days(repository: Repository, span: Span, counts: Mapping[str, int]) -> str:
    """Format the days and how many of them are in each state; only that of the filled ones may be zero."""
    totals = ", ".join(f"{count:,} {state}" for state, count in counts.items() if count or state == FILLED)
    return f"{repository}, {span} in {span.zone}: {format_count(len(span), 'day')}: {totals}"


def format_read(pulls: int, spent: float | None) -> str:
    """Format the total of all days."""
    return f"read: {format_total(pulls, spent)}"


def format_failed_day(outcome: BackfillOutcome) -> str:
    """Format a day that is not filled, with the reason."""
    return f"{NOT_FILLED}: {format_day(outcome)}"
