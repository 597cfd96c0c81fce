"""Commits of a clone of upstream, judged by a tree that builds on it: some of them, or the way to a later one."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from impact.checker.diagnostics import LEFT_OUT, NOT_CHECKED, CheckedMerges, Place
from impact.clones.clone_contracts import extract_contracts
from impact.clones.kept_readings import KeptReadings
from impact.clones.line_checks import check_line, list_commits
from impact.clones.replay_cache import UpstreamTree
from impact.clones.spent_uses import list_spent
from impact.clones.tree_scan import (
    DownstreamTree,
    ProgressCallback,
    find_pin,
    ignore_progress,
    read_modules,
    scan_clone,
)
from impact.clones.upstream_line import (
    HEAD,
    CloneMerge,
    UpstreamCommits,
    find_place,
    find_places,
    read_upstream,
    select_line,
)
from impact.contract.deprecations import DeprecationLedger, update_ledger
from impact.contract.models import MergeContract
from impact.coverage import CoveredList
from impact.errors import UsageError
from impact.evaluation.imported_files import detect_packages
from impact.git.clone_trees import CloneTrees
from impact.history.merges import ClonedMerge
from impact.history.outcomes import MergeOutcome, find_outcomes
from impact.history.reverts import Revert, RevertIndex, list_reverted_numbers, select_standing
from impact.profile.models import Profile, Use
from impact.repository import GITHUB_WEB, Repository
from impact.source.models import LineCommit
from impact.text.strings import quote_input
from impact.touches.judgement import find_doubts, judge_commits
from impact.touches.models import JudgedCommit
from impact.touches.profile_index import ProfileIndex
from impact.touches.spent import NOT_LOOKED_FOR
from impact.touches.upgrade import UpgradePlan, UpgradeRange, build_upgrade_plan

# checks at the same time, with 230 MB each
_CHECKS = min(2, os.cpu_count() or 1)
# the linked profile of a smaller tree is made as quickly as it is read
_LEAST_FILES = 100


@dataclass(frozen=True, slots=True)
class JudgedRange:
    """Commits with the profile that they were judged by, which is linked to upstream at ``base``."""

    profile: Profile
    base: str
    commits: CoveredList[JudgedCommit]
    messages: Mapping[str, str]
    judges: str = ""

    @property
    def uses(self) -> Iterator[Use]:
        """The uses that are touched."""
        for each in self.commits.ignore_coverage():
            for touch in each.touches.touches:
                yield from touch.uses


class UpstreamReader:
    """Reads what is between two commits of an upstream clone, and judges it. What was read of large ones is kept.

    Each method raises UsageError for what is in none of the clones, and ImpactError if one can't be read.
    """

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
        self.tree = UpstreamTree(trees)

    def read_range(self, start: str, end: str = HEAD) -> UpgradeRange:
        """Read the merges after ``start`` up to ``end``.

        Raises:
            UsageError: the clone can't be read, or a commit is not on its branch, or they are in the other order.
        """
        (first, last), line = find_places(self.trees, start, end), self.trees.list_line()
        base = self.find_base(start)
        upstream = self.read_commits(line[first:])
        listed = upstream.every[: last - first]
        contracts = self.extract_contracts(listed)
        numbers = frozenset(contract.number for contract in contracts)
        index = RevertIndex(upstream.named)
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
            f"{GITHUB_WEB}/{upstream.title}" if upstream.title and upstream.named else "",
            [merge for merge in upstream.named if merge.number in numbers],
        )

    def read_commits(self, line: Sequence[LineCommit]) -> UpstreamCommits:
        return read_upstream(self.trees, line, self._requested, counts_lines=False)

    def extract_contracts(self, merges: Sequence[CloneMerge]) -> tuple[MergeContract, ...]:
        return tuple(extract_contracts(self.trees, merges, self._progress, self.kept))

    def detect_packages(self, start: str) -> tuple[str, ...]:
        """Return the packages that others import from the upstream repository. Raises UsageError."""
        commit = self.trees.find_commit(start)
        if not commit:
            commit = self.trees.list_line()[max(find_place(self.trees, start), 1) - 1].sha
        return detect_packages(self.trees.list_files(commit))

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
        if not commit:
            raise UsageError(
                f"There is no commit {quote_input(tree.commit)} in the clone of {quote_input(tree.name)}."
            )
        key = " ".join((tree.name, commit, base or f"pin {newest}", *packages))
        known = self.kept.profiles.load([key]) if self.kept else {}
        if key in known:
            return known[key]
        profile = scan_clone(tree.trees, tree.name, commit, packages, tree.now, self._progress, self.kept)
        at = base or find_pin(profile, self.trees, {each.sha for each in line})[1] or newest
        linked = self.tree.link(profile, at)
        if self.kept and linked.files >= _LEAST_FILES:
            self.kept.profiles.keep({key: linked})
        return linked

    def select_commits(self, names: Sequence[str], most: int | None = None) -> tuple[LineCommit, ...]:
        """Return commits of the branch, oldest first: those named, or those of a range BASE..TARGET after BASE."""
        if len(names) == 1 and ".." in names[0]:
            base, _, target = names[0].partition("..")
            chosen = select_line(self.trees, base, target or HEAD)
        else:
            line = self.trees.list_line()
            known = {commit.sha: place for place, commit in enumerate(line, 1)}
            places = {known.get(name) or find_place(self.trees, name) for name in names}
            chosen = tuple(line[place - 1] for place in sorted(places) if place)
        if not chosen:
            raise UsageError(
                "There is no commit to judge: name hashes, or a range such as 97f2f160fd..c9461e05a4."
            )
        if most and len(chosen) > most:
            raise UsageError(f"These are {len(chosen):,} commits, more than {most:,}: ask for them in parts.")
        return chosen

    def read_difference(self, base: str, head: str) -> LineCommit:
        """Return a commit that makes the whole difference between two, wherever they are. Raises UsageError."""
        commits = []
        for name in (base, head):
            commit = self.trees.find_head() if name == "HEAD" else self.trees.find_commit(name)
            if not commit:
                raise UsageError(f"The clone of upstream has no commit {quote_input(name)}: fetch it first.")
            commits.append(commit)
        return LineCommit(commits[1], commits[0], datetime.fromtimestamp(0, UTC))

    def judge(
        self,
        line: Sequence[LineCommit],
        downstream: Callable[[str], Profile],
        base: str = "",
        team: CloneTrees | None = None,
        until: float = math.inf,
    ) -> JudgedRange:
        """Judge commits, oldest first, by the profile that ``downstream`` gives for ``base`` or the one before.

        With ``team``, the clone of what is judged by, a type checker judges beside the rules. Its last check is
        over ``until``, by ``time.monotonic``.
        """
        base = self.find_base(base) or line[0].parent or line[0].sha
        profile = downstream(base)
        commits = self.read_commits(line)
        standing = select_standing(RevertIndex(commits.named).reverts, commits.named)
        reverts = [each for each in standing if not each.is_partial]
        contracts = self.extract_contracts(commits.every)
        checked, index = NOT_CHECKED, ProfileIndex(profile)
        if team:
            way, doubts = list_commits(commits.every), find_doubts(contracts, index)
            checked = self.check(team, profile, way, contracts, doubts, until)
        judged = judge_commits(index, contracts, reverts, checked)
        messages = {each.commit.sha: each.commit.message for each in commits.every}
        return JudgedRange(profile, base, judged, messages, checked.sentence)

    def check(
        self,
        team: CloneTrees,
        profile: Profile,
        line: Sequence[str],
        contracts: Sequence[MergeContract],
        doubts: Mapping[str, Collection[Place]] | None = None,
        until: float = math.inf,
        processes: int = _CHECKS,
    ) -> CheckedMerges:
        """Return what a type checker says of the tree of a profile along a line of commits, as ``check_line``."""
        modules = read_modules(team, profile.commit)
        return check_line(
            self.trees,
            modules,
            profile.packages,
            line,
            contracts,
            doubts or {},
            self.kept,
            until=until,
            processes=processes,
        )

    def plan(
        self,
        way: UpgradeRange,
        profile: Profile,
        team: CloneTrees | None = None,
        *,
        has_checker: bool = True,
    ) -> UpgradePlan:
        """Plan a way for a profile that is linked to its start.

        With ``team``, its clone, a type checker judges beside the rules, and what may go is looked for.
        """
        checked, spent = NOT_CHECKED if has_checker else LEFT_OUT, NOT_LOOKED_FOR
        if team:
            upstream = str(self._requested or "")
            spent = CoveredList(list_spent(team, profile, self.trees, way.start, way.end, way.merges, upstream))
        if team and has_checker:
            checked = self.check(team, profile, way.commits, way.contracts)
        return replace(build_upgrade_plan(way, ProfileIndex(profile), checked), spent=spent)


def _select_reverts(index: RevertIndex[ClonedMerge], numbers: frozenset[int]) -> tuple[Revert, ...]:
    """Return the reverts among the merges on the way that hold at its end."""
    inside = index.select(number for number in index.by_number if number in numbers)
    return select_standing(inside.reverts, inside.by_number.values())


def _select_regressions(
    outcomes: Sequence[MergeOutcome[ClonedMerge]], numbers: frozenset[int]
) -> Iterator[MergeOutcome[ClonedMerge]]:
    """Yield what was repaired or reverted only after the end of the way."""
    for outcome in outcomes:
        if outcome.stands and outcome.pull.number in numbers and outcome.by.number not in numbers:
            yield outcome
