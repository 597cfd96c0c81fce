"""The way from a pin to a later commit, read from a local clone of the upstream repository."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from impact.clones.clone_contracts import extract_contracts
from impact.clones.clone_range import HEAD, find_place, find_places
from impact.clones.kept_readings import KeptReadings
from impact.clones.replay_cache import UpstreamTree
from impact.clones.tree_scan import ProgressCallback, find_pin, ignore_progress, scan_clone
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
from impact.profile.linking import UpstreamIndex, link_profile
from impact.profile.models import Profile
from impact.repository import Repository
from impact.source.models import LineCommit
from impact.text.strings import quote_input
from impact.touches.upgrade import UpgradeRange

# stands for the owner of a repository that nothing names
_LOCAL_OWNER = "local"
# the linked profile of a smaller tree is made as quickly as it is read
_LEAST_FILES = 100


@dataclass(frozen=True, slots=True)
class DownstreamTree:
    """The tree of a clone at a commit, or at its newest one, with the packages of upstream that it builds on.

    Without ``packages``, these are upstream's own. ``now`` is when it is scanned (UTC).
    """

    trees: CloneTrees
    name: str
    now: datetime
    commit: str = ""
    packages: Sequence[str] = ()


class CloneUpgradeReader:
    """Reads what is between two commits of a clone."""

    def __init__(
        self,
        trees: CloneTrees,
        repository: Repository | None = None,
        progress: ProgressCallback = ignore_progress,
        kept: KeptReadings | None = None,
    ) -> None:
        self.trees, self.kept = trees, kept
        self._requested = repository
        self._progress = progress
        self._tree = UpstreamTree(trees)

    def read_range(self, start: str, end: str = HEAD) -> UpgradeRange:
        """Read the merges after ``start`` up to ``end``.

        Raises:
            UsageError: the clone can't be read, or a commit is not on its branch, or they are in the other order.
        """
        (first, last), line = find_places(self.trees, start, end), self.trees.list_line()
        base = self.find_base(start)
        every, merges = self.read_merges(line[first:])
        listed = every[: last - first]
        contracts = self.extract_contracts(listed)
        numbers = frozenset(contract.number for contract in contracts)
        index = RevertIndex(merges)
        outcomes = find_outcomes(index)
        reverts = _select_reverts(index, numbers)
        ledger = update_ledger(DeprecationLedger(), contracts, list_reverted_numbers(reverts))
        return UpgradeRange(
            base,
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
        commits = list(self.trees.iterate_commits(line, counts_lines=False))
        named = sort_merges(commits, self._requested or detect_upstream(self.trees, commits))
        merges = (*named.merges, *named.direct)
        by_commit = {merge.merge_commit: merge for merge in merges}
        pairs = ((each, by_commit[each.sha], parent.parent) for each, parent in zip(commits, line, strict=True))
        return [CloneMerge(merge.number, merge.title, each, parent) for each, merge, parent in pairs], merges

    def extract_contracts(self, merges: Sequence[CloneMerge]) -> tuple[MergeContract, ...]:
        return tuple(extract_contracts(self.trees, merges, self._progress, self.kept))

    def detect_packages(self, start: str) -> tuple[str, ...]:
        """Return the packages that others import from the upstream repository. Raises UsageError."""
        place = max(find_place(self.trees, start), 1)
        return detect_packages(self.trees.list_files(self.trees.list_line()[place - 1].sha))

    def find_base(self, name: str) -> str:
        """Return the hash of a commit of the branch; empty for an empty name. Raises UsageError."""
        place = find_place(self.trees, name) if name else 0
        if name and not place:
            raise UsageError(f"{quote_input(name)} is before the first commit of the clone: name a later one.")
        return self.trees.list_line()[place - 1].sha if place else ""

    def scan(self, tree: DownstreamTree, base: str = "") -> Profile:
        """Return what a tree uses, linked to upstream at ``base``, or else at what it pins, or at the newest.

        What was scanned and linked so before keeps its instant. Raises UsageError: there is no such commit.
        """
        line = self.trees.list_line()
        if not line:
            raise UsageError("The clone of upstream has no commits: give another one.")
        newest = line[-1].sha
        packages = tree.packages or self.detect_packages(base or newest)
        own = () if tree.commit else tree.trees.list_line()
        commit = own[-1].sha if own else tree.trees.find_commit(tree.commit)
        key = " ".join((tree.name, commit, base or f"pin {newest}", *packages))
        known = self.kept.profiles.load([key]) if self.kept else {}
        if commit and key in known:
            return known[key]
        # a commit that is not there is refused by it
        profile = scan_clone(
            tree.trees, tree.name, commit or tree.commit, packages, tree.now, self._progress, self.kept
        )
        at = base or find_pin(profile, self.trees, {each.sha for each in line})[1] or newest
        linked = self.link_profile(profile, at)
        if self.kept and linked.files >= _LEAST_FILES:
            self.kept.profiles.keep({key: linked})
        return linked

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
