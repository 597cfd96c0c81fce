"""The profiles that agents may see: those that the operator names, unless their team keeps them from models."""

from __future__ import annotations

from collections.abc import Sequence

from bot.domain.errors import UsageError
from bot.domain.profile.entries import ProfileEntry
from bot.ports import ProfileStore
from impact.profile.models import Profile

_READ_ONLY = "Agents may not change profiles."


class VisibleProfiles:
    """:class:`bot.ports.ProfileStore` that has the profiles with these ``names`` alone, and changes none.

    What reads a profile for an agent reads it here, so that no reason, count or list tells of another one.
    """

    def __init__(self, profiles: ProfileStore, names: frozenset[str]) -> None:
        self._profiles = profiles
        self._names = names

    def list_entries(self) -> Sequence[ProfileEntry]:
        """List the entries of the visible profiles by name. Raises StoreUnavailable."""
        if not self._names:
            return ()
        return tuple(entry for entry in self._profiles.list_entries() if self._is_visible(entry.name))

    def get_entry(self, name: str) -> ProfileEntry | None:
        """Return the entry of a visible profile, None for all others. Raises StoreUnavailable."""
        return self._profiles.get_entry(name) if self._is_visible(name) else None

    def get_profile(self, name: str) -> Profile | None:
        """Return what a tree uses, None if it is not visible. Raises StoreUnavailable."""
        profile = self._profiles.get_profile(name) if name in self._names else None
        return profile if profile and profile.explains else None

    def put(self, entry: ProfileEntry, profile: Profile | None = None) -> None:
        """Raise UsageError."""
        raise UsageError(_READ_ONLY)

    def remove(self, name: str) -> None:
        """Raise UsageError."""
        raise UsageError(_READ_ONLY)

    def _is_visible(self, name: str) -> bool:
        """Return whether a profile may be seen; one that was not scanned yet says nothing."""
        if name not in self._names:
            return False
        profile = self._profiles.get_profile(name)
        return profile is None or profile.explains
