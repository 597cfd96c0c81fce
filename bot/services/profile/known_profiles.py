"""The profiles that people may name in requests and subscriptions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from bot.domain.digest.view import DigestView
from bot.domain.errors import UsageError
from bot.domain.profile.entries import ProfileEntry
from bot.domain.pull_requests.models import Repository
from bot.domain.text.strings import quote_input

_NONE_YET = "There is no profile yet: an operator adds one with `prdigest profile add`."
_MAX_NAMES = 8


class KnownProfiles:
    """The profiles of a workspace. Every method may raise StoreUnavailable."""

    def __init__(self, list_entries: Callable[[], Sequence[ProfileEntry]] = tuple) -> None:
        self._list_entries = list_entries

    def list_names(self) -> Sequence[str]:
        """Return the names in order."""
        return sorted(entry.name for entry in self._list_entries())

    def require_known(self, name: str, repository: Repository) -> str:
        """Return a name as it is stored; empty for none.

        Raises UsageError if there is no such profile, or if it is about another repository.
        """
        if not name:
            return ""
        entries = self._list_entries()
        entry = next((each for each in entries if each.name.casefold() == name.casefold()), None)
        if entry is None:
            raise UsageError(_explain_unknown(name, sorted(each.name for each in entries)))
        if str(entry.upstream).casefold() != str(repository).casefold():
            raise UsageError(f"The profile {entry.name} is about {entry.upstream}, not about {repository}.")
        return entry.name

    def require_view(self, view: DigestView, repository: Repository) -> DigestView:
        """Return a view with its profile as it is stored. Raises UsageError as ``require_known``."""
        return replace(view, profile=self.require_known(view.profile, repository)) if view.profile else view


NO_PROFILES = KnownProfiles()


def _explain_unknown(name: str, names: Sequence[str]) -> str:
    """Return that there is no such profile, and which there are."""
    if not names:
        return _NONE_YET
    return f"There is no profile {quote_input(name)}: use {', '.join(names[:_MAX_NAMES])}."
