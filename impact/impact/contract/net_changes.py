"""The net effect of many merges on what others depend on: what is different at their end, and by which merges."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
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
from impact.history.reverts import Revert

# these say that something happened: no text shows that it was undone, only a known revert does
_EVENTS = frozenset((ChangeKind.BEHAVIOUR, ChangeKind.DEPRECATED, ChangeKind.ABSTRACT_MEMBER))
_ADDITIONS = (ChangeKind.ADDED, ChangeKind.ADDED_MEMBER, ChangeKind.ABSTRACT_MEMBER)
_PLACEMENTS = (ChangeKind.MOVED, ChangeKind.RENAMED)
_CALLABLES = (ContractClass.FUNCTION, ContractClass.METHOD, ContractClass.CLASS)
# lines of upstream's own callers for one change; more say the same
_MAX_MIGRATIONS = 20
# characters: a longer name is no path of parts
_MAX_NAME_LENGTH = 500
# parts that a name stands in; names may form a circle in data that contradicts itself
_MAX_DEPTH = 50
# it separates what is at a name now from what was there before
_GENERATION_MARK = "\0"
# changes with the positions of their merges, in order
_Rows = list[tuple[int, ContractChange]]


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
    surfaces: dict[bool | str, _NetSurface] = {}
    for at, merge in enumerate(merges):
        for row in sorted(merge.changes, key=_rank_row):
            is_python = row.subject in PYTHON_CLASSES
            surface = surfaces.setdefault(is_python or row.subject.value, _NetSurface(is_dotted=is_python))
            surface.apply_change(at, row)
    numbers = {merge.number for merge in merges}
    full = [each for each in reverts if not each.is_partial and {each.number, each.by} <= numbers]
    undone = {each.number for each in full}
    # of an event, the revert shows no opposite
    undone_events = undone | {each.by for each in full}
    net = [
        each
        for surface in surfaces.values()
        for row, rows in surface.list_changes()
        if (each := _build_net_change(row, rows, merges))
        and not {merge.number for merge in each.merges} <= (undone_events if row.kind in _EVENTS else undone)
    ]
    net.sort(key=lambda each: (each.last_merge.position, _rank_row(each.change), each.change.name))
    return tuple(net)


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


def _build_net_change(row: ContractChange, rows: _Rows, merges: Sequence[MergeContract]) -> NetChange:
    positions = sorted({at for at, _ in rows})
    pairs = [(at, merges[at]) for at in positions]
    references = [MergeReference(at, each.number, each.commit, each.merged_at, each.title) for at, each in pairs]
    names = dict.fromkeys(name for _, each in rows for name in (each.name, each.new_name) if name)
    return NetChange(row, tuple(references), tuple(names))


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
    if row.kind in _PLACEMENTS:
        return 1, row.new_name.count(".")
    return (0 if row.kind is ChangeKind.REMOVED else 3 if row.kind in _ADDITIONS else 2), 0


# --- what becomes of names: things keep their identity while they, or what holds them, move


@dataclass(slots=True)
class _Thing:
    """Something that others depend on. ``place`` is what holds it and its name there, where it was put by a move.

    It was there before, ``is_added``, or is a new holder of what was there. ``existence`` has the changes that
    add, move and remove it. ``chains`` has the others: those of one kind that go on from each other, in order.
    """

    key: str
    is_added: bool = False
    is_holder: bool = False
    is_gone: bool = False
    place: tuple[str, str] | None = None
    is_importable: bool = False
    existence: _Rows = field(default_factory=list)
    chains: list[_Rows] = field(default_factory=list)

    @property
    def is_class(self) -> bool:
        return bool(self.existence) and self.existence[-1][1].subject is ContractClass.CLASS

    @property
    def was_there(self) -> bool:
        return not self.is_added and not self.is_holder

    def extend_chain(self, at: int, row: ContractChange) -> None:
        """Append a change to the chain that it goes on from, else begin one."""
        chains = [each for each in self.chains if each[0][1].kind is row.kind]
        only = chains[0] if len(chains) == 1 and chains[0][-1][0] != at else None
        chain = next((each for each in chains if each[-1][1].after == row.before), only)
        if chain is None:
            chain = []
            self.chains.append(chain)
        chain.append((at, row))

    def list_chains(self) -> list[_Rows]:
        """Return the chains by kind, in the order in which the kinds came first."""
        kinds = list(dict.fromkeys(chain[0][1].kind for chain in self.chains))
        return sorted(self.chains, key=lambda chain: kinds.index(chain[0][1].kind))


class _NetSurface:
    """The things of one family of names. A name's key is the name at the beginning of the range.

    A key stays the same when a thing, or the class or module that holds it, moves.
    """

    def __init__(self, *, is_dotted: bool) -> None:
        self.things: dict[str, _Thing] = {}
        self._is_dotted = is_dotted
        self._children: dict[tuple[str, str], str] = {}
        self._generations = 0

    def apply_change(self, at: int, row: ContractChange) -> None:
        if row.kind in _PLACEMENTS and row.new_name:
            self._place(at, row)
        elif row.kind is ChangeKind.REMOVED:
            self._remove(at, row)
        elif row.kind in _ADDITIONS and not (row.kind is ChangeKind.ABSTRACT_MEMBER and row.before):
            self._add(at, row)
        else:
            self._get_thing(self.locate_name(row.name)).extend_chain(at, row)

    def locate_name(self, name: str) -> str:
        key = ""
        for part in self._split_name(name):
            key = self._children.get((key, part)) or _join(key, part)
        return key

    def get_name(self, key: str) -> str:
        parts: list[str] = []
        while key and len(parts) < _MAX_DEPTH:
            key, part = self._get_place(key)
            parts.append(part)
        return ".".join(_strip_generation(part) for part in reversed(parts))

    def list_holders(self, key: str) -> list[_Thing]:
        """Return what holds a thing, nearest first, as far as it changed itself."""
        holders = []
        for _ in range(_MAX_DEPTH):
            key = self._split_key(key)[0]
            if not key:
                break
            if thing := self.things.get(key):
                holders.append(thing)
        return holders

    def is_displaced(self, thing: _Thing) -> bool:
        """Return whether a thing moved itself, and not only with what holds it."""
        return thing.place is not None and thing.place != self._split_key(thing.key)

    def get_original_name(self, thing: _Thing) -> str:
        """Return the name by which others know a thing at the beginning of the range.

        For an addition that is its name in what holds it, by the name that the holder had then.
        """
        if thing.was_there:
            return _strip_generation(thing.key)
        holder, part = self._get_place(thing.key)
        return _strip_generation(_join(holder, part))

    def _place(self, at: int, row: ContractChange) -> None:
        thing = self._get_thing(self.locate_name(row.name))
        old_place = self._get_place(thing.key)
        if self._children.get(old_place) == thing.key:
            del self._children[old_place]
        if row.new_name.startswith(f"{row.name}."):
            # a module became a package that holds it
            self._begin_generation(old_place, is_added=False)
        self._put(thing, row.new_name)
        thing.is_importable = row.is_importable
        thing.existence.append((at, row))

    def _remove(self, at: int, row: ContractChange) -> None:
        thing = self._get_thing(self.locate_name(row.name))
        thing.existence.append((at, row))
        if self._is_elsewhere(thing, row.name):
            # what stood in for it at the old name
            thing.is_importable = False
        else:
            thing.is_gone = True

    def _add(self, at: int, row: ContractChange) -> None:
        key = self.locate_name(row.name)
        thing = self.things.get(key)
        if thing is None:
            thing = self.things[key] = _Thing(key, is_added=True)
        elif self._is_elsewhere(thing, row.name):
            thing = self._begin_generation(self._find_place(row.name), is_added=True)
        elif thing.was_there:
            self._restore(at, thing, row)
            return
        thing.is_gone = False
        thing.existence.append((at, row))

    def _restore(self, at: int, thing: _Thing, row: ContractChange) -> None:
        if not thing.is_gone:
            thing.extend_chain(at, row)
            return
        thing.is_gone = False
        self._put(thing, row.name)
        removed = next(each for _, each in reversed(thing.existence) if each.kind is ChangeKind.REMOVED)
        removed_at = next(place for place, each in thing.existence if each is removed)
        thing.existence = [each for each in thing.existence if each[1] is not removed]
        if removed.before and row.after:
            kind = ChangeKind.SIGNATURE if row.subject in _CALLABLES else ChangeKind.DEFAULT
            signature, was = removed.old_signature, removed.before
            joint = replace(row, kind=kind, before=was, old_signature=signature, is_importable=False)
            thing.extend_chain(removed_at, replace(joint, after=was, new_signature=signature))
            thing.extend_chain(at, joint)

    def _put(self, thing: _Thing, name: str) -> None:
        thing.place = self._find_place(name)
        self._children[thing.place] = thing.key

    def _find_place(self, name: str) -> tuple[str, str]:
        *holder, part = self._split_name(name)
        return self.locate_name(".".join(holder)) if holder else "", part

    def _begin_generation(self, place: tuple[str, str], *, is_added: bool) -> _Thing:
        self._generations += 1
        key = f"{_join(*place)}{_GENERATION_MARK}{self._generations}"
        self._children[place] = key
        thing = self.things[key] = _Thing(key, is_added, not is_added, place=place)
        return thing

    def _is_elsewhere(self, thing: _Thing, name: str) -> bool:
        return not thing.is_gone and self.get_name(thing.key) != name

    def _get_thing(self, key: str) -> _Thing:
        return self.things.setdefault(key, _Thing(key))

    def _get_place(self, key: str) -> tuple[str, str]:
        thing = self.things.get(key)
        return thing.place if thing and thing.place else self._split_key(key)

    def _split_key(self, key: str) -> tuple[str, str]:
        if not self._is_dotted or len(key) > _MAX_NAME_LENGTH:
            return "", key
        holder, _, part = key.rpartition(".")
        return holder, part

    def _split_name(self, name: str) -> list[str]:
        return name.split(".") if self._is_dotted and len(name) <= _MAX_NAME_LENGTH else [name]

    # --- what is different at the end

    def list_changes(self) -> Iterator[tuple[ContractChange, _Rows]]:
        for thing in self.things.values():
            holders = self.list_holders(thing.key)
            if thing.is_gone:
                yield from self._list_removal(thing, holders)
            elif thing.is_added:
                yield from self._list_addition(thing, holders)
            else:
                yield from self._list_placement(thing)
                name = self.get_original_name(thing)
                telling = next((each for each in holders if each.is_gone or each.is_added or each.place), None)
                # what holds it is new or gone, so that its own changes say nothing more
                is_covered = telling is not None and not thing.place and (telling.is_gone or telling.is_added)
                for chain in () if is_covered else thing.list_chains():
                    first, last = chain[0][1], chain[-1][1]
                    is_same = first.before == last.after and first.old_signature == last.new_signature
                    if not is_same or last.kind in _EVENTS:
                        yield (
                            replace(last, name=name, before=first.before, old_signature=first.old_signature),
                            chain,
                        )

    def _list_removal(self, thing: _Thing, holders: Sequence[_Thing]) -> Iterator[tuple[ContractChange, _Rows]]:
        if not thing.was_there or any(each.is_added or (each.is_gone and each.is_class) for each in holders):
            return
        removed = next(row for _, row in reversed(thing.existence) if row.kind is ChangeKind.REMOVED)
        earlier = next((each for each in thing.list_chains() if each[-1][1].after == removed.before), [])
        first = earlier[0][1] if earlier else removed
        name, signature = self.get_original_name(thing), first.old_signature
        yield (
            replace(removed, name=name, before=first.before, old_signature=signature),
            [*earlier, *thing.existence],
        )

    def _list_addition(self, thing: _Thing, holders: Iterable[_Thing]) -> Iterator[tuple[ContractChange, _Rows]]:
        if any(each.is_gone or (each.is_added and each.is_class) for each in holders):
            return
        added = next(row for _, row in reversed(thing.existence) if row.kind in _ADDITIONS)
        later = next((each for each in thing.list_chains() if each[0][1].before == added.after), [])
        rows = [*thing.existence, *later]
        end = later[-1][1] if later else added
        is_abstract = any(row.kind is ChangeKind.ABSTRACT_MEMBER for _, row in rows)
        _, last = max(rows, key=lambda each: each[0])
        name, now = self.get_original_name(thing), self.get_name(thing.key)
        added = replace(
            added,
            kind=ChangeKind.ABSTRACT_MEMBER if is_abstract else added.kind,
            name=name,
            after=end.after,
            path=last.path,
            line=last.line,
            side=last.side,
            new_name=now if now != name else "",
            new_signature=end.new_signature,
        )
        yield added, rows

    def _list_placement(self, thing: _Thing) -> Iterator[tuple[ContractChange, _Rows]]:
        """Yield where a thing is now, if it moved itself or what stood in for it at the old name went away."""
        name, now = self.get_original_name(thing), self.get_name(thing.key)
        rows = thing.existence
        is_removed = bool(rows) and rows[-1][1].kind is ChangeKind.REMOVED
        if name == now or not (self.is_displaced(thing) or is_removed):
            return
        placements = [row for _, row in rows if row.kind in _PLACEMENTS]
        row = placements[-1] if placements else rows[-1][1]
        kinds = {each.kind for each in placements}
        if len(kinds) != 1:
            kinds = {ChangeKind.MOVED if name.rpartition(".")[2] == now.rpartition(".")[2] else ChangeKind.RENAMED}
        moved = replace(row, kind=kinds.pop(), before=rows[0][1].before, is_importable=thing.is_importable)
        yield replace(moved, name=name, new_name=now), rows


def _join(holder: str, part: str) -> str:
    return f"{holder}.{part}" if holder else part


def _strip_generation(key: str) -> str:
    # most names are at one thing alone, and a long way asks for them a hundred thousand times
    if _GENERATION_MARK not in key:
        return key
    return ".".join(part.partition(_GENERATION_MARK)[0] for part in key.split("."))
