"""What is kept, counted and handed on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from datetime import timedelta
from typing import Any, Protocol

from bot.domain.talk import Question


class Cache(Protocol):
    """What may be lost and computed again. Every method may raise StoreUnavailable."""

    def get(self, key: str) -> str | None:
        """The value, or None."""

    def put(self, key: str, value: str, lifetime: timedelta) -> None:
        """Keep a value for a time."""

    def lease(self, name: str) -> AbstractContextManager[None]:
        """Waits until nobody else, in any process, holds the lease of that name, and holds it."""


class Limiter(Protocol):
    """How often somebody may ask. May raise StoreUnavailable."""

    def admits(self, name: str) -> bool:
        """Count a request of that name; whether it is still within the limit."""


class Queue(Protocol):
    """Work of one kind for another process."""

    def send(self, *arguments: Any) -> None:
        """Hand work over; it is durable when this returns. Raises StoreUnavailable."""


class PostRecords(Protocol):
    """What is known of a digest that is being posted; durable. May raise StoreUnavailable, InProgress."""

    def load(self, key: str) -> dict[str, str]:
        """The fields recorded so far."""

    def save(self, key: str, **fields: str) -> None:
        """Add fields."""

    def claim(self, key: str, field: str, value: str) -> None:
        """Add a field that nobody has added yet, or raise InProgress.

        A right that :meth:`exclusive` gave may be lost while the store is away; this shows it before it does harm.
        """

    def exclusive(self, key: str) -> AbstractContextManager[None]:
        """Hold the right to post this digest, or raise InProgress if another process keeps it."""


class Line(Protocol):
    """Questions that wait for their turn in a thread, by the time at which they were asked. Durable.

    Every method may raise StoreUnavailable.
    """

    def join(self, place: str, question: Question) -> None:
        """Wait; somebody who waits already does not wait twice."""

    def first(self, place: str) -> Question | None:
        """Whose turn it is."""

    def leave(self, place: str, question: Question) -> None:
        """This one has its answer."""

    def serve(self, place: str) -> AbstractContextManager[bool]:
        """Whether nobody else, in any process, serves this line while the block runs."""


class Ballot(Protocol):
    """Votes, kept for good. May raise StoreUnavailable."""

    def put(self, name: str, vote: str) -> None:
        """Keep a vote, in place of the one of that name."""

    def all(self) -> Iterator[str]:
        """Every vote."""


class Spending(Protocol):
    """US dollars by name, such as of a person on a day. May raise StoreUnavailable."""

    def spent(self, name: str) -> float:
        """All that was added in the last two days."""

    def add(self, dollars: float, *names: str) -> None:
        """Add to each of the names."""
