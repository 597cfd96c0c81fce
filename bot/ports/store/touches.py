"""Interface to the record of hits and of what people said about them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from bot.domain.touches.decisions import ShownHit, TouchDecision


class TouchStore(Protocol):
    """Hits of profiles by name, kept until the profile is removed. Every method may raise StoreUnavailable."""

    def add_hits(self, profile: str, hits: Iterable[ShownHit]) -> None:
        """Add hits that were shown. One that is there already stays as it is."""

    def list_hits(self, profile: str) -> Sequence[ShownHit]:
        """List all hits that were shown, in no particular order. Unreadable ones are left out."""

    def put_decision(self, profile: str, decision: TouchDecision) -> None:
        """Store what was said about a hit in place of what was said before."""

    def list_decisions(self, profile: str) -> Sequence[TouchDecision]:
        """List what was said about each hit, in no particular order. Unreadable ones are left out."""

    def remove_all(self, profile: str) -> None:
        """Remove the hits of a profile and what was said about them."""
