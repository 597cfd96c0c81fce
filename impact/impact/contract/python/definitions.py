"""What differs in a definition before and after, one contract change each: for callers, subclasses and readers."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import replace

from impact.contract.models import ChangeKind, ContractChange, ContractClass
from impact.contract.python.snapshots import (
    Place,
    Snapshot,
    compare_names,
    compare_shapes,
    is_plain_base,
    is_same_value,
    pair_best,
    score_rename,
)
from impact.python.code_reader import CUT_MARK
from impact.python.data_classes import DECORATORS
from impact.python.models import Definition, DefinitionKind, Parameter, ParameterKind, Signature
from impact.python.signatures import POSITIONAL, get_way, is_same_annotation
from impact.python.syntax import parse_expression
from impact.source.models import DiffSide
from impact.text.strings import count_common

# characters of a signature that is shown whole, of any line, and of those before a difference
_MAX_WHOLE, _MAX_LINE, _LEAD = 120, 240, 60
_MARKS = {ParameterKind.REST: "*", ParameterKind.KEYWORDS: "**"}
CLASSES = {
    DefinitionKind.FUNCTION: ContractClass.FUNCTION,
    DefinitionKind.CLASS: ContractClass.CLASS,
    DefinitionKind.METHOD: ContractClass.METHOD,
    DefinitionKind.FIELD: ContractClass.ATTRIBUTE,
    DefinitionKind.ATTRIBUTE: ContractClass.ATTRIBUTE,
    DefinitionKind.CONSTANT: ContractClass.CONSTANT,
}


def make_row(kind: ChangeKind, old: Place | None, new: Place | None) -> ContractChange:
    """Return a row about a definition by its places before and after, of which one is there at least.

    The row has the name from before the merge. Paths are filled in later, by the module.
    """
    places = [each for each in (old, new) if each]
    first, last = places[0], places[-1]
    before, after = _describe_both(first, last)
    return ContractChange(
        CLASSES[last.kind],
        kind,
        first.name,
        before if old else "",
        after if new else "",
        last.module,
        last.definition.line,
        DiffSide.NEW if new else DiffSide.OLD,
        old_signature=old.signature if old else None,
        new_signature=new.signature if new else None,
    )


# --- functions and values under their names


def compare_definitions(old: Place, new: Place) -> Iterator[ContractChange]:
    """Yield how a function, method, field or constant differs under its name: all but that it is there."""
    first, second = old.signature, new.signature
    if old.is_class or new.is_class:
        return
    if first and second:
        if get_way(first) != get_way(second):
            first, second = _add_handed_on(old, first), _add_handed_on(new, second)
        yield from _compare_functions(old, new, first, second)
    elif not first and not second and DefinitionKind.ATTRIBUTE not in {old.kind, new.kind}:
        values = old.definition.value, new.definition.value
        # a part of what an expression gives has no known value
        known = [each.definition.value or each.definition.annotation for each in (old, new)]
        # a long table, such as a registry, has no value that a reader could compare
        if any(values) and all(known) and CUT_MARK not in "".join(values) and not is_same_value(*values):
            yield make_row(ChangeKind.DEFAULT, old, new)


def _add_handed_on(place: Place, signature: Signature) -> Signature:
    """Return a signature with what it says of its result: a plain function may hand on what an async one gives."""
    name, outline = place.definition.name, place.outline
    calls = [each.name for each in outline.calls if each.scope == name]
    is_run = any(each.rpartition(".")[2] in {"run", "run_until_complete"} for each in calls)
    if get_way(signature) or signature.returns or is_run:
        return signature
    owner = f"{name.rpartition('.')[0]}."
    targets = (outline.definitions.get(each.replace("self.", owner, 1)) for each in calls)
    is_async = any(each and each.signature and each.signature.is_async for each in targets)
    return replace(signature, returns="Awaitable") if is_async else signature


def _compare_functions(old: Place, new: Place, first: Signature, second: Signature) -> Iterator[ContractChange]:
    is_same = is_same_call(first, second)
    if not is_same:
        row = make_row(ChangeKind.SIGNATURE, old, new)
        yield replace(row, old_signature=first, new_signature=second)
    elif required := _require_needed(first, second):
        place = Place(new.outline, replace(new.definition, signature=required))
        yield make_row(ChangeKind.SIGNATURE, old, place)
    defaults = {each.name: each for each in first.parameters}
    pairs = [(defaults[each.name], each) for each in second.parameters if each.name in defaults]
    changes = [
        (before, after)
        for before, after in pairs
        if before.default is not None
        and after.default is not None
        and not is_same_value(before.default, after.default)
    ]
    if changes:
        texts = [", ".join(map(_show_parameter, side)) for side in zip(*changes, strict=True)]
        yield replace(make_row(ChangeKind.DEFAULT, old, new), before=texts[0], after=texts[1])
    returns = [each.signature.returns if each.signature else "" for each in (old, new)]
    if all(returns) and not is_same_annotation(*returns):
        yield make_row(ChangeKind.RETURN, old, new)
    elif first.results and all(first.results) and any(set(second.results) - {*first.results, 0}):
        counts = [f"returns {' or '.join(map(str, each.results))} values" for each in (first, second)]
        yield replace(make_row(ChangeKind.RETURN, old, new), before=counts[0], after=counts[1])
    if is_same and old.definition.body != new.definition.body:
        yield make_row(ChangeKind.BEHAVIOUR, old, new)


def _require_needed(old: Signature, new: Signature) -> Signature | None:
    """Return a signature without the defaults that its function refuses and did not refuse before; else None."""
    needed = set(new.needed) - set(old.needed)
    parameters = tuple(
        replace(each, default=None) if each.name in needed and each.default == "None" else each
        for each in new.parameters
    )
    return replace(new, parameters=parameters) if parameters != new.parameters else None


def is_same_call(old: Signature, new: Signature) -> bool:
    """Return whether both are called in the same way: parameters, their order, kinds and which are required."""
    return _describe_call(old) == _describe_call(new)


def _describe_call(signature: Signature) -> tuple[object, ...]:
    slots = [(each.name, each.kind, each.default is None) for each in signature.parameters]
    flags = signature.is_async, signature.is_static, signature.is_class_method, signature.is_class
    # a property that can be set takes what others take
    way = signature.is_property and not signature.is_settable, get_way(signature)
    in_order = [slot for slot in slots if slot[1] in POSITIONAL]
    return in_order, {slot for slot in slots if slot[1] not in POSITIONAL}, flags, way


def _is_called_otherwise(old: Signature, new: Signature) -> bool:
    """Return whether two are called in different ways, and none takes all, as ``def f(*args, **kwargs)`` does."""
    everything = {ParameterKind.REST, ParameterKind.KEYWORDS}
    takes_all = any(everything <= {each.kind for each in side.parameters} for side in (old, new))
    return not takes_all and not is_same_call(old, new)


# --- what stands for something of another kind

_PROPERTY = Signature((Parameter("self"),), is_property=True, is_settable=True)
_ANYTHING = (Parameter("args", ParameterKind.REST), Parameter("kwargs", ParameterKind.KEYWORDS))


def compare_kinds(old: Place, new: Place, before: Snapshot, after: Snapshot) -> Iterator[ContractChange]:
    """Yield how a name is used otherwise that stands for something of another kind: a function, class or value."""
    first, second = _read_callable(old, before), _read_callable(new, after)
    # what an expression gives that nobody runs may be called in the same way
    sides = ((first, old), (second, new))
    is_unknown = any(made is None and not _is_literal(each.definition.value) for made, each in sides)
    if is_unknown or (first is None and second is None) or (first and second and is_same_call(first, second)):
        return
    row = make_row(ChangeKind.SIGNATURE, old, new)
    texts = describe_definition(old.definition), describe_definition(new.definition)
    yield replace(row, before=texts[0], after=texts[1], old_signature=first, new_signature=second)


def _read_callable(place: Place, side: Snapshot) -> Signature | None:
    """Return how something is called; None for what can't be called, as far as it is known."""
    if not place.is_class:
        return place.signature
    made = side.find_constructor(place.name)
    return Signature(made[0].parameters[1:] if made else _ANYTHING, is_class=True)


def _compare_values(old: Place, new: Place) -> Iterator[ContractChange]:
    """Compare a member that is a method on one side and a plain value on the other."""
    sides: list[Signature | None] = []
    for each in (old, new):
        value, annotation = each.definition.value, each.definition.annotation
        # it may be something that is called
        is_plain = _is_literal(value) or (bool(annotation) and "Callable" not in annotation)
        sides.append(each.signature or (_PROPERTY if is_plain else None))
    first, second = sides
    if first and second and not is_same_call(first, second):
        row = make_row(ChangeKind.SIGNATURE, old, new)
        yield replace(row, subject=ContractClass.METHOD, old_signature=first, new_signature=second)


def _is_literal(text: str) -> bool:
    tree = parse_expression(text)
    return isinstance(tree, ast.Constant | ast.List | ast.Dict | ast.Set | ast.Tuple | ast.JoinedStr)


# --- classes: their members, with their signatures and values

_MEMBER_KINDS = frozenset({DefinitionKind.METHOD, DefinitionKind.FIELD, DefinitionKind.ATTRIBUTE})
_VALUES = frozenset({DefinitionKind.FIELD, DefinitionKind.ATTRIBUTE})
_CONSTRUCTOR = "__init__"
_MIN_BODY_LINES = 3
_MAX_COMPARED = 40
_NAME_WEIGHT = 0.5


class ClassComparison:
    """A class before and after a merge."""

    def __init__(self, old: Place, new: Place, before: Snapshot, after: Snapshot) -> None:
        self._class, self._new_class, self._before, self._after = old, new, before, after
        self._old, self._new = old.list_members(), new.list_members()

    def list_changes(self) -> Iterator[ContractChange]:
        yield from self._compare_constructors()
        gone = {name: self._find_after(old) for name, old in self._old.items() if name not in self._new}
        fresh = [name for name in self._new if name not in self._old]
        # what a base still has is not renamed, whatever else is new
        lost = [name for name, inherited in gone.items() if inherited == ""]
        renamed = pair_best(
            (_score_rename(self._old[old], self._new[new]), old, new)
            for old in lost[:_MAX_COMPARED]
            for new in fresh[:_MAX_COMPARED]
        )
        for name, inherited in gone.items():
            if name != _CONSTRUCTOR:
                yield from self._describe_loss(self._old[name], inherited, renamed.get(name))
        for name in fresh:
            if name not in renamed.values():
                yield from self._describe_addition(self._new[name])
        for name, old in self._old.items():
            if name in self._new:
                yield from self._compare_member(old, self._new[name])

    def list_lost_with_bases(self) -> Iterator[ContractChange]:
        """Yield the members that a class had from a base that it lost."""
        old = self._class.definition
        for base in sorted(set(old.bases) - set(self._new_class.definition.bases)):
            place = self._before.find_definition(base)
            for name, member in place.list_members().items() if place else ():
                is_own = name in self._new or name.startswith("__")
                if not is_own and self._find_after(member) == "":
                    row = make_row(ChangeKind.REMOVED, member, None)
                    own = f"{self._class.name}.{name}"
                    yield replace(row, name=own, path=self._class.module, line=old.line)

    def _find_after(self, member: Place) -> str | None:
        """Return where a member leads that the class has from a base after the merge."""
        is_method = member.kind is DefinitionKind.METHOD
        return self._after.find_inherited(self._new_class.name, member.last_name, is_method=is_method)

    def _compare_constructors(self) -> Iterator[ContractChange]:
        """Compare what makes an object, where the fields of a data class do."""
        old, new = self._class.definition, self._new_class.definition
        has_own = [_CONSTRUCTOR in members for members in (self._old, self._new)]
        makers = [(each.is_data, each.bases, each.decorators) for each in (old, new)]
        is_same_way = has_own[0] == has_own[1] and makers[0] == makers[1]
        # decorators, and a metaclass, that may make objects in a way of their own
        unknown = [{each for each in names if each.rpartition(".")[2] not in DECORATORS} for *_, names in makers]
        if all(has_own) or (is_same_way and not old.is_data) or unknown[0] != unknown[1]:
            # the row of the member or of a base says it, or what makes objects is not known
            return
        first = self._before.find_constructor(self._class.name)
        second = self._after.find_constructor(self._new_class.name)
        parameters = [each for made in (first, second) if made for each in made[0].parameters[1:]]
        is_by_name = all(each.kind is ParameterKind.KEYWORD_ONLY for each in parameters)
        is_same = old.signature and new.signature and is_same_call(old.signature, new.signature)
        if is_same_way and is_same and is_by_name:
            # each field goes by its name, so that the row of the base says it
            return
        if first and second and _is_called_otherwise(first[0], second[0]):
            places = _place_constructor(self._class, *first), _place_constructor(self._new_class, *second)
            yield make_row(ChangeKind.SIGNATURE, *places)

    def _describe_loss(self, old: Place, inherited: str | None, renamed: str | None) -> Iterator[ContractChange]:
        bases = set(self._new_class.definition.bases) - set(self._class.definition.bases)
        # a base is new that can't be read, and that may have any member
        is_doubtful = any(not is_plain_base(base) and not self._after.find_definition(base) for base in bases)
        if inherited:
            if place := self._after.find_definition(inherited):
                yield from _compare_calls(old, place, self._new_class, old.name)
        elif renamed:
            row = make_row(ChangeKind.RENAMED, old, self._new[renamed])
            yield replace(row, new_name=f"{self._new_class.name}.{renamed}")
        elif inherited == "" or is_doubtful:
            yield replace(make_row(ChangeKind.REMOVED, old, None), is_doubtful=is_doubtful)

    def _describe_addition(self, new: Place) -> Iterator[ContractChange]:
        if new.kind not in _MEMBER_KINDS:
            return
        inherited = self._before.find_inherited(self._class.name, new.last_name)
        # a method sets what the class has from a base
        if new.kind is DefinitionKind.ATTRIBUTE and inherited:
            return
        kind = ChangeKind.ABSTRACT_MEMBER if new.definition.is_abstract else ChangeKind.ADDED_MEMBER
        yield make_row(kind, None, new)
        place = self._before.find_definition(inherited) if inherited else None
        if place and new.last_name != _CONSTRUCTOR:
            yield from _compare_calls(place, new, new, new.name)

    def _compare_member(self, old: Place, new: Place) -> Iterator[ContractChange]:
        if old.is_class and new.is_class:
            yield from ClassComparison(old, new, self._before, self._after).list_changes()
            return
        if old.kind is not new.kind and DefinitionKind.METHOD in {old.kind, new.kind}:
            yield from _compare_values(old, new)
        yield from compare_definitions(old, new)
        if new.definition.is_abstract and not old.definition.is_abstract:
            yield make_row(ChangeKind.ABSTRACT_MEMBER, old, new)


def _score_rename(old: Place, new: Place) -> float:
    is_alike = old.kind is new.kind or {old.kind, new.kind} <= _VALUES
    if not is_alike or old.last_name.startswith("__") or new.last_name.startswith("__"):
        return 0.0
    name = compare_names(old.last_name, new.last_name)
    is_telling = name > 0 or (old.kind is DefinitionKind.METHOD and old.length >= _MIN_BODY_LINES)
    return score_rename(name, compare_shapes(old, new), _NAME_WEIGHT, is_telling=is_telling)


def _compare_calls(old: Place, new: Place, at: Place, name: str) -> Iterator[ContractChange]:
    """Compare two methods of which one takes the place of the other, unless one accepts everything."""
    first, second = old.signature, new.signature
    if first and second and _is_called_otherwise(first, second):
        row = make_row(ChangeKind.SIGNATURE, old, new)
        yield replace(row, name=name, path=at.module, line=at.definition.line)


def _place_constructor(place: Place, signature: Signature, line: int) -> Place:
    name = f"{place.definition.name}.{_CONSTRUCTOR}"
    made = replace(place.definition, name=name, kind=DefinitionKind.METHOD, signature=signature, line=line)
    return Place(place.outline, made)


# --- how definitions are shown, as one line of source each


def _describe_both(old: Place, new: Place) -> tuple[str, str]:
    """Return two definitions as lines that show what differs. In long signatures, what both have becomes ``…``."""
    first, second, name = old.signature, new.signature, old.last_name
    if first and second and old is not new and not old.is_class:
        lines = [_show_signature(name, each) for each in (first, second)]
        if max(map(len, lines)) > _MAX_WHOLE:
            pairs = (first, second), (second, first)
            lines = [_show_signature(name, own, {*_list_texts(other)}) for own, other in pairs]
    elif first or second or old.is_class or new.is_class:
        return describe_definition(old.definition), describe_definition(new.definition)
    else:
        lines = [_show_value(each.definition) for each in (old, new)]
        start = count_common(*lines) - _LEAD
        if start > 0 and max(map(len, lines)) > _MAX_LINE:
            lines = [f"…{line[start:]}" for line in lines]
    return _cut(lines[0]), _cut(lines[1])


def describe_definition(definition: Definition) -> str:
    name = definition.name.rpartition(".")[2]
    if definition.kind is DefinitionKind.CLASS:
        bases = ", ".join(base.rpartition(".")[2] for base in definition.bases)
        return f"class {name}({bases})" if bases else f"class {name}"
    signature = definition.signature
    return _cut(_show_signature(name, signature) if signature else _show_value(definition))


def _show_signature(name: str, signature: Signature, common: Collection[str] = ()) -> str:
    marked = ["…" if text in common else text for text in _list_texts(signature)]
    texts = [text for index, text in enumerate(marked) if text != "…" or marked[index - 1 : index] != ["…"]]
    returns = f" -> {signature.returns}" if signature.returns else ""
    return f"{'async def' if signature.is_async else 'def'} {name}({', '.join(texts)}){returns}"


def _list_texts(signature: Signature) -> Iterator[str]:
    has_star = False
    for index, each in enumerate(signature.parameters):
        if each.kind is ParameterKind.KEYWORD_ONLY and not has_star:
            yield "*"
        has_star = has_star or each.kind in {ParameterKind.REST, ParameterKind.KEYWORD_ONLY}
        yield _show_parameter(each)
        following = [other.kind for other in signature.parameters[index + 1 : index + 2]]
        if each.kind is ParameterKind.POSITIONAL_ONLY and following != [each.kind]:
            yield "/"


def _show_parameter(parameter: Parameter) -> str:
    annotation = f": {parameter.annotation}" if parameter.annotation else ""
    equals = " = " if annotation else "="
    default = "" if parameter.default is None else f"{equals}{parameter.default}"
    return f"{_MARKS.get(parameter.kind, '')}{parameter.name}{annotation}{default}"


def _show_value(definition: Definition) -> str:
    name = definition.name.rpartition(".")[2]
    prefix = "self." if definition.kind is DefinitionKind.ATTRIBUTE else ""
    annotation = f": {definition.annotation}" if definition.annotation else ""
    return f"{prefix}{name}{annotation}{f' = {definition.value}' if definition.value else ''}"


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_LINE else f"{text[:_MAX_LINE]}…"
