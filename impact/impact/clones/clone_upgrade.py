"""The way from a pin to a later commit, read from a local clone of the upstream repository."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from impact.clones.clone_contracts import extract_contracts
from impact.clones.kept_readings import KeptReadings
from impact.clones.replay_cache import UpstreamTree
from impact.clones.tree_scan import ProgressCallback, ignore_progress
from impact.clones.upstream_line import CloneMerge, detect_upstream
from impact.contract.deprecations import DeprecationLedger, update_ledger
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
from impact.profile.upstream.index import UpstreamIndex
from impact.repository import Repository
from impact.source.trees import LineCommit, TreeCommit
from impact.text.strings import quote_input
from impact.touches.upgrade import UpgradeRange

HEAD = "HEAD"
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
        line = self._trees.list_line()
        first, last = self._find_position(line, start), self._find_position(line, end)
        if last < first:
            raise UsageError(f"{quote_input(end)} is before {quote_input(start)}: exchange the commits.")
        on_the_way, later = line[first + 1 : last + 1], line[last + 1 :]
        every = list(self._trees.iterate_commits([*on_the_way, *later], counts_lines=False))
        commits, merges = every[: len(on_the_way)], self._sort_merges(every)
        by_commit = {merge.merge_commit: merge for merge in merges}
        parents = {each.sha: each.parent for each in on_the_way}
        named = ((commit, by_commit[commit.sha]) for commit in commits)
        listed = [CloneMerge(merge.number, merge.title, commit, parents[commit.sha]) for commit, merge in named]
        contracts = tuple(extract_contracts(self._trees, listed, self._progress, self._kept))
        numbers = frozenset(contract.number for contract in contracts)
        index = RevertIndex(merges)
        outcomes = find_outcomes(index)
        reverts = _select_reverts(index, numbers)
        ledger = update_ledger(DeprecationLedger(), contracts, list_reverted_numbers(reverts))
        return UpgradeRange(
            line[first].sha,
            line[last].sha,
            contracts,
            parents,
            reverts,
            tuple(_select_regressions(outcomes, numbers)),
            tuple(entry for entry in ledger.entries if not entry.removed_by),
            _build_url(merges),
        )

    def detect_packages(self, start: str) -> tuple[str, ...]:
        """Return the packages that others import from the upstream repository. Raises UsageError."""
        line = self._trees.list_line()
        return detect_packages(self._trees.list_files(line[self._find_position(line, start)].sha))

    def link_profile(self, profile: Profile, commit: str) -> Profile:
        """Return a profile with the names under which upstream defines what it uses at a commit."""
        self._tree.move_to(commit)
        return link_profile(profile, UpstreamIndex(self._tree.load_outline))

    def _find_position(self, line: Sequence[LineCommit], revision: str) -> int:
        if not line:
            raise UsageError("The clone has no commits.")
        sha = line[-1].sha if revision.upper() == HEAD else self._find_commit(revision)
        positions = {each.sha: at for at, each in enumerate(line)}
        if sha not in positions:
            branch = self._trees.read_facts().branch
            reason = f"not on the branch {branch} of the clone" if sha else "no commit and no tag of the clone"
            raise UsageError(f"{quote_input(revision)} is {reason}: take the hash of one that is.")
        return positions[sha]

    def _find_commit(self, revision: str) -> str:
        return self._trees.find_commit(revision) or self._trees.find_tag(revision)

    def _sort_merges(self, commits: Sequence[TreeCommit]) -> tuple[ClonedMerge, ...]:
        merges = sort_merges(commits, self._requested or detect_upstream(self._trees, commits))
        return (*merges.merges, *merges.direct)


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
