"""The results of a backfill, for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from bot.domain.history.backfill import BackfillOutcome
from bot.domain.pull_requests.models import Repository
from bot.domain.text.strings import format_count
from bot.domain.time.date_range import Span


def format_total(pulls: int, spent: float | None) -> str:
    """Format what was read, and the cost of the model in US dollars; ``spent`` is None without a model."""
    return format_count(pulls, "pull request") + ("" if spent is None else f", ${spent:.2f}")


def format_day(outcome: BackfillOutcome) -> str:
    """Format one day, such as ``2026-02-24: 43 pull requests``."""
    if outcome.was_filled:
        return f"{outcome.day.date}: was filled before"
    return f"{outcome.day.date}: {outcome.failure_reason or format_count(outcome.pulls, 'pull request')}"


def format_backfill(
    repository: Repository, span: Span, outcomes: Sequence[BackfillOutcome], spent: float | None
) -> str:
    """Format the result of all days, with a line for each that is not filled."""
    before = sum(outcome.was_filled for outcome in outcomes)
    failed = [outcome for outcome in outcomes if not outcome.is_filled]
    counts = {
        "filled": len(outcomes) - before - len(failed),
        "filled before": before,
        "not filled": len(failed),
        "not reached": len(span) - len(outcomes),
    }
    totals = ", ".join(f"{count:,} {what}" for what, count in counts.items() if count or what == "filled")
    return "\n".join(
        [
            f"{repository}, {span} in {span.zone}: {format_count(len(span), 'day')}: {totals}",
            f"read: {format_total(sum(outcome.pulls for outcome in outcomes), spent)}",
            *(f"not filled: {format_day(outcome)}" for outcome in failed),
        ]
    )
