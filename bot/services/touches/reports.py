"""Reports of what the merges of some days mean for a profile."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from bot.domain.errors import TimeLimitExceeded
from bot.domain.pull_requests.models import PullRequest
from bot.domain.text.strings import format_count
from bot.domain.touches.listing import JudgedMerges
from bot.platform import deadlines
from bot.services.contract.reader import ContractReader
from bot.services.operations.progress import note_progress
from bot.services.operations.worker_threads import DeadlineExecutor
from impact.contract.models import MergeContract
from impact.touches.judgement import judge_merges

if TYPE_CHECKING:
    from bot.features.profiles.service import Profiles

# merges between two looks at how far it is
_STEP = 50


class TouchReports:
    """Builder of reports. ``workers`` merges are read at a time.

    Merges are judged each time by the profile as it is now: a file that uses a name may come after its change.
    """

    def __init__(self, profiles: Profiles, contracts: ContractReader, workers: int) -> None:
        self._profiles = profiles
        self._contracts = contracts
        self._workers = workers

    def judge_merges(self, profile_name: str, pulls: Sequence[PullRequest]) -> JudgedMerges:
        """Return what merged pull requests mean for a profile.

        Pull requests of another repository than the profile's upstream are left out.

        Raises:
            UsageError: there is no such profile, or it was not scanned yet.
            StoreUnavailable: the store does not answer.
        """
        entry = self._profiles.find_entry(profile_name)
        profile = self._profiles.require_scanned(entry)
        upstream = str(entry.upstream).lower()
        merges = [pull for pull in pulls if pull.is_merged and str(pull.repository).lower() == upstream]
        contracts = self.read_contracts(merges)
        return JudgedMerges(judge_merges(entry.name, profile, contracts), tuple(contracts))

    def read_contracts(self, pulls: Sequence[PullRequest]) -> list[MergeContract]:
        """Return what each merge changes for others, in their order. Raises StoreUnavailable."""
        with DeadlineExecutor(self._workers, "contracts") as crew:
            return crew.map_items(self._contracts.read_merge, pulls)

    def read_steps(self, pulls: Sequence[PullRequest]) -> list[MergeContract]:
        """Return what each merge changes for others, in their order, and report how far that is.

        What was read is kept, so another attempt continues where this one ended.

        Raises:
            StoreUnavailable: the store does not answer.
            RateLimited: GitHub asks for a pause.
            TimeLimitExceeded: the time is up; the message says how far it came.
        """
        contracts: list[MergeContract] = []
        for start in range(0, len(pulls), _STEP):
            note_progress(len(contracts), len(pulls))
            try:
                contracts += self._read_step(pulls[start : start + _STEP])
            except TimeLimitExceeded as error:
                raise TimeLimitExceeded(
                    f"I have read {len(contracts):,} of {format_count(len(pulls), 'merge')}, and keep them: ask "
                    "again, and I go on from there. On a clone, prdigest upgrade takes a few minutes."
                ) from error
        return contracts

    def _read_step(self, pulls: Sequence[PullRequest]) -> list[MergeContract]:
        if not deadlines.get_seconds_left():
            raise TimeLimitExceeded(deadlines.TOO_LONG)
        with DeadlineExecutor(self._workers, "contracts") as crew:
            return crew.map_items(partial(self._contracts.read_merge, must_wait=True), pulls)
