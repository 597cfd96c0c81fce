"""Lists of what the merges of some days change for others."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from bot.domain.contract.listing import ContractList
from bot.domain.conversations.requests.touch_requests import ContractRequest
from bot.domain.pull_requests.models import PullRequest, Repository
from bot.domain.time.date_range import Span
from bot.ports import PullRequests
from bot.services.contract.reader import ContractReader
from bot.services.history.merge_lists import MergeList, MergeLister
from bot.services.operations.worker_threads import DeadlineExecutor
from impact.contract.models import MergeContract

T = TypeVar("T")
U = TypeVar("U")


class ContractLister:
    """Builder of lists. ``workers`` calls to GitHub run at a time.

    ``pulls`` lists merges, and ``load_files`` adds their changed files. ``name_of`` returns the name of a
    repository for headings.
    """

    def __init__(
        self,
        pulls: PullRequests,
        load_files: Callable[[PullRequest], PullRequest],
        contracts: ContractReader,
        workers: int,
        name_of: Callable[[Repository], str],
    ) -> None:
        self._merges = MergeLister(pulls.list_merged, workers)
        self._load_files = load_files
        self._contracts = contracts
        self._workers = workers
        self._name_of = name_of

    def list_merges(self, repository: Repository, span: Span) -> MergeList:
        """List what was merged in some days. Raises PrdigestError if no day can be listed."""
        return self._merges.list_merges(repository, span)

    def build_list(self, request: ContractRequest) -> ContractList:
        """List what the merges that fit the filters change for others.

        Raises:
            PrdigestError: the merges of no day can be listed, or the store does not answer.
        """
        merged = self.list_merges(request.repository, request.span)
        filters = request.filters
        candidates = [pull for pull in merged.pulls if filters.may_match(pull)]
        if filters:
            # only the files tell whether a path fits
            loaded = self._run_parallel(self._load_files, candidates)
            candidates = [pull for pull in loaded if filters.is_match(pull)]
        contracts = self.read_contracts(candidates)
        return ContractList(
            self._name_of(request.repository),
            request.span,
            len(merged.pulls),
            tuple(candidates),
            contracts,
            str(filters),
            merged.caveats,
        )

    def read_contracts(self, pulls: Iterable[PullRequest]) -> tuple[MergeContract, ...]:
        """Return what merges change for others. Raises StoreUnavailable."""
        return tuple(self._run_parallel(self._contracts.read_merge, pulls))

    def get_name(self, repository: Repository) -> str:
        """Return the name of a repository for headings."""
        return self._name_of(repository)

    def _run_parallel(self, work: Callable[[T], U], items: Iterable[T]) -> list[U]:
        with DeadlineExecutor(self._workers, "contracts") as crew:
            return crew.map_items(work, items)
