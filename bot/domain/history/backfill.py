"""Past days that are filled: what was done for each, and what came of trying."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.domain.time.day import LocalDay

# as long as entries and the model's answers are kept
_SUMMARIES_LAST = timedelta(days=90)


@dataclass(frozen=True, slots=True)
class Fill:
    """What was done for a day and when (UTC): history and files, and summaries by ``model`` unless it is empty."""

    at: datetime
    model: str = ""

    def covers(self, model: str, now: datetime) -> bool:
        """Whether nothing is left to do where summaries by ``model`` are wanted, or none if it is empty.

        History stays, summaries are kept for 90 days.
        """
        return not model or (model == self.model and now - self.at < _SUMMARIES_LAST)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a day: how many pull requests were read, or that it was filled ``already``.

    ``missing`` says, as a clause, why it is not filled; it is empty if it is.
    """

    day: LocalDay
    pulls: int = 0
    already: bool = False
    missing: str = ""

    @property
    def is_filled(self) -> bool:
        return not self.missing
