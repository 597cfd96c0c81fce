"""Interfaces to records and states by key, which don't expire."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Protocol, TypeVar

R = TypeVar("R")


class RecordStore(Protocol[R]):
    """Records of one kind by key, durable. Every method may raise StoreUnavailable."""

    def load(self, key: str) -> R:
        """Return the record of a key, an empty record if there is none."""

    def load_each(self, keys: Sequence[str]) -> Sequence[R]:
        """Return the record of each key, in their order, in one call."""

    def save(self, key: str, before: R, after: R) -> R:
        """Write the fields that differ between two states of a record, all or none; return ``after``.

        Equal fields are not written, because another process may have changed them meanwhile.
        """

    def claim(self, key: str, before: R, after: R) -> R:
        """Write the fields that differ if nobody has written them yet; return ``after``.

        The lock of :meth:`hold_lock` may be lost while the store is away. This shows the loss before it does harm.

        Raises:
            PostingInProgress: another process has written them.
        """

    def hold_lock(self, key: str) -> AbstractContextManager[None]:
        """Hold the lock of a record during the block. Raises PostingInProgress if another process keeps it."""


class ThreadStateStore(Protocol):
    """States of threads, kept without expiry. Every method may raise StoreUnavailable."""

    def get(self, key: str) -> str | None:
        """Return the state of a key, None if there is none."""

    def put(self, key: str, text: str) -> None:
        """Store a state in place of an earlier one."""


class WorkspaceOwner(Protocol):
    """The workspace that owns a store. Both methods may raise StoreUnavailable."""

    def read_workspace(self) -> str | None:
        """Return the id of the workspace, None if no bot has used the store yet."""

    def claim_workspace(self, workspace: str) -> str:
        """Make a workspace the owner if there is none, and return the owner."""
