"""Incidents: problems with digests, as they are reported to operators and subscribers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class IncidentKind(StrEnum):
    """The kind of an incident. A digest has at most one incident of each kind."""

    MISSING = "missing"
    """It is late, or all attempts failed so far."""
    SKIPPED = "skipped"
    """It is so late that it will not be posted."""
    INCOMPLETE = "incomplete"
    """It was posted, but something is missing in it, or unexpectedly nothing was merged."""
    LOST = "lost"
    """A lost job, not a digest: ``key`` is that of the job. Only operators are notified."""


@dataclass(frozen=True, slots=True)
class Incident:
    """A problem with the digest of a key, which ``title`` names for people.

    ``reason`` is a sentence without its full stop. ``retry`` is the time of the next attempt, None if there is
    none. ``to`` is the user who subscribed, empty if there is none. ``channel`` is the channel of the digest or
    of the request. ``settled`` says how the incident ended and is empty while it lasts.
    """

    key: str
    kind: IncidentKind
    title: str
    reason: str
    at: datetime
    retry: datetime | None
    channel: str
    to: str = ""
    settled: str = ""

    @property
    def id(self) -> str:
        """The identifier, unique among all incidents."""
        return f"{self.key}#{self.kind}"
