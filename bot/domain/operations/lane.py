"""The queues that jobs wait on."""

from __future__ import annotations

from enum import StrEnum


class QueueName(StrEnum):
    """A queue with workers of its own; its value is the queue's name in the store."""

    QUICK = "prdigest"
    """Somebody waits for these."""
    LONG = "prdigest-long"
    """Days of a busy repository that nobody read before take minutes."""
    TALK = "prdigest-questions"
    """Questions in threads, each of which has a time of its own."""
