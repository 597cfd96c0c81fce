"""Interface to the profiles that the bot keeps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from bot.domain.profile.entries import ProfileEntry
from impact.profile.models import Profile


class ProfileStore(Protocol):
    """Profiles by name, in the store of one workspace, kept until they are removed.

    Every method may raise StoreUnavailable.
    """

    def list_entries(self) -> Sequence[ProfileEntry]:
        """List the entries of all profiles by name. Unreadable ones are left out."""

    def get_entry(self, name: str) -> ProfileEntry | None:
        """Return the entry of a profile, None if there is none."""

    def get_profile(self, name: str) -> Profile | None:
        """Return what a tree uses, None if it was not scanned yet or a later version wrote it."""

    def put(self, entry: ProfileEntry, profile: Profile | None = None) -> None:
        """Store an entry in place of an earlier one; with a profile that too, both or none."""

    def remove(self, name: str) -> None:
        """Remove a profile and its entry."""
