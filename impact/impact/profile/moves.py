"""What became of earlier merges when a team's tree moved to another commit."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class MovedHit:
    """A merge that touches since a move, or no longer does, and the name that it changed."""

    number: int
    name: str


@dataclass(frozen=True, slots=True)
class ProfileMove:
    """A move of a profile to another commit, when the bot saw it (UTC), and what became of earlier merges."""

    at: datetime
    began: tuple[MovedHit, ...] = ()
    ended: tuple[MovedHit, ...] = ()
