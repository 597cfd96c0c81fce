"""Rows about Python code, one contract change each, and what differs for those who call or override a function."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from impact.contract.models import ChangeKind, ContractChange, ContractClass
from impact.contract.python.snapshots import Place
from impact.python.code_reader import CUT_MARK, hash_code
from impact.python.models import Definition, DefinitionKind, Parameter, ParameterKind, Signature
from impact.python.signatures import POSITIONAL, get_way, is_same_annotation
from impact.python.syntax import parse_expression
from impact.source.models import DiffSide
from impact.text.strings import count_common

# characters of a signature that is shown whole
_MAX_WHOLE = 120
# characters of any line, and those that stay before a difference
_MAX_LINE = 240
_LEAD = 60
_MARKS = {ParameterKind.REST: "*", ParameterKind.KEYWORDS: "**"}
CLASSES = {
    DefinitionKind.FUNCTION: ContractClass.FUNCTION,
    DefinitionKind.CLASS: ContractClass.CLASS,
    DefinitionKind.METHOD: ContractClass.METHOD,
    DefinitionKind.FIELD: ContractClass.ATTRIBUTE,
    DefinitionKind.ATTRIBUTE: ContractClass.ATTRIBUTE,
    DefinitionKind.CONSTANT: ContractClass.CONSTANT,
}


def make_row(kind: ChangeKind, place: Place, *, before: Place | None = None, new_name: str = "") -> ContractChange:
    """Return a row about a definition at its place, which is the old one for what is removed.

    The row has the name from before the merge. Paths are filled in later, by the module.
    """
    named = before or place
    is_old = kind is ChangeKind.REMOVED
    signatures = (named.definition.signature, None if is_old else place.definition.signature)
    texts = _describe_both(named, place)
    return ContractChange(
        CLASSES[place.kind],
        kind,
        named.name,
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
    if old.kind is DefinitionKind.CLASS or new.kind is DefinitionKind.CLASS:
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
    changes = list(_list_default_changes(first, second))
    if changes:
        texts = [", ".join(_describe_parameter(pair[side]) for pair in changes) for side in (0, 1)]
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


def _describe_both(old: Place, new: Place) -> tuple[str, str]:
    """Return two definitions as one line each, which show what differs."""
    first, second, name = old.definition.signature, new.definition.signature, old.last_name
    if first and second and old is not new and (name == "__init__" or old.kind is not DefinitionKind.CLASS):
        return _describe_signatures(name, first, second)
    if DefinitionKind.CLASS in {old.kind, new.kind} or first or second:
        return describe_definition(old.definition), describe_definition(new.definition)
    return _describe_values(old.definition, new.definition)


# --- signatures, and how they are shown


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


def accepts_all(signature: Signature) -> bool:
    """Return whether a function takes any arguments, as ``def f(*args, **kwargs)`` does."""
    return {ParameterKind.REST, ParameterKind.KEYWORDS} <= {each.kind for each in signature.parameters}


def _list_default_changes(old: Signature, new: Signature) -> Iterator[tuple[Parameter, Parameter]]:
    """Yield the parameters that have another default, before and after."""
    before = {each.name: each for each in old.parameters}
    for each in new.parameters:
        previous = before.get(each.name)
        if not previous or previous.default is None or each.default is None:
            continue
        if not is_same_value(previous.default, each.default):
            yield previous, each


def is_same_value(first: str, second: str) -> bool:
    """Return whether two texts of expressions mean the same, however they are written."""
    if first == second:
        return True
    trees = parse_expression(first), parse_expression(second)
    if not trees[0] or not trees[1]:
        return "".join(first.split()) == "".join(second.split())
    return hash_code([trees[0]]) == hash_code([trees[1]])


def describe_definition(definition: Definition) -> str:
    name = definition.name.rpartition(".")[2]
    if definition.kind is DefinitionKind.CLASS:
        bases = ", ".join(base.rpartition(".")[2] for base in definition.bases)
        return f"class {name}({bases})" if bases else f"class {name}"
    if definition.signature:
        return _cut(_join_signature(name, definition.signature, list(_list_texts(definition.signature))))
    return _cut(_join_value(definition))


def _describe_signatures(name: str, old: Signature, new: Signature) -> tuple[str, str]:
    """Return two signatures as one line of source each. In long ones, what both have becomes ``…``."""
    texts = list(_list_texts(old)), list(_list_texts(new))
    lines = [_join_signature(name, each, own) for each, own in zip((old, new), texts, strict=True)]
    if max(map(len, lines)) > _MAX_WHOLE:
        parts = _omit_common(texts[0], set(texts[1])), _omit_common(texts[1], set(texts[0]))
        lines = [_join_signature(name, each, own) for each, own in zip((old, new), parts, strict=True)]
    return _cut(lines[0]), _cut(lines[1])


def _join_signature(name: str, signature: Signature, parameters: Sequence[str]) -> str:
    returns = f" -> {signature.returns}" if signature.returns else ""
    start = "async def" if signature.is_async else "def"
    return f"{start} {name}({', '.join(parameters)}){returns}"


def _omit_common(texts: Sequence[str], common: Collection[str]) -> list[str]:
    marked = ["…" if text in common else text for text in texts]
    return [text for index, text in enumerate(marked) if text != "…" or marked[index - 1 : index] != ["…"]]


def _describe_values(old: Definition, new: Definition) -> tuple[str, str]:
    """Return two constants or fields as one line of source each, which show the first difference."""
    lines = _join_value(old), _join_value(new)
    start = count_common(*lines) - _LEAD
    if start > 0 and max(map(len, lines)) > _MAX_LINE:
        lines = f"…{lines[0][start:]}", f"…{lines[1][start:]}"
    return _cut(lines[0]), _cut(lines[1])


def _join_value(definition: Definition) -> str:
    name = definition.name.rpartition(".")[2]
    prefix = "self." if definition.kind is DefinitionKind.ATTRIBUTE else ""
    annotation = f": {definition.annotation}" if definition.annotation else ""
    value = f" = {definition.value}" if definition.value else ""
    return f"{prefix}{name}{annotation}{value}"


def _describe_parameter(parameter: Parameter) -> str:
    annotation = f": {parameter.annotation}" if parameter.annotation else ""
    equals = " = " if annotation else "="
    default = "" if parameter.default is None else f"{equals}{parameter.default}"
    return f"{_MARKS.get(parameter.kind, '')}{parameter.name}{annotation}{default}"


def _list_texts(signature: Signature) -> Iterator[str]:
    has_star = False
    for index, each in enumerate(signature.parameters):
        if each.kind is ParameterKind.KEYWORD_ONLY and not has_star:
            yield "*"
        has_star = has_star or each.kind in {ParameterKind.REST, ParameterKind.KEYWORD_ONLY}
        yield _describe_parameter(each)
        following = [other.kind for other in signature.parameters[index + 1 : index + 2]]
        if each.kind is ParameterKind.POSITIONAL_ONLY and following != [each.kind]:
            yield "/"


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_LINE else f"{text[:_MAX_LINE]}…"
