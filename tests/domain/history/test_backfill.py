"""When a past day needs nothing more, and when the rest of a limit is for others."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from bot.domain.history.backfill import BackfillRecord
from bot.domain.operations.rate_allowance import RateAllowance

THEN = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
FACTS, HAIKU = BackfillRecord(THEN), BackfillRecord(THEN, "haiku")
YEARS, WEEKS = timedelta(days=900), timedelta(days=89)
COVERED: dict[str, tuple[BackfillRecord, str, timedelta, bool]] = {
    "facts for facts": (FACTS, "", WEEKS, True),
    "facts stay": (FACTS, "", YEARS, True),
    "facts for summaries": (FACTS, "haiku", WEEKS, False),
    "summaries for facts": (HAIKU, "", YEARS, True),
    "summaries for summaries": (HAIKU, "haiku", WEEKS, True),
    "summaries are gone": (HAIKU, "haiku", timedelta(days=90), False),
    "of another model": (HAIKU, "sonnet", WEEKS, False),
}


@pytest.mark.parametrize(("fill", "model", "later", "expected"), COVERED.values(), ids=COVERED)
def test_a_fill_covers_what_is_wanted(fill: BackfillRecord, model: str, later: timedelta, expected: bool) -> None:
    assert fill.is_complete_for(model, THEN + later) is expected


@pytest.mark.parametrize(
    ("left", "limit", "expected"), [(499, 5_000, True), (500, 5_000, False), (0, 60, True), (6, 60, False)]
)
def test_the_last_tenth_is_for_others(left: int, limit: int, expected: bool) -> None:
    assert RateAllowance(left, limit, THEN).is_short is expected
