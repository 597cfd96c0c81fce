"""The queues that jobs wait on."""

from __future__ import annotations

from enum import StrEnum


class QueueName(StrEnum):
    """A queue with its own workers; the value is the queue's name in the store."""

    QUICK = "prdigest"
    """Jobs that somebody waits for."""
    LONG = "prdigest-long"
    """Jobs that may take minutes, such as reading the days of a busy repository for the first time."""
    TALK = "prdigest-questions"
    """Questions in threads, each with its own time limit."""
