"""The way from one commit of an upstream repository to a later one, as work on the files of a team."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from impact.checker.diagnostics import NOT_CHECKED, CheckedMerges
from impact.contract.deprecations import Deprecation
from impact.contract.models import MergeContract, cover_contracts
from impact.contract.net_changes import MergeReference, NetChange, build_net_contracts, compute_net_changes
from impact.coverage import COMPLETE, Coverage, CoveredList
from impact.errors import attempt_all
from impact.history.merges import WrittenMerge
from impact.history.outcomes import MergeOutcome
from impact.history.reverts import Revert
from impact.profile.models import Use
from impact.touches.agreement import list_alone, weigh_touches
from impact.touches.judgement import judge_merge
from impact.touches.models import Touch, TouchLevel
from impact.touches.profile_index import ProfileIndex, UsedDeprecation, find_uses
from impact.touches.spent import SpentUse


@dataclass(frozen=True, slots=True)
class UpgradeItem:
    """A net change that concerns one of the team's files, at these uses in it, at least one, by line."""

    net: NetChange
    touch: Touch
    uses: tuple[Use, ...]

    @property
    def level(self) -> TouchLevel:
        return self.touch.level


@dataclass(frozen=True, slots=True)
class FileWork:
    """What is to be done in one of the team's files, the most certain first; at least one item."""

    path: str
    items: tuple[UpgradeItem, ...]

    @property
    def level(self) -> TouchLevel:
        return max(item.level for item in self.items)


@dataclass(frozen=True, slots=True)
class StoppingPoint:
    """The last ``commit`` before a merge that breaks something, and what of the team's it breaks."""

    commit: str
    number: int
    title: str
    items: tuple[UpgradeItem, ...]


@dataclass(frozen=True, slots=True)
class UpgradePlan:
    """The way from ``start`` to ``end``, two commits with ``merges`` between them.

    ``undone`` names changed on the way alone; ``uses`` is how many uses were looked at. ``regressions``
    are merges on the way that were repaired or reverted only after ``end``. ``judges`` says who judged.
    ``spent`` are uses that may go at the end.
    """

    profile: str
    start: str
    end: str
    merges: int
    uses: int
    files: CoveredList[FileWork] = field(default_factory=CoveredList)
    stops: tuple[StoppingPoint, ...] = ()
    undone: int = 0
    deprecations: tuple[UsedDeprecation, ...] = ()
    regressions: tuple[MergeOutcome[WrittenMerge], ...] = ()
    judges: str = ""
    spent: CoveredList[SpentUse] = field(default_factory=CoveredList)


@dataclass(frozen=True, slots=True)
class UpgradeRange:
    """What is between two commits: the contracts of the merges, oldest first, and what became of them.

    ``parents`` has, by merge commit, the commit before it on the branch. ``reverts`` are those that hold. ``url``
    is the address of the repository, empty if it is not known.
    """

    start: str
    end: str
    contracts: Sequence[MergeContract]
    parents: dict[str, str] = field(default_factory=dict)
    reverts: tuple[Revert, ...] = ()
    regressions: tuple[MergeOutcome[WrittenMerge], ...] = ()
    deprecations: tuple[Deprecation, ...] = ()
    url: str = ""
    merges: Sequence[WrittenMerge] = ()
    # of what else was to be read, such as lists of days
    coverage: Coverage = COMPLETE

    @property
    def commits(self) -> tuple[str, ...]:
        """The start and each commit after it, in order."""
        return self.start, *(each.commit for each in self.contracts)


def build_upgrade_plan(
    way: UpgradeRange, index: ProfileIndex, checked: CheckedMerges = NOT_CHECKED
) -> UpgradePlan:
    """Judge the net changes of a range against a profile, and sort them by the team's files."""

    def read_way(contracts: Sequence[MergeContract]) -> tuple[tuple[UpgradeItem, ...], int]:
        net = compute_net_changes(contracts, way.reverts)
        # names changed on the way alone cancel out, or are in what is new or gone
        changed = {change.name for each in contracts for change in each.changes}
        left = {name for each in net for name in (each.change.name, *each.names)}
        return tuple(_list_items(contracts, net, index, checked)), len(changed - left)

    (items, undone), failed = attempt_all(read_way, way.contracts, lambda contract: f"#{contract.number}")
    coverage = way.coverage + cover_contracts(way.contracts, failed) + index.profile.coverage
    return UpgradePlan(
        index.profile.name,
        way.start,
        way.end,
        len(way.contracts),
        len(index.profile.uses),
        CoveredList(_group_by_file(items), coverage),
        tuple(_list_stops(way, items)),
        undone,
        tuple(each for each in find_uses(way.deprecations, index) if each.uses),
        way.regressions,
        checked.sentence,
    )


def _list_items(
    contracts: Sequence[MergeContract], net: Sequence[NetChange], index: ProfileIndex, checked: CheckedMerges
) -> Iterator[UpgradeItem]:
    by_change = {(each.last_merge.number, each.change): each for each in net}
    touches = [
        (by_change[contract.number, touch.change], touch)
        for contract in build_net_contracts(contracts, net)
        for touch in judge_merge(contract, index).touches
    ]
    if every := checked.net:
        # a change is listed with the merge that made it last, which need not be the one from which on a use fails
        touches = [(each, weighed) for each, touch in touches for weighed in weigh_touches([touch], every)]
        by_rules = [touch for _, touch in touches]
        for at, contract in enumerate(contracts):
            # what the checker alone says, with the merge that it follows from
            if witness := checked.get_witness(contract.commit):
                merge = MergeReference(at, contract.number, contract.commit, contract.merged_at, contract.title)
                alone = list_alone(witness, by_rules, contract, index)
                touches += [(NetChange(touch.change, (merge,)), touch) for touch in alone]
    for change, touch in touches:
        by_path: dict[str, list[Use]] = defaultdict(list)
        for use in touch.uses:
            by_path[use.path].append(use)
        for uses in by_path.values():
            yield UpgradeItem(change, touch, tuple(sorted(uses, key=lambda use: use.line)))


def _group_by_file(items: Iterable[UpgradeItem]) -> tuple[FileWork, ...]:
    """Return the work by file: those that break first, the team's tests behind their own code."""
    by_path: dict[str, list[UpgradeItem]] = defaultdict(list)
    for item in items:
        by_path[item.uses[0].path].append(item)
    for group in by_path.values():
        group.sort(key=lambda each: (-each.level, -each.touch.score, each.uses[0].line))
    works = (FileWork(path, tuple(group)) for path, group in by_path.items())

    def get_order(work: FileWork) -> tuple[float, bool, float, str]:
        is_test = all(use.is_test for item in work.items for use in item.uses)
        score = sum(item.touch.score for item in work.items if item.level is work.level)
        return -work.level, is_test, -score, work.path

    return tuple(sorted(works, key=get_order))


def _list_stops(way: UpgradeRange, items: Iterable[UpgradeItem]) -> Iterator[StoppingPoint]:
    by_commit: dict[str, list[UpgradeItem]] = defaultdict(list)
    for item in items:
        if item.level is TouchLevel.BREAKS and not all(use.is_test for use in item.uses):
            by_commit[item.net.merges[0].commit].append(item)
    for contract in way.contracts:
        if group := by_commit.get(contract.commit):
            yield StoppingPoint(
                way.parents.get(contract.commit, ""), contract.number, contract.title, tuple(group)
            )
