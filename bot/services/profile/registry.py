"""Profiles as operators add and remove them: with their daily scan, and all that is kept of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from bot.domain.errors import UsageError
from bot.domain.profile.entries import ProfileEntry
from bot.domain.subscriptions.due_items import ProfileRefresh
from bot.domain.text.strings import quote_input
from bot.ports import DueQueue, ProfileStore
from bot.services.profile.refresher import ProfileRefresher
from bot.services.touches.decisions import TouchDecisions
from impact.profile.models import Profile

# a scan takes some ten calls on a usual day
SCAN_INTERVAL = timedelta(days=1)


class ProfileRegistry:
    """Registry of profiles. ``now`` returns the current aware time. Every method may raise StoreUnavailable."""

    def __init__(
        self,
        profiles: ProfileStore,
        refresher: ProfileRefresher,
        decisions: TouchDecisions,
        due_queue: DueQueue,
        now: Callable[[], datetime],
    ) -> None:
        self._profiles = profiles
        self._refresher = refresher
        self._decisions = decisions
        self._due_queue = due_queue
        self._now = now

    def add(self, entry: ProfileEntry, profile: Profile | None = None) -> ProfileEntry:
        """Add a profile in place of one of its name, and have it scanned now and each day.

        One from a file comes with its ``profile``, which each day is linked to upstream again.
        """
        added = self._refresher.add_profile(entry, profile)
        self._due_queue.put(ProfileRefresh(entry.name), self._now())
        return added

    def scan_now(self, name: str) -> ProfileEntry | None:
        """Scan a profile and plan the next scan for a day later. A failure is part of the entry."""
        self._due_queue.put(ProfileRefresh(name), self._now() + SCAN_INTERVAL)
        return self._refresher.refresh(name)

    def remove(self, name: str) -> None:
        """Remove a profile with its hits and what people said about them. Raises UsageError if there is none."""
        self._require_entry(name)
        self._due_queue.drop(ProfileRefresh(name))
        self._profiles.remove(name)
        self._decisions.remove_all(name)

    def list_entries(self) -> Sequence[ProfileEntry]:
        """List the profiles by name."""
        return self._profiles.list_entries()

    def get_profile(self, name: str) -> tuple[ProfileEntry, Profile | None]:
        """Return a profile with its entry. Raises UsageError if there is none."""
        return self._require_entry(name), self._profiles.get_profile(name)

    def _require_entry(self, name: str) -> ProfileEntry:
        entry = self._profiles.get_entry(name)
        if entry is None:
            raise UsageError(f"There is no profile {quote_input(name)}.")
        return entry
