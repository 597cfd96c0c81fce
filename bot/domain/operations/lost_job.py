"""Jobs that will not be done."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Loss(StrEnum):
    """Why a job will not be done."""

    FAILED = "failed"
    """Its last try failed as those before."""
    ENDLESS = "endless"
    """It began three times and never ended: its process died, or was frozen until somebody ended it."""


@dataclass(frozen=True, slots=True)
class LostJob:
    """A job that will not be done: the ``id`` of its message, what kind it was, and since when (aware).

    ``user`` and ``channel`` are those of whoever asked, and ``reference`` is that of their request; empty where
    nobody did.
    """

    id: str
    name: str
    loss: Loss
    at: datetime
    user: str = ""
    channel: str = ""
    reference: str = ""

    @property
    def title(self) -> str:
        """How people read of it."""
        return f"the job {self.name}" + (f" [{self.reference}]" if self.reference else "")
