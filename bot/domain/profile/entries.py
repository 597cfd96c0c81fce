"""Entries of the list of profiles: where each comes from, and how it stands."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from bot.domain.pull_requests.models import Repository
from impact.profile.moves import ProfileMove


@dataclass(frozen=True, slots=True)
class ProfileEntry:
    """A profile that the bot keeps. Times are in UTC.

    ``upstream`` is the repository whose merges are judged by it. ``source`` is the repository that is scanned
    again each day; None for a profile that was read from a file. ``commit`` is what was scanned, empty before the
    first scan. ``problem`` is why the last scan failed, as a sentence; empty if it did not. ``moves`` are the last
    moves to another commit with which earlier merges began or ceased to touch, oldest first.
    """

    name: str
    upstream: Repository
    packages: tuple[str, ...]
    source: Repository | None = None
    commit: str = ""
    uses: int = 0
    files: int = 0
    refreshed_at: datetime | None = None
    moved_at: datetime | None = None
    problem: str = ""
    moves: tuple[ProfileMove, ...] = ()
