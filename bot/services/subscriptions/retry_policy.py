"""When a digest that was posted with gaps is looked at again."""

from __future__ import annotations

from datetime import datetime, timedelta

FIRST_REPAIR_DELAY = timedelta(minutes=5)
# most outages are over within minutes, and the index of GitHub's search is right within the hour; the last pause
# is what the last try gets to end in
_REPAIR_PAUSES = (timedelta(minutes=30), timedelta(hours=2), timedelta(hours=6), timedelta(hours=1))
MAX_REPAIRS = len(_REPAIR_PAUSES)


def compute_next_repair(at: datetime, tries: int) -> datetime | None:
    """When to look again after the try made at an instant, before which there were ``tries``; None: no more."""
    return at + _REPAIR_PAUSES[tries] if tries < len(_REPAIR_PAUSES) else None
