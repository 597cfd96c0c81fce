"""Interface to the batches that backfills wait for."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol

from bot.domain.operations.batch import PendingBatch
from bot.domain.operations.ledger import LedgerEntry


class BatchStore(Protocol):
    """The batches that backfills wait for, one for each repository. Every method may raise StoreUnavailable."""

    def load(self, repository: str) -> PendingBatch | None:
        """Return the batch of a repository, None if there is none."""

    def save(self, repository: str, batch: PendingBatch) -> None:
        """Store a batch in place of an earlier one, for as long as its results may be fetched."""

    def finish(self, repository: str, entry: LedgerEntry) -> bool:
        """Remove the batch of a repository and add what it cost to the ledger, in one step.

        Return whether there was one. Without one nothing is added, so that no batch is counted twice.
        """

    def try_lock(self, repository: str) -> AbstractContextManager[bool]:
        """Lock the batches of a repository during the block, and yield whether that succeeded.

        The lock counts in all processes. That of a process that died is free again after some seconds.
        """
