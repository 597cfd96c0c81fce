"""The limit on how often a person may ask."""

from __future__ import annotations

from typing import Protocol


class RateLimiter(Protocol):
    """A limit on how often a person may ask. Every method may raise StoreUnavailable."""

    def try_acquire(self, name: str) -> bool:
        """Count a request of that name, and return whether it is within the limit."""
