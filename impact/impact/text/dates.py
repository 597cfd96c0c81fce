from __future__ import annotations

import datetime as dt

from impact.errors import UsageError
from impact.text.strings import quote_input

_FIRST_YEAR, _LAST_YEAR = 1970, 9998


def parse_date(text: str) -> dt.date:
    """Parse a date written as ``YYYY-MM-DD``. Raises UsageError."""
    refusal = f"{quote_input(text)} is not a date: write it as YYYY-MM-DD, such as 2026-02-28."
    try:
        date = dt.date.fromisoformat(text)
    except ValueError as error:
        raise UsageError(refusal) from error
    # fromisoformat accepts other spellings too; no repository is older than 1970, and datetime can't express the
    # end of a day after 9998
    if date.isoformat() != text or not _FIRST_YEAR <= date.year <= _LAST_YEAR:
        raise UsageError(refusal)
    return date
