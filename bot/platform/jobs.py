from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar, get_type_hints

from pydantic import TypeAdapter

from bot.platform.slack.requests import SlackRequest
from bot.platform.store.codecs import VERSION_FIELD

T = TypeVar("T")
Q = ParamSpec("Q")

PAYLOAD_VERSION = 2
SECOND = 1_000  # milliseconds
MINUTE = 60 * SECOND
# every job that somebody asked for has this part
_ASKER_ADAPTER = TypeAdapter(SlackRequest)


class QueueName(StrEnum):
    """A queue with its own workers; the value is the queue's name in the store."""

    QUICK = "prdigest"
    """Jobs that somebody waits for."""
    LONG = "prdigest-long"
    """Jobs that may take minutes, such as reading the days of a busy repository for the first time."""
    TALK = "prdigest-questions"
    """Questions in threads, each with its own time limit."""


@dataclass(frozen=True, slots=True)
class JobRetries:
    """The number of retries of a failed job, and the pauses before them, which double, in milliseconds."""

    max_retries: int
    first_pause: int = SECOND
    longest_pause: int | None = None


# jobs whose answer somebody waits for; one that takes minutes has few
QUICK_RETRIES, LONG_RETRIES = JobRetries(8, SECOND, MINUTE), JobRetries(5)


class JobQueue(Protocol):
    def send(self, job: Job[Any], payload: dict[str, Any]) -> None:
        """Enqueue a job; it is durable when this returns. Raises StoreUnavailable."""


@dataclass(frozen=True)
class Job(Generic[Q]):
    """A kind of job: a function of the app, and of what a message carries: its other arguments.

    ``name`` is in the messages of the queue and is never changed. A job begins ``delay`` milliseconds after it was
    sent, at the earliest. The types of the arguments are ones that pydantic reads. An argument ``asker`` is the
    person who pays and reads its errors.
    """

    name: str
    run: Callable[Concatenate[Any, Q], None]
    lane: QueueName = QueueName.QUICK
    retries: JobRetries = QUICK_RETRIES
    delay: int = 0

    def send_to(self, jobs: JobQueue, *args: Q.args, **kwargs: Q.kwargs) -> None:
        """Enqueue a job; it is durable when this returns. Raises StoreUnavailable."""
        jobs.send(self, dict(zip(self._adapters, args, strict=False)) | kwargs)

    def encode(self, payload: dict[str, Any]) -> dict[str, Any]:
        return {
            VERSION_FIELD: PAYLOAD_VERSION,
            **{
                name: self._adapters[name].dump_python(value, mode="json", exclude_defaults=True)
                for name, value in payload.items()
            },
        }

    def decode(self, arguments: Sequence[Any]) -> dict[str, Any]:
        """Decode the arguments of a job's message. Raises ValueError if they do not fit this kind of job."""
        (fields,) = arguments
        if not isinstance(fields, dict) or fields.get(VERSION_FIELD) != PAYLOAD_VERSION:
            raise ValueError(f"the message is not one of {self.name} in this version")
        if missing := [name for name in self._required if name not in fields]:
            raise ValueError(f"the version of {self.name} without {', '.join(missing)} is not known")
        return {
            name: adapter.validate_python(fields[name])
            for name, adapter in self._adapters.items()
            if name in fields
        }

    def read_argument(self, arguments: Sequence[Any], name: str) -> Any:
        return read_argument(arguments, name, self._adapters[name])

    @cached_property
    def _required(self) -> tuple[str, ...]:
        parameters = inspect.signature(self.run).parameters
        return tuple(name for name in self._adapters if parameters[name].default is inspect.Parameter.empty)

    @cached_property
    def _adapters(self) -> dict[str, TypeAdapter[Any]]:
        """Those of the arguments behind the app, in their order."""
        # what is below the app names it for the reader alone
        hints = get_type_hints(self.run, localns={"App": Any})
        _, *names = inspect.signature(self.run).parameters
        return {name: TypeAdapter(hints[name]) for name in names}


def read_argument(arguments: Sequence[Any], name: str, adapter: TypeAdapter[T]) -> T | None:
    """Return one part of what a message carries, None if it can't be read."""
    fields = arguments[0] if arguments else None
    if not isinstance(fields, dict) or fields.get(VERSION_FIELD) != PAYLOAD_VERSION:
        return None
    try:
        return adapter.validate_python(fields.get(name))
    except ValueError:
        return None


def read_asker(arguments: Sequence[Any]) -> SlackRequest | None:
    """Return the asker of a message, None if there is none; the rest may be unreadable."""
    return read_argument(arguments, "asker", _ASKER_ADAPTER)


# all that were declared in modules that are imported
JOBS: list[Job[Any]] = []


def job(
    name: str, lane: QueueName = QueueName.QUICK, retries: JobRetries = QUICK_RETRIES, delay: int = 0
) -> Callable[[Callable[Concatenate[Any, Q], None]], Job[Q]]:
    """Declare a function as a kind of job; the arguments are those of :class:`Job`."""

    def declare(run: Callable[Concatenate[Any, Q], None]) -> Job[Q]:
        declared = Job(name, run, lane, retries, delay)
        JOBS.append(declared)
        return declared

    return declare
