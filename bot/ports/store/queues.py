"""Interfaces to what waits for its time, and to the log of what ran."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from bot.domain.operations.run import Run
from bot.domain.subscriptions.due_items import DueItem


class DueQueue(Protocol):
    """Planned items by the time at which they are due. Durable.

    Every method may raise StoreUnavailable.
    """

    def list_due(self, now: datetime) -> Sequence[tuple[DueItem, datetime]]:
        """List the items that are due by ``now`` with their times, oldest first."""

    def get_time(self, item: DueItem) -> datetime | None:
        """Return when an item is due, None if it is not planned."""

    def get_times(self, items: Sequence[DueItem]) -> Sequence[datetime | None]:
        """Return when each item is due, in their order, in one call."""

    def put(self, item: DueItem, instant: datetime) -> None:
        """Plan an item for an instant in place of an earlier one."""

    def add(self, item: DueItem, instant: datetime) -> None:
        """Plan an item for an instant unless it is planned already."""

    def move(self, item: DueItem, before: datetime, after: datetime) -> bool:
        """Plan an item for ``after`` if it is still planned for ``before``; return whether it was."""

    def move_all(self, moves: Sequence[tuple[DueItem, datetime, datetime]]) -> None:
        """Move many items in one call."""

    def drop(self, item: DueItem) -> None:
        """Remove an item from the queue."""


class RunLog(Protocol):
    """The last runs. Every method may raise StoreUnavailable."""

    def add_run(self, run: Run) -> None:
        """Add a run. The oldest runs are dropped."""

    def list_recent(self, count: int) -> Sequence[Run]:
        """List the last ``count`` runs, newest first."""
