"""The runs of scheduled digests: the entries of the run log that operators read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class RunOutcome(StrEnum):
    """The result of a run."""

    POSTED = "posted"
    MENDED = "mended"
    """It was posted incomplete and has been edited since."""
    FAILED = "failed"
    SKIPPED = "skipped"
    """It was too late to be of use."""


@dataclass(frozen=True, slots=True)
class Run:
    """One attempt: when it ended (UTC), the key of the digest, the result, and a sentence about it."""

    at: datetime
    key: str
    outcome: RunOutcome
    detail: str = ""
