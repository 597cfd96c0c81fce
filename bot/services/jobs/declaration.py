"""The declaration of a job: its name, its queue, its retries and its payload."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, Protocol, TypeVar

from bot.domain.conversations.commands import ParseContext
from bot.domain.operations.lane import QueueName
from bot.ports.codecs.versioned_json import VERSION_FIELD, VersionedJson

P = TypeVar("P")

# version 1 was positional arguments: the request from Slack as a dict, then texts
PAYLOAD_VERSION = 2
SECOND = 1_000  # milliseconds
MINUTE = 60 * SECOND


@dataclass(frozen=True, slots=True)
class JobRetries:
    """The number of retries of a failed job, and the pauses before them, which double, in milliseconds."""

    max_retries: int
    first_pause: int = SECOND
    longest_pause: int | None = None

    def to_dramatiq_options(self) -> dict[str, int]:
        """Return the retries as options of Dramatiq."""
        longest = {} if self.longest_pause is None else {"max_backoff": self.longest_pause}
        return {"max_retries": self.max_retries, "min_backoff": self.first_pause, **longest}


# jobs whose answer somebody waits for
QUICK_RETRIES = JobRetries(8, SECOND, MINUTE)


@dataclass(frozen=True)
class JobType(Generic[P]):
    """A type of job, for those who enqueue it.

    ``name`` is in the messages of the queue and is never changed. ``payload`` is the frozen dataclass that the job
    carries. ``read_old`` builds one from the positional arguments of version 1; newer types have none. A job
    begins ``delay`` milliseconds after it was sent, at the earliest.
    """

    name: str
    payload: type[P]
    read_old: Callable[..., P] | None = None
    lane: QueueName = QueueName.QUICK
    retries: JobRetries = QUICK_RETRIES
    delay: int = 0

    def encode(self, payload: P) -> dict[str, Any]:
        """Return the one argument of a job's message."""
        return self._codec.dump(payload)

    def decode(self, arguments: Sequence[Any], context: ParseContext) -> P:
        """Decode the arguments of a job's message, of this version or of the previous one.

        Raises:
            UsageError: the text of an old message is no longer valid.
            ValueError, TypeError: the arguments do not fit this type of job.
        """
        if is_versioned(arguments):
            return self._codec.load(arguments[0])
        if self.read_old is None:
            raise TypeError(f"the job {self.name} never had positional arguments")
        return self.read_old(context, *arguments)

    @cached_property
    def _codec(self) -> VersionedJson[P]:
        return VersionedJson(self.payload, PAYLOAD_VERSION)


def is_versioned(arguments: Sequence[Any]) -> bool:
    """Return whether a message's arguments state their version; those of version 1 do not."""
    return len(arguments) == 1 and isinstance(arguments[0], Mapping) and VERSION_FIELD in arguments[0]


def read_part(shape: VersionedJson[P], arguments: Sequence[Any]) -> P | None:
    """Read a part of a payload whose rest may be unreadable.

    Return None if a message has no such part or is of another version.
    """
    try:
        return shape.load(arguments[0]) if is_versioned(arguments[:1]) else None
    except ValueError:
        return None


class JobQueue(Protocol):
    """The queues of jobs, one for each lane."""

    def send(self, job: JobType[P], payload: P) -> None:
        """Enqueue a job; it is durable when this returns. Raises StoreUnavailable."""
