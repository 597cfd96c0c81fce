"""The contracts of recent merges that are kept; no merge is read for them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from bot.domain.pull_requests.models import PullRequest, Repository
from bot.ports import HistoryStore
from bot.services.profile.refresher import LOOK_BACK
from impact.contract.models import MergeContract


class KeptContracts:
    """Lister of contracts. ``get_cached`` returns what is kept of a merge, None if nothing is."""

    def __init__(
        self,
        open_history: Callable[[], HistoryStore],
        get_cached: Callable[[PullRequest], MergeContract | None],
        now: Callable[[], datetime],
    ) -> None:
        self._open_history = open_history
        self._get_cached = get_cached
        self._now = now

    def list_recent(self, repository: Repository) -> tuple[MergeContract, ...]:
        """Return the kept contracts of the merges of the last fourteen days. Raises StoreUnavailable."""
        now = self._now()
        merges = self._open_history().read_merges(repository, now - LOOK_BACK, now)
        return tuple(kept for pull in merges if (kept := self._get_cached(pull)))
