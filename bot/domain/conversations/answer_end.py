"""The reasons for which an answer ends."""

from __future__ import annotations

from enum import Enum


class AnswerEnd(Enum):
    """The end of the conversation with the model about one question."""

    COMPLETE = "complete"
    """The model had finished."""
    TRUNCATED = "truncated"
    """The model reached its limit of tokens."""
    TOO_LONG = "too long"
    """The model had finished, but its text does not fit into a message."""
    LATE = "late"
    """The time for the answer was over."""
    STOPPED = "stopped"
    """The asker stopped the answer."""
    BROKEN = "broken"
    """The model failed before the end."""

    @property
    def is_whole(self) -> bool:
        """Whether the model had finished, so that its last text is complete."""
        return self in (AnswerEnd.COMPLETE, AnswerEnd.TRUNCATED)
