"""The results of a backfill, for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from bot.domain.history.backfill import Outcome
from bot.domain.pull_requests.models import Repository
from bot.domain.text.strings import plural
from bot.domain.time.date_range import Span


def total(pulls: int, spent: float | None) -> str:
    """Format what was read, and the cost of the model in US dollars; ``spent`` is None without a model."""
    return plural(pulls, "pull request") + ("" if spent is None else f", ${spent:.2f}")


def line(outcome: Outcome) -> str:
    """Format one day, such as ``2026-02-24: 43 pull requests``."""
    if outcome.already:
        return f"{outcome.day.date}: was filled before"
    return f"{outcome.day.date}: {outcome.missing or plural(outcome.pulls, 'pull request')}"


def summary(repository: Repository, span: Span, outcomes: Sequence[Outcome], spent: float | None) -> str:
    """Format the result of all days, with a line for each that is not filled."""
    before = sum(outcome.already for outcome in outcomes)
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
            f"{repository}, {span} in {span.zone}: {plural(len(span), 'day')}: {totals}",
            f"read: {total(sum(outcome.pulls for outcome in outcomes), spent)}",
            *(f"not filled: {line(outcome)}" for outcome in failed),
        ]
    )
