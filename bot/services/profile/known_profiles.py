"""The names of the profiles that people may use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from bot.domain.digest.view import DigestView
from bot.domain.errors import UsageError
from bot.domain.text.strings import quote_input

_NONE_YET = "There is no profile yet: the people who run this bot make one with prdigest profile scan."
_MAX_NAMES = 8


class KnownProfiles:
    """The profiles of a workspace. ``list_names`` may raise StoreUnavailable, and so may every method."""

    def __init__(self, list_names: Callable[[], Sequence[str]] = tuple) -> None:
        self._list_names = list_names

    def list_names(self) -> Sequence[str]:
        """Return the names in order."""
        return sorted(self._list_names())

    def require_known(self, name: str) -> str:
        """Return a name as it is stored; empty for none. Raises UsageError if there is no such profile."""
        if not name:
            return ""
        names = self.list_names()
        for known in names:
            if known.casefold() == name.casefold():
                return known
        if not names:
            raise UsageError(_NONE_YET)
        raise UsageError(f"There is no profile {quote_input(name)}: write {', '.join(names[:_MAX_NAMES])}.")

    def require_view(self, view: DigestView) -> DigestView:
        """Return a view with its profile as it is stored. Raises UsageError if there is no such profile."""
        return replace(view, profile=self.require_known(view.profile)) if view.profile else view


NO_PROFILES = KnownProfiles()
