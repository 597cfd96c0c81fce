"""When a digest that was posted with gaps is looked at again."""

from __future__ import annotations

from datetime import datetime, timedelta

FIRST = timedelta(minutes=5)
# most outages are over within minutes, and the index of GitHub's search is right within the hour; the last pause
# is what the last try gets to end in
_PAUSES = (timedelta(minutes=30), timedelta(hours=2), timedelta(hours=6), timedelta(hours=1))
MOST = len(_PAUSES)


def next_mend(at: datetime, tries: int) -> datetime | None:
    """When to look again after the try made at an instant, before which there were ``tries``; None: no more."""
    return at + _PAUSES[tries] if tries < len(_PAUSES) else None
