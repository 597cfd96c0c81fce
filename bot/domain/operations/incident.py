"""What goes wrong with digests, as operators and subscribers are told it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Kind(StrEnum):
    """What is wrong with a digest. Of each kind there is at most one trouble for a digest."""

    MISSING = "missing"
    """It is late, or every try failed so far."""
    SKIPPED = "skipped"
    """It is so late that it will not be posted."""
    INCOMPLETE = "incomplete"
    """It was posted, and something of it is missing, or nothing was merged against all expectation."""
    LOST = "lost"
    """No digest, but a job that will not be done: ``key`` is its own. Operators alone are told."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something wrong with the digest of a key, which ``title`` names for people.

    ``reason`` is a sentence without its full stop. ``retry`` is when the next try is, None if there will be none.
    ``to`` is the user who subscribed, empty if nobody did; ``channel`` is where the digest goes, or where somebody
    asked. ``settled`` says
    how it ended, once it has.
    """

    key: str
    kind: Kind
    title: str
    reason: str
    at: datetime
    retry: datetime | None
    channel: str
    to: str = ""
    settled: str = ""

    @property
    def id(self) -> str:
        """Its name among all troubles."""
        return f"{self.key}#{self.kind}"
