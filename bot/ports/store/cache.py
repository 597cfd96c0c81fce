"""Interfaces to what may be lost: the cache, and the limit on how often a person may ask."""

from __future__ import annotations

from contextlib import AbstractContextManager
from datetime import timedelta
from typing import Protocol


class Cache(Protocol):
    """A cache: values that may be lost and computed again. Every method may raise StoreUnavailable."""

    def get(self, key: str) -> str | None:
        """Return the value of a key, None if there is none."""

    def put(self, key: str, value: str, lifetime: timedelta) -> None:
        """Store a value for a time."""

    def add(self, key: str, value: str, lifetime: timedelta) -> bool:
        """Store a value for a time unless the key has one; return whether it was stored."""

    def acquire_lease(self, name: str) -> AbstractContextManager[None]:
        """Wait until nobody else, in any process, holds the lease of that name, then hold it during the block."""


class RateLimiter(Protocol):
    """A limit on how often a person may ask. Every method may raise StoreUnavailable."""

    def try_acquire(self, name: str) -> bool:
        """Count a request of that name, and return whether it is within the limit."""
