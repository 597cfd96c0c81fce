"""The way from a pin to a later commit, read from a local clone of the upstream repository."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from impact.clones.clone_contracts import extract_contracts
from impact.clones.clone_range import HEAD, find_place, find_places
from impact.clones.kept_readings import KeptReadings
from impact.clones.replay_cache import UpstreamTree
from impact.clones.tree_scan import ProgressCallback, ignore_progress
from impact.clones.upstream_line import CloneMerge, detect_upstream
from impact.contract.deprecations import DeprecationLedger, update_ledger
from impact.contract.models import MergeContract
from impact.errors import UsageError
from impact.evaluation.imported_files import detect_packages
from impact.git.clone_trees import CloneTrees
from impact.history.merge_messages import sort_merges
from impact.history.merges import ClonedMerge
from impact.history.outcomes import MergeOutcome, find_outcomes
from impact.history.revert_index import RevertIndex
from impact.history.reverts import Revert, list_reverted_numbers, select_standing
from impact.profile.linking import link_profile
from impact.profile.models import Profile
from impact.profile.upstream import UpstreamIndex
from impact.repository import Repository
from impact.source.trees import LineCommit
from impact.text.strings import quote_input
from impact.touches.upgrade import UpgradeRange

# stands for the owner of a repository that nothing names
_LOCAL_OWNER = "local"


class CloneUpgradeReader:
    """Reads what is between two commits of a clone."""

    def __init__(
        self,
        trees: CloneTrees,
        repository: Repository | None = None,
        progress: ProgressCallback = ignore_progress,
        kept: KeptReadings | None = None,
    ) -> None:
        self._trees = trees
        self._requested = repository
        self._progress = progress
        self._kept = kept
        self._tree = UpstreamTree(trees)

    def read_range(self, start: str, end: str = HEAD) -> UpgradeRange:
        """Read the merges after ``start`` up to ``end``.

        Raises:
            UsageError: the clone can't be read, or a commit is not on its branch, or they are in the other order.
        """
        (first, last), line = find_places(self._trees, start, end), self._trees.list_line()
        if not first:
            raise UsageError(f"{quote_input(start)} is before the first commit of the clone: name a later one.")
        every, merges = self.read_merges(line[first:])
        listed = every[: last - first]
        contracts = self.extract_contracts(listed)
        numbers = frozenset(contract.number for contract in contracts)
        index = RevertIndex(merges)
        outcomes = find_outcomes(index)
        reverts = _select_reverts(index, numbers)
        ledger = update_ledger(DeprecationLedger(), contracts, list_reverted_numbers(reverts))
        return UpgradeRange(
            line[first - 1].sha,
            line[last - 1].sha,
            contracts,
            {each.commit.sha: each.parent for each in listed},
            reverts,
            tuple(_select_regressions(outcomes, numbers)),
            tuple(entry for entry in ledger.entries if not entry.removed_by),
            _build_url(merges),
        )

    def read_merges(self, line: Sequence[LineCommit]) -> tuple[list[CloneMerge], tuple[ClonedMerge, ...]]:
        """Return some commits of the line with what they changed, and the same as merges of pull requests.

        Those that name no pull request have negative numbers.
        """
        commits = list(self._trees.iterate_commits(line, counts_lines=False))
        named = sort_merges(commits, self._requested or detect_upstream(self._trees, commits))
        merges = (*named.merges, *named.direct)
        by_commit = {merge.merge_commit: merge for merge in merges}
        pairs = ((each, by_commit[each.sha], parent.parent) for each, parent in zip(commits, line, strict=True))
        return [CloneMerge(merge.number, merge.title, each, parent) for each, merge, parent in pairs], merges

    def extract_contracts(self, merges: Sequence[CloneMerge]) -> tuple[MergeContract, ...]:
        return tuple(extract_contracts(self._trees, merges, self._progress, self._kept))

    def detect_packages(self, start: str) -> tuple[str, ...]:
        """Return the packages that others import from the upstream repository. Raises UsageError."""
        place = max(find_place(self._trees, start), 1)
        return detect_packages(self._trees.list_files(self._trees.list_line()[place - 1].sha))

    def link_profile(self, profile: Profile, commit: str) -> Profile:
        """Return a profile with the names under which upstream defines what it uses at a commit."""
        self._tree.move_to(commit)
        return link_profile(profile, UpstreamIndex(self._tree.load_outline))


def _build_url(merges: Sequence[ClonedMerge]) -> str:
    """Return the address of the repository; empty if the clone doesn't say which one it is."""
    first = next(iter(merges), None)
    return f"{first.web}/{first.repository}" if first and first.repository.owner != _LOCAL_OWNER else ""


def _select_reverts(index: RevertIndex[ClonedMerge], numbers: frozenset[int]) -> tuple[Revert, ...]:
    """Return the reverts among the merges on the way that hold at its end."""
    inside = index.select(number for number in index.merges.by_number if number in numbers)
    return select_standing(inside.reverts, inside.merges.by_number.values())


def _select_regressions(
    outcomes: Sequence[MergeOutcome[ClonedMerge]], numbers: frozenset[int]
) -> Iterator[MergeOutcome[ClonedMerge]]:
    """Yield what was repaired or reverted only after the end of the way."""
    for outcome in outcomes:
        if outcome.stands and outcome.pull.number in numbers and outcome.by.number not in numbers:
            yield outcome
