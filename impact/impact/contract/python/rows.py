"""Rows about Python code: one contract change each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from impact.contract.models import ChangeKind, ContractChange, ContractClass
from impact.contract.python.moves import Place
from impact.contract.python.signatures import (
    describe_definition,
    describe_parameter,
    describe_signatures,
    describe_values,
    is_same_call,
    is_same_value,
    list_default_changes,
)
from impact.python.annotations import is_same_annotation
from impact.python.binding import get_way
from impact.python.expressions import CUT_MARK
from impact.python.models import DefinitionKind, Signature
from impact.source.models import DiffSide

_CLASSES = {
    DefinitionKind.FUNCTION: ContractClass.FUNCTION,
    DefinitionKind.CLASS: ContractClass.CLASS,
    DefinitionKind.METHOD: ContractClass.METHOD,
    DefinitionKind.FIELD: ContractClass.ATTRIBUTE,
    DefinitionKind.ATTRIBUTE: ContractClass.ATTRIBUTE,
    DefinitionKind.CONSTANT: ContractClass.CONSTANT,
}


def make_row(
    kind: ChangeKind,
    place: Place,
    *,
    before: Place | None = None,
    subject: ContractClass | None = None,
    member: str = "",
    new_name: str = "",
) -> ContractChange:
    """Return a row about a definition at its place, which is the old one for what is removed.

    The row has the name from before the merge. Paths are filled in later, by the module.
    """
    named = before or place
    is_old = kind is ChangeKind.REMOVED
    signatures = (named.definition.signature, None if is_old else place.definition.signature)
    texts = _describe_both(named, place, member or named.definition.name.rpartition(".")[2])
    return ContractChange(
        subject or _CLASSES[place.definition.kind],
        kind,
        f"{named.name}.{member}" if member else named.name,
        before=texts[0] if before or is_old else "",
        after="" if is_old else texts[1],
        path=place.outline.module,
        line=place.definition.line,
        side=DiffSide.OLD if is_old else DiffSide.NEW,
        new_name=new_name,
        old_signature=signatures[0] if before or is_old else None,
        new_signature=signatures[1],
    )


def compare_definitions(old: Place, new: Place) -> Iterator[ContractChange]:
    """Yield how a function, method, field or constant differs under its name: all but that it is there."""
    first, second = old.definition.signature, new.definition.signature
    if old.definition.kind is DefinitionKind.CLASS or new.definition.kind is DefinitionKind.CLASS:
        return
    if first and second:
        if get_way(first) != get_way(second):
            first, second = _add_handed_on(old, first), _add_handed_on(new, second)
        yield from _compare_functions(old, new, first, second)
    elif not first and not second and DefinitionKind.ATTRIBUTE not in {old.definition.kind, new.definition.kind}:
        values = old.definition.value, new.definition.value
        # a part of what an expression gives has no known value
        known = [each.definition.value or each.definition.annotation for each in (old, new)]
        # a long table, such as a registry, has no value that a reader could compare
        if any(values) and all(known) and CUT_MARK not in "".join(values) and not is_same_value(*values):
            yield make_row(ChangeKind.DEFAULT, new, before=old)


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
        row = make_row(ChangeKind.SIGNATURE, new, before=old)
        yield replace(row, old_signature=first, new_signature=second)
    elif required := _require_needed(first, second):
        place = Place(new.outline, replace(new.definition, signature=required))
        yield make_row(ChangeKind.SIGNATURE, place, before=old)
    changes = list(list_default_changes(first, second))
    if changes:
        texts = [", ".join(describe_parameter(pair[side]) for pair in changes) for side in (0, 1)]
        yield replace(make_row(ChangeKind.DEFAULT, new, before=old), before=texts[0], after=texts[1])
    returns = [each.definition.signature.returns if each.definition.signature else "" for each in (old, new)]
    if all(returns) and not is_same_annotation(*returns):
        yield make_row(ChangeKind.RETURN, new, before=old)
    elif first.results and all(first.results) and any(set(second.results) - {*first.results, 0}):
        counts = (" or ".join(map(str, each.results)) for each in (first, second))
        before, after = (f"returns {count} values" for count in counts)
        yield replace(make_row(ChangeKind.RETURN, new, before=old), before=before, after=after)
    if is_same and old.definition.body != new.definition.body:
        yield make_row(ChangeKind.BEHAVIOUR, new, before=old)


def _require_needed(old: Signature, new: Signature) -> Signature | None:
    """Return a signature without the defaults that its function refuses and did not refuse before; else None."""
    needed = set(new.needed) - set(old.needed)
    parameters = tuple(
        replace(each, default=None) if each.name in needed and each.default == "None" else each
        for each in new.parameters
    )
    return replace(new, parameters=parameters) if parameters != new.parameters else None


def _describe_both(old: Place, new: Place, name: str) -> tuple[str, str]:
    """Return two definitions as one line each, which show what differs."""
    first, second = old.definition.signature, new.definition.signature
    is_constructor = name == "__init__"
    if first and second and old is not new and (is_constructor or old.definition.kind is not DefinitionKind.CLASS):
        return describe_signatures(name, first, second)
    if DefinitionKind.CLASS in {old.definition.kind, new.definition.kind} or first or second:
        return describe_definition(old.definition), describe_definition(new.definition)
    return describe_values(old.definition, new.definition)
