"""The net effect of many merges on what others depend on: what is different at their end, and by which merges."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice

from impact.contract.models import (
    PYTHON_CLASSES,
    ChangeKind,
    ContractChange,
    ContractClass,
    MergeContract,
    Migration,
)
from impact.contract.net_surface import ADDITIONS, PLACEMENTS, Chain, NetSurface, Origin, Thing
from impact.history.reverts import Revert

# these say that something happened: no text shows that it was undone, only a known revert does
_EVENTS = frozenset((ChangeKind.BEHAVIOUR, ChangeKind.DEPRECATED, ChangeKind.ABSTRACT_MEMBER))
_REMOVED = ChangeKind.REMOVED
# lines of upstream's own callers for one change; more say the same
_MAX_MIGRATIONS = 20
_Rows = tuple[tuple[int, ContractChange], ...]


@dataclass(frozen=True, slots=True)
class MergeReference:
    """A merge that a net change comes from. ``position`` is its place in the range, from 0."""

    position: int
    number: int
    commit: str
    merged_at: datetime
    title: str = ""


@dataclass(frozen=True, slots=True)
class NetChange:
    """A change between the two ends of a range, under the name at its beginning.

    ``before`` and ``after`` of the change are those at the ends, its path and line those of the last merge.
    There is at least one of ``merges``. ``names`` are those that it had in the range.
    """

    change: ContractChange
    merges: tuple[MergeReference, ...]
    names: tuple[str, ...] = ()

    @property
    def last_merge(self) -> MergeReference:
        """The merge after which nothing of it changed."""
        return self.merges[-1]


def compute_net_changes(merges: Sequence[MergeContract], reverts: Iterable[Revert] = ()) -> tuple[NetChange, ...]:
    """Return what is different after the merges of a range, in the order in which it was last changed.

    What was added and removed again, or changed and changed back, is left out; renames and moves are joined.
    ``reverts`` are those that hold. What a fully reverted merge changed is left out, even if the revert shows no
    change, as for a deprecation.
    """
    surfaces: dict[bool | str, NetSurface] = {}
    for at, merge in enumerate(merges):
        for row in sorted(merge.changes, key=_rank_row):
            is_python = row.subject in PYTHON_CLASSES
            surface = surfaces.setdefault(is_python or row.subject.value, NetSurface(is_dotted=is_python))
            surface.apply_change(at, row)
    filters = _RevertFilter(reverts, frozenset(merge.number for merge in merges))
    net = (
        _build_net_change(row, rows, merges)
        for surface in surfaces.values()
        for row, rows in _list_changes(surface)
    )
    return tuple(
        sorted(
            (each for each in net if not filters.is_undone(each)),
            key=lambda each: (each.last_merge.position, _rank_row(each.change), each.change.name),
        )
    )


def build_net_contracts(merges: Sequence[MergeContract], net: Iterable[NetChange]) -> tuple[MergeContract, ...]:
    """Return net changes as contracts of the merges that made them last, in order, to be judged like merges."""
    # what a merge did otherwise to files, and what it changed without a row, may not be there at the end
    by_position: dict[int, list[NetChange]] = {}
    for each in net:
        by_position.setdefault(each.last_merge.position, []).append(each)
    return tuple(
        replace(
            merges[at],
            changes=tuple(each.change for each in group),
            migrations=_collect_migrations(merges, group),
            files=tuple(dict.fromkeys(each.change.path for each in group)),
            unlisted=(),
        )
        for at, group in sorted(by_position.items())
    )


class _RevertFilter:
    """What is undone by known reverts with both merges in a range."""

    def __init__(self, reverts: Iterable[Revert], numbers: frozenset[int]) -> None:
        full = [each for each in reverts if not each.is_partial and {each.number, each.by} <= numbers]
        self._undone = frozenset(each.number for each in full)
        self._pairs = self._undone | frozenset(each.by for each in full)

    def is_undone(self, net: NetChange) -> bool:
        """Return whether only reverted merges made a change. Of an event, the revert shows no opposite."""
        numbers = {merge.number for merge in net.merges}
        return numbers <= (self._pairs if net.change.kind in _EVENTS else self._undone)


def _build_net_change(row: ContractChange, rows: _Rows, merges: Sequence[MergeContract]) -> NetChange:
    positions = sorted({at for at, _ in rows})
    references = tuple(
        MergeReference(at, each.number, each.commit, each.merged_at, each.title)
        for at in positions
        if (each := merges[at])
    )
    names = dict.fromkeys(name for _, each in rows for name in (each.name, each.new_name) if name)
    return NetChange(row, references, tuple(names))


def _collect_migrations(
    merges: Sequence[MergeContract], net: Iterable[NetChange]
) -> dict[str, tuple[Migration, ...]]:
    """Return how upstream changed its own callers, newest first, by the names of net changes."""
    by_name: dict[str, tuple[Migration, ...]] = {}
    for each in net:
        migrations = (
            migration
            for merge in reversed(each.merges)
            for name in each.names
            for migration in merges[merge.position].migrations.get(name, ())
        )
        if shown := tuple(islice(migrations, _MAX_MIGRATIONS)):
            by_name[each.change.name] = shown
    return by_name


def _rank_row(row: ContractChange) -> tuple[int, int]:
    """Return the order within a merge: removals have old names, additions new ones, and holders move first."""
    if row.kind is _REMOVED:
        return 0, 0
    if row.kind in PLACEMENTS:
        return 1, row.new_name.count(".")
    return (3 if row.kind in ADDITIONS else 2), 0


def _list_changes(surface: NetSurface) -> Iterator[tuple[ContractChange, _Rows]]:
    for thing in surface.things.values():
        holders = surface.list_holders(thing.key)
        if thing.is_gone:
            yield from _list_removal(surface, thing, holders)
        elif thing.origin is Origin.ADDED:
            yield from _list_addition(surface, thing, holders)
        else:
            yield from _list_placement(surface, thing)
            if not _is_covered(thing, holders):
                yield from _list_others(surface, thing)


def _is_covered(thing: Thing, holders: Iterable[Thing]) -> bool:
    """Return whether what holds a thing is new or gone, so that its own changes say nothing more."""
    if thing.place:
        return False
    for holder in holders:
        if holder.is_gone or holder.origin is Origin.ADDED:
            return True
        if holder.place:
            return False
    return False


def _is_class(thing: Thing) -> bool:
    return bool(thing.existence.rows) and thing.existence.last.subject is ContractClass.CLASS


def _list_removal(
    surface: NetSurface, thing: Thing, holders: Sequence[Thing]
) -> Iterator[tuple[ContractChange, _Rows]]:
    if thing.origin is not Origin.BEFORE or any(
        each.origin is Origin.ADDED or (each.is_gone and _is_class(each)) for each in holders
    ):
        return
    removed = next(row for _, row in reversed(thing.existence.rows) if row.kind is _REMOVED)
    earlier = next((each for each in _list_chains(thing) if each.last.after == removed.before), None)
    rows = thing.existence.rows
    if earlier:
        rows = [*earlier.rows, *rows]
        removed = replace(removed, before=earlier.first.before, old_signature=earlier.first.old_signature)
    yield replace(removed, name=surface.get_original_name(thing)), tuple(rows)


def _list_addition(
    surface: NetSurface, thing: Thing, holders: Iterable[Thing]
) -> Iterator[tuple[ContractChange, _Rows]]:
    if any(each.is_gone or (each.origin is Origin.ADDED and _is_class(each)) for each in holders):
        return
    added = next(row for _, row in reversed(thing.existence.rows) if row.kind in ADDITIONS)
    later = next((each for each in _list_chains(thing) if each.first.before == added.after), None)
    rows = list(thing.existence.rows)
    if later:
        rows += later.rows
        added = replace(added, after=later.last.after, new_signature=later.last.new_signature)
    if any(row.kind is ChangeKind.ABSTRACT_MEMBER for _, row in rows):
        added = replace(added, kind=ChangeKind.ABSTRACT_MEMBER)
    _, last = max(rows, key=lambda each: each[0])
    name, now = surface.get_original_name(thing), surface.get_name(thing.key)
    new_name = now if now != name else ""
    yield (
        replace(added, name=name, new_name=new_name, path=last.path, line=last.line, side=last.side),
        tuple(rows),
    )


def _list_placement(surface: NetSurface, thing: Thing) -> Iterator[tuple[ContractChange, _Rows]]:
    """Yield where a thing is now, if it moved itself or what stood in for it at the old name went away."""
    name, now = surface.get_original_name(thing), surface.get_name(thing.key)
    if name == now or not (surface.is_displaced(thing) or thing.existence.ends_with(_REMOVED)):
        return
    rows = tuple(thing.existence.rows)
    placements = [row for _, row in rows if row.kind in PLACEMENTS]
    row = placements[-1] if placements else thing.existence.last
    kind = ChangeKind.MOVED if name.rpartition(".")[2] == now.rpartition(".")[2] else ChangeKind.RENAMED
    kinds = {each.kind for each in placements}
    kind = kinds.pop() if len(kinds) == 1 else kind
    moved = replace(
        row,
        kind=kind,
        name=name,
        new_name=now,
        before=thing.existence.first.before,
        is_importable=thing.is_importable,
    )
    yield moved, rows


def _list_others(surface: NetSurface, thing: Thing) -> Iterator[tuple[ContractChange, _Rows]]:
    name = surface.get_original_name(thing)
    for chain in _list_chains(thing):
        first, last = chain.first, chain.last
        is_same = first.before == last.after and first.old_signature == last.new_signature
        if is_same and last.kind not in _EVENTS:
            continue
        yield (replace(last, name=name, before=first.before, old_signature=first.old_signature), tuple(chain.rows))


def _list_chains(thing: Thing) -> list[Chain]:
    return [chain for chains in thing.chains.values() for chain in chains]
