"""What differs between a class before and after: its members, their signatures and values."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from impact.contract.models import ChangeKind, ContractChange, ContractClass
from impact.contract.python.matching import Pair, compare_names, compare_shapes, pair_best, score_rename
from impact.contract.python.rows import (
    accepts_all,
    compare_definitions,
    describe_definition,
    is_same_call,
    make_row,
)
from impact.contract.python.snapshots import Lookup, Place, Presence, Snapshot, is_plain_base
from impact.python.data_classes import DECORATORS
from impact.python.models import Definition, DefinitionKind, Parameter, ParameterKind, Signature
from impact.python.syntax import parse_expression

_MEMBER_KINDS = frozenset({DefinitionKind.METHOD, DefinitionKind.FIELD, DefinitionKind.ATTRIBUTE})
_VALUES = frozenset({DefinitionKind.FIELD, DefinitionKind.ATTRIBUTE})
_CONSTRUCTOR = "__init__"
_ANYTHING = (Parameter("args", ParameterKind.REST), Parameter("kwargs", ParameterKind.KEYWORDS))
_MIN_BODY_LINES = 3
_MAX_COMPARED = 40
_NAME_WEIGHT = 0.5


class ClassComparison:
    """A class before and after a merge."""

    def __init__(self, pair: Pair, before: Snapshot, after: Snapshot) -> None:
        self._pair, self._before, self._after = pair, before, after
        self._old, self._new = pair.old.members, pair.new.members

    def list_changes(self) -> Iterator[ContractChange]:
        yield from self._compare_constructors()
        gone = {name: each for name, each in self._old.items() if name not in self._new}
        fresh = {name: each for name, each in self._new.items() if name not in self._old}
        # what a base still has is not renamed, whatever else is new
        lost = {name: each for name, each in gone.items() if self._is_lost(each)}
        renamed = pair_best(
            (self._score_rename(lost[old], fresh[new]), old, new)
            for old in list(lost)[:_MAX_COMPARED]
            for new in list(fresh)[:_MAX_COMPARED]
        )
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
        if old.kind is not new.kind and DefinitionKind.METHOD in {old.kind, new.kind}:
            yield from _compare_values(first, second)
        yield from compare_definitions(first, second)
        if new.is_abstract and not old.is_abstract:
            yield make_row(ChangeKind.ABSTRACT_MEMBER, second, before=first)

    def _compare_constructors(self) -> Iterator[ContractChange]:
        """Compare what makes an object, where the fields of a data class do."""
        old, new = self._pair.old, self._pair.new
        has_own = [_CONSTRUCTOR in members for members in (self._old, self._new)]
        is_same_way = has_own[0] == has_own[1] and old.definition.is_data == new.definition.is_data
        makers = [(each.definition.bases, each.definition.decorators) for each in (old, new)]
        is_same_way = is_same_way and makers[0] == makers[1]
        is_shaped = [_list_unknown_makers(each.definition) for each in (old, new)]
        if all(has_own) or (is_same_way and not old.definition.is_data) or is_shaped[0] != is_shaped[1]:
            # the row of the member or of a base says it, or what makes objects is not known
            return
        first, second = self._before.find_constructor(old.name), self._after.find_constructor(new.name)
        own = old.definition.signature, new.definition.signature
        if is_same_way and own[0] and own[1] and is_same_call(own[0], own[1]) and _is_by_name(first, second):
            # each field goes by its name, so that the row of the base says it
            return
        if not first or not second or accepts_all(first[0]) or accepts_all(second[0]):
            return
        if not is_same_call(first[0], second[0]):
            yield make_row(
                ChangeKind.SIGNATURE, _place_constructor(new, *second), before=_place_constructor(old, *first)
            )

    def _score_rename(self, old: Definition, new: Definition) -> float:
        first, second = Place(self._pair.old.outline, old), Place(self._pair.new.outline, new)
        is_alike = old.kind is new.kind or {old.kind, new.kind} <= _VALUES
        if not is_alike or first.last_name.startswith("__") or second.last_name.startswith("__"):
            return 0.0
        name = compare_names(first.last_name, second.last_name)
        is_telling = name > 0 or (old.kind is DefinitionKind.METHOD and first.length >= _MIN_BODY_LINES)
        return score_rename(name, compare_shapes(first, second), _NAME_WEIGHT, is_telling=is_telling)

    def _is_lost(self, definition: Definition) -> bool:
        """Return whether no base is known, or could be known, to have a member."""
        return self._find_after(definition).presence is Presence.ABSENT

    def _find_after(self, definition: Definition) -> Lookup:
        is_method, last = definition.kind is DefinitionKind.METHOD, definition.name.rpartition(".")[2]
        return self._after.find_inherited(self._pair.new.name, last, is_method=is_method)

    def _describe_loss(self, definition: Definition, renamed: str | None) -> Iterator[ContractChange]:
        owner = self._pair.new.name
        old = Place(self._pair.old.outline, definition)
        name = definition.name.rpartition(".")[2]
        inherited = self._find_after(definition)
        is_doubtful = self._has_unknown_base()
        if inherited.presence is Presence.UNKNOWN or name == _CONSTRUCTOR:
            if is_doubtful and name != _CONSTRUCTOR:
                yield replace(make_row(ChangeKind.REMOVED, old), is_doubtful=True)
            return
        if inherited.presence is Presence.PRESENT:
            if place := self._after.find_definition(inherited.name):
                yield from self._compare_calls(old, place, self._pair.new, old.name)
            return
        if renamed:
            new = Place(self._pair.new.outline, self._new[renamed])
            yield make_row(ChangeKind.RENAMED, new, before=old, new_name=f"{owner}.{renamed}")
        else:
            yield replace(make_row(ChangeKind.REMOVED, old), is_doubtful=is_doubtful)

    def _has_unknown_base(self) -> bool:
        """Return whether a base is new that can't be read, and that may have any member."""
        bases = set(self._pair.new.definition.bases) - set(self._pair.old.definition.bases)
        return any(not is_plain_base(base) and self._after.find_definition(base) is None for base in bases)

    def list_lost_with_bases(self) -> Iterator[ContractChange]:
        """Yield the members that a class had from a base that it lost."""
        pair = self._pair
        for base in sorted(set(pair.old.definition.bases) - set(pair.new.definition.bases)):
            place = self._before.find_definition(base)
            for name, definition in place.members.items() if place else ():
                if place and name not in self._new and self._is_lost(definition) and not name.startswith("__"):
                    row = make_row(ChangeKind.REMOVED, Place(place.outline, definition))
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
        place = self._before.find_definition(inherited.name) if inherited.presence is Presence.PRESENT else None
        if place and name != _CONSTRUCTOR:
            yield from self._compare_calls(place, new, new, new.name)

    def _compare_calls(self, old: Place, new: Place, at: Place, name: str) -> Iterator[ContractChange]:
        """Compare two methods of which one takes the place of the other, unless one accepts everything."""
        first, second = old.definition.signature, new.definition.signature
        if not first or not second or accepts_all(first) or accepts_all(second) or is_same_call(first, second):
            return
        row = make_row(ChangeKind.SIGNATURE, new, before=old)
        yield replace(row, name=name, path=at.outline.module, line=at.definition.line)


def _compare_values(old: Place, new: Place) -> Iterator[ContractChange]:
    """Compare a member that is a method on one side and a plain value on the other."""
    sides = [place.definition.signature or _read_value(place.definition) for place in (old, new)]
    if sides[0] and sides[1] and not is_same_call(sides[0], sides[1]):
        row = make_row(ChangeKind.SIGNATURE, new, before=old)
        yield replace(row, subject=ContractClass.METHOD, old_signature=sides[0], new_signature=sides[1])


def _read_value(definition: Definition) -> Signature | None:
    """Return a value as a property; None if it may be something that is called."""
    is_plain = is_literal(definition.value) or "Callable" not in (definition.annotation or "Callable")
    return Signature((Parameter("self"),), is_property=True, is_settable=True) if is_plain else None


def compare_kinds(pair: Pair, before: Snapshot, after: Snapshot) -> Iterator[ContractChange]:
    """Yield how a name is used otherwise that stands for something of another kind: a function, class or value."""
    old, new = pair.old.definition, pair.new.definition
    first, second = _read_callable(pair.old, before), _read_callable(pair.new, after)
    # what an expression gives that nobody runs may be called in the same way
    unknown = [side for side, each in ((first, old), (second, new)) if side is None and not is_literal(each.value)]
    if unknown or (first is None and second is None) or (first and second and is_same_call(first, second)):
        return
    row = make_row(ChangeKind.SIGNATURE, pair.new, before=pair.old)
    texts = describe_definition(old), describe_definition(new)
    yield replace(row, before=texts[0], after=texts[1], old_signature=first, new_signature=second)


def _read_callable(place: Place, side: Snapshot) -> Signature | None:
    """Return how something is called; None for what can't be called, as far as it is known."""
    if place.definition.kind is not DefinitionKind.CLASS:
        return place.definition.signature
    made = side.find_constructor(place.name)
    parameters = made[0].parameters[1:] if made else _ANYTHING
    return Signature(parameters, is_class=True)


def is_literal(text: str) -> bool:
    tree = parse_expression(text)
    return isinstance(tree, ast.Constant | ast.List | ast.Dict | ast.Set | ast.Tuple | ast.JoinedStr)


def _is_by_name(*sides: tuple[Signature, int] | None) -> bool:
    kinds = {each.kind for side in sides if side for each in side[0].parameters[1:]}
    return kinds <= {ParameterKind.KEYWORD_ONLY}


def _list_unknown_makers(definition: Definition) -> set[str]:
    """Return the decorators of a class, and its metaclass, that may make objects in a way of their own."""
    return {each for each in definition.decorators if each.rpartition(".")[2] not in DECORATORS}


def _place_constructor(place: Place, signature: Signature, line: int) -> Place:
    name = f"{place.definition.name}.{_CONSTRUCTOR}"
    made = replace(place.definition, name=name, kind=DefinitionKind.METHOD, signature=signature, line=line)
    return Place(place.outline, made)
