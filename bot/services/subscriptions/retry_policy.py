"""The times at which a digest that was posted with gaps is built again."""

from __future__ import annotations

from datetime import datetime, timedelta

FIRST_REPAIR_DELAY = timedelta(minutes=5)
# most outages are over within minutes, and GitHub's search index is complete within the hour; the last pause is
# the time in which the last attempt has to end
_REPAIR_PAUSES = (timedelta(minutes=30), timedelta(hours=2), timedelta(hours=6), timedelta(hours=1))
MAX_REPAIRS = len(_REPAIR_PAUSES)


def compute_next_repair(at: datetime, attempts: int) -> datetime | None:
    """Return the time of the attempt after one made at an instant, before which there were ``attempts``.

    None means that there are no more.
    """
    return at + _REPAIR_PAUSES[attempts] if attempts < len(_REPAIR_PAUSES) else None
