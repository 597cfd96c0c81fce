"""Backfills of past days: the record of each, and the outcome of an attempt."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from bot.domain.keyspace.keys import SUMMARY_ENTRY
from bot.domain.time.day import LocalDay


@dataclass(frozen=True, slots=True)
class BackfillRecord:
    """The record of the backfill of a day: when (UTC), and by which ``model`` its summaries were written.

    History and files are always loaded; ``model`` is empty if no summaries were written.
    """

    at: datetime
    model: str = ""

    def is_complete_for(self, model: str, now: datetime) -> bool:
        """Return whether nothing is left to do for summaries by ``model``, or for none if it is empty.

        History is permanent, summaries are kept for the lifetime of their entries.
        """
        return not model or (model == self.model and now - self.at < SUMMARY_ENTRY.lifetime)


@dataclass(frozen=True, slots=True)
class BackfillOutcome:
    """The outcome for one day: the number of pull requests read, or ``was_filled`` if nothing was left to do.

    ``failure_reason`` is a clause on why the day is not filled; it is empty if the day is filled.
    """

    day: LocalDay
    pulls: int = 0
    was_filled: bool = False
    failure_reason: str = ""

    @property
    def is_filled(self) -> bool:
        """Whether the backfill of the day is complete."""
        return not self.failure_reason
