"""When a digest that was posted with gaps is looked at again."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from bot.domain.subscriptions.models import Edition
from bot.domain.time.date_range import Span, written_span

FIRST = timedelta(minutes=5)
# most outages are over within minutes, and the index of GitHub's search is right within the hour; the last pause
# is what the last try gets to end in
_PAUSES = (timedelta(minutes=30), timedelta(hours=2), timedelta(hours=6), timedelta(hours=1))
MOST = len(_PAUSES)


def next_mend(at: datetime, tries: int) -> datetime | None:
    """When to look again after the try made at an instant, before which there were ``tries``; None: no more."""
    return at + _PAUSES[tries] if tries < len(_PAUSES) else None


def skipped_before(record: Mapping[str, str], edition: Edition) -> Span | None:
    """The days before this edition that were never posted, if its record names any."""
    text = record.get("skipped")
    return written_span(text, edition.span.zone) if text else None
