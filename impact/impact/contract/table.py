"""The contracts of merges, and their changes as rows of a table, each with the address of its line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import quote

from impact.contract.models import LOST, ChangeKind, ContractChange, ContractClass, MergeContract, cover_contracts
from impact.contract.net_changes import compute_net_changes
from impact.coverage import CoveredList
from impact.history.reverts import Revert
from impact.repository import GITHUB_WEB, Repository

_CLASS_ORDER, _KIND_ORDER = [*ContractClass], [*ChangeKind]
# in which class a fact is told that is one of several, the first one best
_RANKS = {
    ContractClass.ENVIRONMENT: 0,
    ContractClass.CONFIGURATION: 1,
    ContractClass.API_FIELD: 2,
    ContractClass.WIRE: 3,
    ContractClass.ATTRIBUTE: 4,
    ContractClass.CONSTANT: 5,
}
_LOGGERS = frozenset({"logger", "log"})
_INTERNAL_VALUE = re.compile(
    r"(?:^|[=.\s])(?:init_logger|get_?logger|TypeVar|TypeVarTuple|ParamSpec)\(", re.I | re.A
)


@dataclass(frozen=True, slots=True)
class CloneContract:
    """A merge's contract, and the commit before the merge, which has what was removed."""

    contract: MergeContract
    parent: str


@dataclass(frozen=True, slots=True)
class CloneContracts:
    """The contracts of merges, oldest first, and the reverts that hold. ``repository`` is None if unknown."""

    repository: Repository | None
    merges: tuple[CloneContract, ...]
    reverts: tuple[Revert, ...] = ()


@dataclass(frozen=True, slots=True)
class ContractTableRow:
    """A change, the merge that it is from, and the address of its line, empty if there is none."""

    number: int
    change: ContractChange
    url: str = ""


def list_rows(contracts: CloneContracts, web: str = GITHUB_WEB) -> Iterator[ContractTableRow]:
    """Yield each change of each merge. ``web`` is the address of the GitHub's pages."""
    for merge in contracts.merges:
        yield from (_build_row(contracts, merge, change, web) for change in merge.contract.changes)


def list_net_rows(contracts: CloneContracts, web: str = GITHUB_WEB) -> Iterator[ContractTableRow]:
    """Yield what is different at the end: added and removed again cancels, renames and moves are joined."""
    merges = contracts.merges
    for net in compute_net_changes([merge.contract for merge in merges], contracts.reverts):
        yield _build_row(contracts, merges[net.last_merge.position], net.change, web)


def _build_row(
    contracts: CloneContracts, merge: CloneContract, change: ContractChange, web: str
) -> ContractTableRow:
    commit = merge.parent if change.is_old_line else merge.contract.commit
    url = f"{web}/{contracts.repository}/blob/{commit}/{quote(change.path)}#L{change.line}"
    return ContractTableRow(merge.contract.number, change, url if contracts.repository else "")


def select_rows(contracts: CloneContracts, rows: Iterable[ContractTableRow]) -> CoveredList[ContractTableRow]:
    """Return the rows of a table: by class, what was removed first; without what is the same from outside."""
    telling = (row for row in select_told(rows) if row.change.kind is not ChangeKind.BEHAVIOUR)
    coverage = cover_contracts(merge.contract for merge in contracts.merges)
    return CoveredList(tuple(sorted(telling, key=_get_order)), coverage)


def select_told(rows: Iterable[ContractTableRow]) -> list[ContractTableRow]:
    """Return the rows without loggers and the like, each fact in one class: a field as what users write."""
    every = [row for row in rows if not _is_internal(row.change)]
    best: dict[object, int] = {}
    for row in every:
        if (rank := _RANKS.get(row.change.subject)) is not None:
            best[_name_fact(row)] = min(rank, best.get(_name_fact(row), rank))
    return [row for row in every if _RANKS.get(row.change.subject) in {None, best.get(_name_fact(row))}]


def _is_internal(change: ContractChange) -> bool:
    """Return whether a name is one that modules have for themselves: a logger, or a variable of types."""
    if change.subject not in (ContractClass.CONSTANT, ContractClass.ATTRIBUTE):
        return False
    text = change.before or change.after
    return change.last_name.strip("_").lower() in _LOGGERS or bool(_INTERNAL_VALUE.search(text))


def _name_fact(row: ContractTableRow) -> object:
    """Return what a row states: two rows with the same are one fact in two classes."""
    change, kind = row.change, row.change.kind
    parts = change.name.split(".")
    # of ``package.envs.NAME`` the name alone is what users write
    name = parts[-1] if len(parts) > 1 and parts[-2] == "envs" else ".".join(parts[-2:])
    return row.number, name, ChangeKind.REMOVED if kind in LOST else kind


def _get_order(row: ContractTableRow) -> tuple[int, int, str, int]:
    change = row.change
    place = _CLASS_ORDER.index(change.subject), _KIND_ORDER.index(change.kind)
    return *place, change.name, row.number
