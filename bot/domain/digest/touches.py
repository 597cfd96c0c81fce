"""Hits and contract changes in the order in which digests and lists show them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from impact.contract.models import ChangeKind, ContractClass, MergeContract
from impact.contract.table import ContractTableRow
from impact.touches.models import MergeTouches, TouchReport

# removed first: what is gone cannot be used any more; behaviour is no contract change that a list shows
_KINDS = (
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
_CLASSES = tuple(ContractClass)


def sort_hits(report: TouchReport, taken_back: Collection[int]) -> tuple[MergeTouches, ...]:
    """Return the merges that touch, strongest first, and those whose change was taken back last."""
    return tuple(sorted(report.touching, key=lambda merge: (merge.number in taken_back, *merge.sort_key)))


def list_contract_rows(contracts: Iterable[MergeContract]) -> Sequence[ContractTableRow]:
    """Return the contract changes of some merges by class, what was removed first, without behaviour."""

    def get_order(row: ContractTableRow) -> tuple[int, int, str, int]:
        change = row.change
        return _CLASSES.index(change.subject), _KINDS.index(change.kind), change.name, row.number

    changes = ((contract.number, change) for contract in contracts for change in contract.changes)
    return sorted((ContractTableRow(*each) for each in changes if each[1].kind in _KINDS), key=get_order)
