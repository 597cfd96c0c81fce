"""What becomes of names over many merges: things keep their identity while they, or what holds them, move."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum

from impact.contract.models import ChangeKind, ContractChange, ContractClass

# characters: a longer name is no path of parts
_MAX_NAME_LENGTH = 500
ADDITIONS = (ChangeKind.ADDED, ChangeKind.ADDED_MEMBER, ChangeKind.ABSTRACT_MEMBER)
PLACEMENTS = (ChangeKind.MOVED, ChangeKind.RENAMED)
_CALLABLES = (ContractClass.FUNCTION, ContractClass.METHOD, ContractClass.CLASS)
# parts that a name stands in; names may form a circle in data that contradicts itself
_MAX_DEPTH = 50
# it separates what is at a name now from what was there before
_GENERATION_MARK = "\0"


class Origin(StrEnum):
    """Where something comes from: it was there before, was added, or newly holds what was there before."""

    BEFORE = "before"
    ADDED = "added"
    HOLDER = "holder"


@dataclass(slots=True)
class Chain:
    """Changes of one thing in one respect, in order, each with the position of its merge."""

    rows: list[tuple[int, ContractChange]] = field(default_factory=list)

    @property
    def first(self) -> ContractChange:
        """The first change."""
        return self.rows[0][1]

    @property
    def last(self) -> ContractChange:
        return self.rows[-1][1]

    def ends_with(self, kind: ChangeKind) -> bool:
        return bool(self.rows) and self.last.kind is kind


@dataclass(slots=True)
class Thing:
    """Something that others depend on. ``place`` is what holds it and its name there, where it was put by a move.

    ``existence`` has the changes that add, move and remove it, ``chains`` the others, by kind.
    """

    key: str
    origin: Origin = Origin.BEFORE
    is_gone: bool = False
    place: tuple[str, str] | None = None
    is_importable: bool = False
    existence: Chain = field(default_factory=Chain)
    chains: dict[ChangeKind, list[Chain]] = field(default_factory=dict)

    def extend_chain(self, at: int, row: ContractChange) -> None:
        """Append a change to the chain that it goes on from, else begin one."""
        chains = self.chains.setdefault(row.kind, [])
        chain = next((each for each in chains if each.last.after == row.before), None)
        if chain is None and len(chains) == 1 and chains[0].rows[-1][0] != at:
            chain = chains[0]
        if chain is None:
            chain = Chain()
            chains.append(chain)
        chain.rows.append((at, row))


class NetSurface:
    """The things of one family of names. A name's key is the name at the beginning of the range.

    A key stays the same when a thing, or the class or module that holds it, moves.
    """

    def __init__(self, *, is_dotted: bool) -> None:
        self.things: dict[str, Thing] = {}
        self._is_dotted = is_dotted
        self._children: dict[tuple[str, str], str] = {}
        self._generations = 0

    def apply_change(self, at: int, row: ContractChange) -> None:
        if row.kind in PLACEMENTS and row.new_name:
            self._place(at, row)
        elif row.kind is ChangeKind.REMOVED:
            self._remove(at, row)
        elif row.kind in ADDITIONS and not (row.kind is ChangeKind.ABSTRACT_MEMBER and row.before):
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
        for _ in range(_MAX_DEPTH):
            if not key:
                break
            key, part = self._get_place(key)
            parts.append(part)
        return ".".join(_strip_generation(part) for part in reversed(parts))

    def list_holders(self, key: str) -> list[Thing]:
        """Return what holds a thing, nearest first, as far as it changed itself."""
        holders = []
        for _ in range(_MAX_DEPTH):
            key = self._split_key(key)[0]
            if not key:
                break
            if thing := self.things.get(key):
                holders.append(thing)
        return holders

    def is_displaced(self, thing: Thing) -> bool:
        """Return whether a thing moved itself, and not only with what holds it."""
        return thing.place is not None and thing.place != self._split_key(thing.key)

    def get_original_name(self, thing: Thing) -> str:
        """Return the name by which others know a thing at the beginning of the range.

        For an addition that is its name in what holds it, by the name that the holder had then.
        """
        if thing.origin is Origin.BEFORE:
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
            self._begin_generation(old_place, Origin.HOLDER)
        self._put(thing, row.new_name)
        thing.is_importable = row.is_importable
        thing.existence.rows.append((at, row))

    def _remove(self, at: int, row: ContractChange) -> None:
        thing = self._get_thing(self.locate_name(row.name))
        thing.existence.rows.append((at, row))
        if self._is_elsewhere(thing, row.name):
            # what stood in for it at the old name
            thing.is_importable = False
        else:
            thing.is_gone = True

    def _add(self, at: int, row: ContractChange) -> None:
        key = self.locate_name(row.name)
        thing = self.things.get(key)
        if thing is None:
            thing = self.things[key] = Thing(key, Origin.ADDED)
        elif self._is_elsewhere(thing, row.name):
            thing = self._begin_generation(self._find_place(row.name), Origin.ADDED)
        elif thing.origin is Origin.BEFORE:
            self._restore(at, thing, row)
            return
        thing.is_gone = False
        thing.existence.rows.append((at, row))

    def _restore(self, at: int, thing: Thing, row: ContractChange) -> None:
        if not thing.is_gone:
            thing.extend_chain(at, row)
            return
        thing.is_gone = False
        self._put(thing, row.name)
        removed = next(each for _, each in reversed(thing.existence.rows) if each.kind is ChangeKind.REMOVED)
        earlier = [each for each in thing.existence.rows if each[1] is removed]
        thing.existence.rows = [each for each in thing.existence.rows if each[1] is not removed]
        if not removed.before or not row.after:
            return
        kind = ChangeKind.SIGNATURE if row.subject in _CALLABLES else ChangeKind.DEFAULT
        joint = replace(
            row, kind=kind, before=removed.before, old_signature=removed.old_signature, is_importable=False
        )
        before = replace(joint, after=removed.before, new_signature=removed.old_signature)
        thing.extend_chain(earlier[0][0], before)
        thing.extend_chain(at, joint)

    def _put(self, thing: Thing, name: str) -> None:
        place = self._find_place(name)
        self._children[place] = thing.key
        thing.place = place

    def _find_place(self, name: str) -> tuple[str, str]:
        *holder, part = self._split_name(name)
        return self.locate_name(".".join(holder)) if holder else "", part

    def _begin_generation(self, place: tuple[str, str], origin: Origin) -> Thing:
        self._generations += 1
        key = f"{_join(*place)}{_GENERATION_MARK}{self._generations}"
        self._children[place] = key
        thing = self.things[key] = Thing(key, origin, place=place)
        return thing

    def _is_elsewhere(self, thing: Thing, name: str) -> bool:
        return not thing.is_gone and self.get_name(thing.key) != name

    def _get_thing(self, key: str) -> Thing:
        return self.things.setdefault(key, Thing(key))

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


def _join(holder: str, part: str) -> str:
    return f"{holder}.{part}" if holder else part


def _strip_generation(key: str) -> str:
    return ".".join(part.partition(_GENERATION_MARK)[0] for part in key.split("."))
