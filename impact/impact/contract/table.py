"""The contracts of merges, and their changes as rows of a table, each with the address of its line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import quote

from impact.contract.models import ChangeKind, ContractChange, ContractClass, MergeContract, cover_contracts
from impact.contract.net_changes import compute_net_changes
from impact.coverage import CoveredList
from impact.history.reverts import Revert
from impact.repository import GITHUB_WEB, Repository
from impact.source.models import DiffSide

_CLASS_ORDER = {subject: place for place, subject in enumerate(ContractClass)}
_KIND_ORDER = {kind: place for place, kind in enumerate(ChangeKind)}


@dataclass(frozen=True, slots=True)
class CloneContract:
    """A merge's contract, and the commit before the merge, which has what was removed."""

    contract: MergeContract
    parent: str


@dataclass(frozen=True, slots=True)
class CloneContracts:
    """The contracts of merges, oldest first, and the reverts among them that hold.

    ``repository`` is None if nothing says where the clone is from.
    """

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
        for change in merge.contract.changes:
            yield _build_row(contracts, merge, change, web)


def list_net_rows(contracts: CloneContracts, web: str = GITHUB_WEB) -> Iterator[ContractTableRow]:
    """Yield what is different at the end: added and removed again cancels, renames and moves are joined."""
    merges = contracts.merges
    for net in compute_net_changes([merge.contract for merge in merges], contracts.reverts):
        yield _build_row(contracts, merges[net.last_merge.position], net.change, web)


def _build_row(
    contracts: CloneContracts, merge: CloneContract, change: ContractChange, web: str
) -> ContractTableRow:
    commits = (merge.parent, merge.contract.commit)
    url = build_line_url(web, str(contracts.repository), commits, change) if contracts.repository else ""
    return ContractTableRow(merge.contract.number, change, url)


def build_line_url(web: str, repository: str, commits: tuple[str, str], change: ContractChange) -> str:
    """Return the address of a change's line. ``commits`` are the one before the merge, and the merge."""
    commit = commits[change.side is DiffSide.NEW]
    return f"{web}/{repository}/blob/{commit}/{quote(change.path)}#L{change.line}"


def select_rows(contracts: CloneContracts, rows: Iterable[ContractTableRow]) -> CoveredList[ContractTableRow]:
    """Return the rows of a table: by class, what was removed first; without what is the same from outside."""
    telling = (row for row in rows if row.change.kind is not ChangeKind.BEHAVIOUR)
    coverage = cover_contracts(merge.contract for merge in contracts.merges)
    return CoveredList(tuple(sorted(telling, key=_get_order)), coverage)


def _get_order(row: ContractTableRow) -> tuple[int, int, str, int]:
    change = row.change
    return _CLASS_ORDER[change.subject], _KIND_ORDER[change.kind], change.name, row.number
