"""Why an answer ends where it does."""

from __future__ import annotations

from enum import Enum


class AnswerEnd(Enum):
    """How the talk with the model about one question ended."""

    COMPLETE = "complete"
    """The model had said all."""
    TRUNCATED = "truncated"
    """The model came to its limit of tokens."""
    TOO_LONG = "too long"
    """The model had said all, and not all of it fits into a message."""
    LATE = "late"
    """The time for an answer was up."""
    STOPPED = "stopped"
    """The asker wanted no more of it."""
    BROKEN = "broken"
    """The model failed in the middle."""

    @property
    def is_whole(self) -> bool:
        """Whether the model was done: what it said last is its answer, with marks or without."""
        return self in (AnswerEnd.COMPLETE, AnswerEnd.TRUNCATED)
