"""Interface to what removes people and channels from the store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from bot.domain.keyspace.forgotten_ids import ForgottenIds


@dataclass(frozen=True, slots=True)
class ErasureCount:
    """The number of entries that were removed, and of those from which an id was taken out."""

    removed: int
    redacted: int


class Eraser(Protocol):
    """Removal of ids from everything that is stored."""

    def find_direct_channels(self, user: str) -> frozenset[str]:
        """Return the direct messages of a user that the stored data names. Raises StoreUnavailable."""
        ...

    def list_threads(self) -> Sequence[tuple[str, str]]:
        """List the threads whose questions are stored: channels and timestamps. Raises StoreUnavailable."""
        ...

    def count(self, ids: ForgottenIds) -> Mapping[str, ErasureCount]:
        """Return what :meth:`erase` would do, by what is stored. Raises StoreUnavailable."""
        ...

    def erase(self, ids: ForgottenIds) -> Mapping[str, ErasureCount]:
        """Remove what belongs to the ids, and take them out of the rest. Raises StoreUnavailable."""
        ...
