"""The ledgers of deprecations: written whenever a merge is read, and read by commands and digests."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from bot.domain.errors import PrdigestError, StoreUnavailable
from bot.domain.pull_requests.models import Repository
from bot.ports import DeprecationStore
from impact.contract.deprecations import (
    DeprecationLedger,
    DeprecationNews,
    DeprecationState,
    get_state,
    list_news,
    update_ledger,
)
from impact.contract.models import ChangeKind, MergeContract
from impact.contract.releases import Release
from impact.profile.models import Profile
from impact.touches.deprecations import DeprecationStep, UsedDeprecation, find_uses
from impact.touches.profile_index import ProfileIndex

log = logging.getLogger(__name__)

_TELLING = frozenset((ChangeKind.DEPRECATED, ChangeKind.REMOVED, ChangeKind.MOVED, ChangeKind.RENAMED))

ReleaseLister = Callable[[Repository, datetime], Sequence[Release]]
# a list of what will be removed may miss a release of the last hours; a digest of a day may not
_MAX_AGE = timedelta(days=1)


class DeprecationLedgers:
    """Keeper of the ledgers.

    ``list_releases`` returns the releases of a repository that were cut before an instant, oldest first.
    """

    def __init__(
        self,
        store: DeprecationStore,
        now: Callable[[], datetime],
        list_releases: ReleaseLister = lambda repository, until: (),
    ) -> None:
        self._store = store
        self._now = now
        self._list_releases = list_releases

    def note_contract(self, repository: Repository, contract: MergeContract) -> None:
        """Note what a merge deprecates and removes. It raises nothing: the merge was read for somebody else."""
        if all(row.kind not in _TELLING for row in contract.changes):
            return
        try:
            if self._update(repository, contract) is not None:
                with self._store.hold_lock(repository):
                    # what others noted in the meantime stays
                    if ledger := self._update(repository, contract):
                        self._store.save(repository, ledger)
        except StoreUnavailable as error:
            log.warning("%s#%d: its deprecations are not noted: %s", repository, contract.number, error)

    def list_entries(
        self, repository: Repository, profile: Profile | None = None
    ) -> tuple[tuple[DeprecationState, UsedDeprecation], ...]:
        """Return the deprecations of a repository with their states, and with what a profile uses of them.

        Raises:
            StoreUnavailable: the store does not answer.
        """
        entries = self._store.load(repository).entries
        used = find_uses(entries, ProfileIndex(profile)) if profile else map(UsedDeprecation, entries)
        now = self._now()
        releases = self._load_releases(repository, now - _MAX_AGE)
        return tuple((get_state(each.entry, releases, now), each) for each in used)

    def list_news(
        self, repository: Repository, since: datetime, until: datetime, profile: Profile | None = None
    ) -> tuple[tuple[DeprecationNews, UsedDeprecation], ...]:
        """Return what was announced, became due or was removed in a time (aware), with a profile's uses.

        Raises:
            StoreUnavailable: the store does not answer.
        """
        ledger = self._store.load(repository)
        if not ledger.entries:
            return ()
        releases = self._load_releases(repository, min(until, self._now()))
        news = list_news(ledger, releases, since, until)
        entries = [step.entry for step in news]
        used = find_uses(entries, ProfileIndex(profile)) if profile else map(UsedDeprecation, entries)
        return tuple(zip(news, used, strict=True))

    def list_used_steps(
        self, repository: Repository, since: datetime, until: datetime, profile: Profile
    ) -> tuple[DeprecationStep, ...]:
        """Return what became in a time (aware) of deprecations that a profile uses. Raises as ``list_news``."""
        news = self.list_news(repository, since, until, profile)
        return tuple(DeprecationStep(step, used) for step, used in news if used.uses)

    def _load_releases(self, repository: Repository, until: datetime) -> Sequence[Release]:
        """Return the releases; none if they are unavailable: what was announced and removed is known without."""
        try:
            return self._list_releases(repository, until)
        except PrdigestError as error:
            log.warning("the releases of %s are not known: %s", repository, error)
            return ()

    def _update(self, repository: Repository, contract: MergeContract) -> DeprecationLedger | None:
        """Return the ledger with a merge, None if it changes no entry."""
        before = self._store.load(repository)
        after = update_ledger(before, [contract])
        return None if after.entries == before.entries else after
