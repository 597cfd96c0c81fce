"""What a backfill did, for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from bot.domain.history.backfill import Outcome
from bot.domain.pull_requests.models import Repository
from bot.domain.text.strings import plural
from bot.domain.time.date_range import Span


def total(pulls: int, spent: float | None) -> str:
    """What was read, and what the model took in US dollars; None where none was asked."""
    return plural(pulls, "pull request") + ("" if spent is None else f", ${spent:.2f}")


def line(outcome: Outcome) -> str:
    """One day: ``2026-02-24: 43 pull requests``."""
    if outcome.already:
        return f"{outcome.day.date}: was filled before"
    return f"{outcome.day.date}: {outcome.missing or plural(outcome.pulls, 'pull request')}"


def summary(repository: Repository, span: Span, outcomes: Sequence[Outcome], spent: float | None) -> str:
    """What came of the days, the ones that are not filled by name."""
    before = sum(outcome.already for outcome in outcomes)
    failed = [outcome for outcome in outcomes if not outcome.is_filled]
    counts = {
        "filled": len(outcomes) - before - len(failed),
        "filled before": before,
        "not filled": len(failed),
        "not reached": len(span) - len(outcomes),
    }
    told = ", ".join(f"{count:,} {what}" for what, count in counts.items() if count or what == "filled")
    return "\n".join(
        [
            f"{repository}, {span} in {span.zone}: {plural(len(span), 'day')}: {told}",
            f"read: {total(sum(outcome.pulls for outcome in outcomes), spent)}",
            *(f"not filled: {line(outcome)}" for outcome in failed),
        ]
    )
