"""What the merges of some days mean for a team's code, as a digest shows it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from impact.contract.models import ChangeKind, ContractChange, ContractClass, MergeContract
from impact.touches.models import MergeTouches, TouchReport

# removed first: what is gone cannot be used any more
_KIND_ORDER = {
    kind: place
    for place, kind in enumerate(
        (
            ChangeKind.REMOVED,
            ChangeKind.RENAMED,
            ChangeKind.MOVED,
            ChangeKind.SIGNATURE,
            ChangeKind.ABSTRACT_MEMBER,
            ChangeKind.RETURN,
            ChangeKind.DEFAULT,
            ChangeKind.DEPRECATED,
            ChangeKind.ADDED_MEMBER,
            ChangeKind.ADDED,
        )
    )
}
_CLASS_ORDER = {each: place for place, each in enumerate(ContractClass)}


@dataclass(frozen=True, slots=True)
class ContractRow:
    """A contract change and the number of the pull request that made it."""

    number: int
    change: ContractChange


def combine_reports(reports: Iterable[TouchReport]) -> TouchReport | None:
    """Return the reports of several days on one profile as one, strongest first; None if there are none."""
    every = tuple(reports)
    if not every:
        return None
    touching = [each for report in every for each in report.touching]
    return TouchReport(
        every[-1].profile,
        merges=sum(report.merges for report in every),
        uses=max(report.uses for report in every),
        touching=tuple(sorted(touching, key=lambda merge: merge.sort_key)),
        unread=tuple(dict.fromkeys(file for report in every for file in report.unread)),
    )


def sort_hits(report: TouchReport, taken_back: Collection[int]) -> tuple[MergeTouches, ...]:
    """Return the merges that touch, strongest first, and those whose change was taken back last."""
    return tuple(sorted(report.touching, key=lambda merge: (merge.number in taken_back, *merge.sort_key)))


def list_contract_rows(contracts: Iterable[MergeContract]) -> Sequence[ContractRow]:
    """Return the contract changes of some merges by class, what was removed first, without behaviour."""
    rows = (
        ContractRow(contract.number, change)
        for contract in contracts
        for change in contract.changes
        if change.kind in _KIND_ORDER
    )
    return sorted(rows, key=_get_row_order)


def _get_row_order(row: ContractRow) -> tuple[int, int, str, int]:
    change = row.change
    return _CLASS_ORDER[change.subject], _KIND_ORDER[change.kind], change.name, row.number
