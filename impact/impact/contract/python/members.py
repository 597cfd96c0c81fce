"""What differs between a class before and after: its members, their signatures and values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from impact.contract.models import ChangeKind, ContractChange, ContractClass
from impact.contract.python.moves import Pair, Place
from impact.contract.python.rows import compare_definitions, make_row
from impact.contract.python.signatures import accepts_all, is_same_call
from impact.contract.python.similarity import compare_names, compare_shapes
from impact.contract.python.snapshots import Presence, Snapshot, is_plain_base
from impact.python.models import Definition, DefinitionKind

_MEMBER_KINDS = frozenset({DefinitionKind.METHOD, DefinitionKind.FIELD, DefinitionKind.ATTRIBUTE})
_VALUES = frozenset({DefinitionKind.FIELD, DefinitionKind.ATTRIBUTE})
_MIN_RENAME = 0.58
_MAX_COMPARED = 40


class ClassComparison:
    """A class before and after a merge."""

    def __init__(self, pair: Pair, before: Snapshot, after: Snapshot) -> None:
        self._pair, self._before, self._after = pair, before, after
        self._old = pair.old.outline.list_members(pair.old.definition.name)
        self._new = pair.new.outline.list_members(pair.new.definition.name)

    def list_changes(self) -> Iterator[ContractChange]:
        yield from self._compare_constructors()
        gone = {name: each for name, each in self._old.items() if name not in self._new}
        fresh = {name: each for name, each in self._new.items() if name not in self._old}
        # what a base still has is not renamed, whatever else is new
        lost = {name: each for name, each in gone.items() if self._is_lost(name)}
        renamed = dict(self._find_renames(lost, fresh))
        for name, definition in gone.items():
            yield from self._describe_loss(definition, renamed.get(name))
        for name, definition in fresh.items():
            if name not in renamed.values():
                yield from self._describe_addition(definition)
        for name, definition in self._old.items():
            if name in self._new:
                yield from self._compare_member(definition, self._new[name])

    def _compare_member(self, old: Definition, new: Definition) -> Iterator[ContractChange]:
        first, second = Place(self._pair.old.outline, old), Place(self._pair.new.outline, new)
        if old.kind is DefinitionKind.CLASS and new.kind is DefinitionKind.CLASS:
            yield from ClassComparison(Pair(first, second), self._before, self._after).list_changes()
            return
        yield from compare_definitions(first, second)
        if new.is_abstract and not old.is_abstract:
            yield make_row(ChangeKind.ABSTRACT_MEMBER, second, before=first)

    def _compare_constructors(self) -> Iterator[ContractChange]:
        """Compare what makes an object, where the fields of a data class do."""
        old, new = self._pair.old.definition, self._pair.new.definition
        if not old.signature or not new.signature or is_same_call(old.signature, new.signature):
            return
        yield make_row(
            ChangeKind.SIGNATURE,
            self._pair.new,
            before=self._pair.old,
            subject=ContractClass.METHOD,
            member="__init__",
        )

    def _find_renames(
        self, gone: dict[str, Definition], fresh: dict[str, Definition]
    ) -> Iterator[tuple[str, str]]:
        scored = [
            (score, old, new)
            for old in list(gone)[:_MAX_COMPARED]
            for new in list(fresh)[:_MAX_COMPARED]
            if (score := self._score_rename(gone[old], fresh[new]))
        ]
        done: set[tuple[bool, str]] = set()
        for _, old, new in sorted(scored, key=lambda each: (-each[0], *each[1:])):
            if (True, old) not in done and (False, new) not in done:
                done.update(((True, old), (False, new)))
                yield old, new

    def _score_rename(self, old: Definition, new: Definition) -> float:
        is_alike = old.kind is new.kind or {old.kind, new.kind} <= _VALUES
        names = old.name.rpartition(".")[2], new.name.rpartition(".")[2]
        if not is_alike or any(name.startswith("__") for name in names):
            return 0.0
        name = compare_names(*names)
        shape = compare_shapes(old, self._pair.old.outline, new, self._pair.new.outline)
        is_telling = old.kind is DefinitionKind.METHOD and old.end_line - old.line >= 3
        if shape == 1.0 and (is_telling or name):
            return 1.0 + name
        score = 0.5 * name + 0.5 * shape
        return score if name and score >= _MIN_RENAME else 0.0

    def _is_lost(self, member: str) -> bool:
        """Return whether no base is known, or could be known, to have a member."""
        return self._after.find_inherited(self._pair.new.name, member).presence is Presence.ABSENT

    def _describe_loss(self, definition: Definition, renamed: str | None) -> Iterator[ContractChange]:
        owner = self._pair.new.name
        old = Place(self._pair.old.outline, definition)
        name = definition.name.rpartition(".")[2]
        inherited = self._after.find_inherited(owner, name)
        is_doubtful = self._has_unknown_base()
        if inherited.presence is Presence.UNKNOWN:
            if is_doubtful:
                yield replace(make_row(ChangeKind.REMOVED, old), is_doubtful=True)
            return
        if inherited.presence is Presence.PRESENT:
            match = self._after.find_definition(inherited.name)
            if match:
                yield from self._compare_calls(old, Place(*match), self._pair.new, old.name)
            return
        if renamed:
            new = Place(self._pair.new.outline, self._new[renamed])
            yield make_row(ChangeKind.RENAMED, new, before=old, new_name=f"{owner}.{renamed}")
        elif name != "__init__":
            yield replace(make_row(ChangeKind.REMOVED, old), is_doubtful=is_doubtful)

    def _has_unknown_base(self) -> bool:
        """Return whether a base is new that can't be read, and that may have any member."""
        bases = set(self._pair.new.definition.bases) - set(self._pair.old.definition.bases)
        return any(not is_plain_base(base) and self._after.find_definition(base) is None for base in bases)

    def list_lost_with_bases(self) -> Iterator[ContractChange]:
        """Yield the members that a class had from a base that it lost."""
        pair = self._pair
        for base in sorted(set(pair.old.definition.bases) - set(pair.new.definition.bases)):
            match = self._before.find_definition(base)
            members = match[0].list_members(match[1].name) if match else {}
            for name, definition in members.items():
                if match and name not in self._new and self._is_lost(name) and not name.startswith("__"):
                    row = make_row(ChangeKind.REMOVED, Place(match[0], definition))
                    own, line = f"{pair.old.name}.{name}", pair.old.definition.line
                    yield replace(row, name=own, path=pair.old.outline.module, line=line)

    def _describe_addition(self, definition: Definition) -> Iterator[ContractChange]:
        if definition.kind not in _MEMBER_KINDS:
            return
        new = Place(self._pair.new.outline, definition)
        name = definition.name.rpartition(".")[2]
        inherited = self._before.find_inherited(self._pair.old.name, name)
        # a method sets what the class has from a base
        if definition.kind is DefinitionKind.ATTRIBUTE and inherited.presence is Presence.PRESENT:
            return
        kind = ChangeKind.ABSTRACT_MEMBER if definition.is_abstract else ChangeKind.ADDED_MEMBER
        yield make_row(kind, new)
        match = self._before.find_definition(inherited.name) if inherited.presence is Presence.PRESENT else None
        if match:
            yield from self._compare_calls(Place(*match), new, new, new.name)

    def _compare_calls(self, old: Place, new: Place, at: Place, name: str) -> Iterator[ContractChange]:
        """Compare two methods of which one takes the place of the other, unless one accepts everything."""
        first, second = old.definition.signature, new.definition.signature
        if not first or not second or accepts_all(first) or accepts_all(second) or is_same_call(first, second):
            return
        row = make_row(ChangeKind.SIGNATURE, new, before=old)
        yield replace(row, name=name, path=at.outline.module, line=at.definition.line)
