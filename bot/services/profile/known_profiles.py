"""The profiles that people name in requests and subscriptions: one look-up, with one set of sentences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from bot.domain.digest.view import DigestView
from bot.domain.errors import UsageError
from bot.domain.profile.entries import ProfileEntry
from bot.domain.pull_requests.models import Repository
from bot.domain.text.strings import quote_input
from impact.profile.models import Profile

_MAX_NAMES = 8


def _find_no_profile(_: str) -> Profile | None:
    return None


class KnownProfiles:
    """The profiles of a workspace. Every method may raise StoreUnavailable."""

    def __init__(
        self,
        list_entries: Callable[[], Sequence[ProfileEntry]] = tuple,
        get_profile: Callable[[str], Profile | None] = _find_no_profile,
    ) -> None:
        self._list_entries = list_entries
        self._get_profile = get_profile

    def list_names(self) -> Sequence[str]:
        """Return the names in order."""
        return sorted(entry.name for entry in self._list_entries())

    def find_entry(self, name: str) -> ProfileEntry:
        """Return the entry of a profile, whatever the case of its name; without a name, that of the only one.

        Raises UsageError if there is no such profile, or if there are several to choose from.
        """
        entries = self._list_entries()
        key = name.strip().casefold()
        fitting = [entry for entry in entries if key in ("", entry.name.casefold())]
        if len(fitting) == 1:
            return fitting[0]
        raise _build_choice_error(name, sorted(entry.name for entry in entries))

    def require_scanned(self, entry: ProfileEntry) -> Profile:
        """Return what the code of a profile uses.

        Raises UsageError if it was not scanned yet; if its scan failed, with the reason.
        """
        if profile := self._get_profile(entry.name):
            return profile
        if entry.problem:
            raise UsageError(f"The profile {entry.name} could not be scanned: {entry.problem}")
        raise UsageError(f"The profile {entry.name} was not scanned yet: try again in a few minutes.")

    def require_known(self, name: str, repository: Repository) -> str:
        """Return a name as it is stored; empty for none.

        Raises UsageError if there is no such profile, or if it is about another repository.
        """
        if not name:
            return ""
        entry = self.find_entry(name)
        if str(entry.upstream).casefold() != str(repository).casefold():
            raise UsageError(f"The profile {entry.name} is about {entry.upstream}, not about {repository}.")
        return entry.name

    def require_view(self, view: DigestView, repository: Repository) -> DigestView:
        """Return a view with its profile as it is stored. Raises UsageError as ``require_known``."""
        return replace(view, profile=self.require_known(view.profile, repository)) if view.profile else view


NO_PROFILES = KnownProfiles()


def _build_choice_error(name: str, names: Sequence[str]) -> UsageError:
    """Return the error for a name that no profile has, or for none where there are several profiles."""
    if not names:
        return UsageError("There is no profile yet: an operator adds one with `prdigest profile add`.")
    known = ", ".join(names[:_MAX_NAMES])
    if not name.strip():
        return UsageError(f"Which profile? Add profile:NAME with one of {known}.")
    return UsageError(f"There is no profile {quote_input(name)}: use {known}.")
