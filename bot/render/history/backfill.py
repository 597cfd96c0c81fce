"""The result of a backfill, for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from bot.domain.history.backfill import BackfillOutcome
from bot.domain.pull_requests.models import Repository
from bot.domain.time.date_range import Span
from bot.render.history import sentences


def format_backfill(
    repository: Repository, span: Span, outcomes: Sequence[BackfillOutcome], spent: float | None
) -> str:
    """Format the result of all days, with a line for each that is not filled.

    ``spent`` is the cost of the model in US dollars, None without a model.
    """
    before = sum(outcome.was_filled for outcome in outcomes)
    failed = [outcome for outcome in outcomes if not outcome.is_filled]
    counts = {
        sentences.FILLED: len(outcomes) - before - len(failed),
        sentences.FILLED_BEFORE: before,
        sentences.NOT_FILLED: len(failed),
        sentences.NOT_REACHED: len(span) - len(outcomes),
    }
    lines = [
        sentences.format_days(repository, span, counts),
        sentences.format_read(sum(outcome.pulls for outcome in outcomes), spent),
        *map(sentences.format_failed_day, failed),
    ]
    return "\n".join(lines)
