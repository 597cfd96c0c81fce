"""What became of a digest that was due: the lines of the journal that operators read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Outcome(StrEnum):
    """How a run ended."""

    POSTED = "posted"
    MENDED = "mended"
    """It was posted incomplete, and was edited since."""
    FAILED = "failed"
    SKIPPED = "skipped"
    """It was too late to be of use."""


@dataclass(frozen=True, slots=True)
class Run:
    """One try: when it ended (UTC), which digest by its key, how it ended, and a sentence about that."""

    at: datetime
    key: str
    outcome: Outcome
    detail: str = ""
