"""Interface to the ledgers of deprecations."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol

from bot.domain.pull_requests.models import Repository
from impact.contract.deprecations import DeprecationLedger


class DeprecationStore(Protocol):
    """Ledgers by repository, kept for good. Every method may raise StoreUnavailable."""

    def load(self, repository: Repository) -> DeprecationLedger:
        """Return the ledger of a repository; an empty one if there is none that can be read."""

    def save(self, repository: Repository, ledger: DeprecationLedger) -> None:
        """Store a ledger in place of an earlier one."""

    def hold_lock(self, repository: Repository) -> AbstractContextManager[None]:
        """Wait until nobody else changes the ledger of a repository, and keep others from it during the block."""
