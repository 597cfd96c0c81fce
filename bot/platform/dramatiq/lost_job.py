"""Jobs that failed for good."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class LossReason(StrEnum):
    FAILED = "failed"
    """Its last attempt failed like the others."""
    ENDLESS = "endless"
    """It began three times and never ended: its process died, or froze until it was killed."""


@dataclass(frozen=True, slots=True)
class LostJob:
    """A job that will not be done: the ``id`` of its message, the name of its kind, and since when (aware).

    ``user`` and ``channel`` are those of the request, and ``reference`` is its reference; all are empty if there
    was no request.
    """

    id: str
    name: str
    loss: LossReason
    at: datetime
    user: str = ""
    channel: str = ""
    reference: str = ""

    @property
    def title(self) -> str:
        return f"the job {self.name}" + (f" [{self.reference}]" if self.reference else "")
