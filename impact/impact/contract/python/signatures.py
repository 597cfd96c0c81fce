"""What differs between two signatures for those who call or override a function."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from impact.python.binding import get_way
from impact.python.fingerprint import hash_code
from impact.python.models import Definition, DefinitionKind, Parameter, ParameterKind, Signature
from impact.python.parsing import parse_expression
from impact.text.strings import count_common

# characters of a signature that is shown whole
_MAX_WHOLE = 120
# characters of any line, and those that stay before a difference
_MAX_LINE = 240
_LEAD = 60
_MARKS = {ParameterKind.REST: "*", ParameterKind.KEYWORDS: "**"}
_POSITIONAL = frozenset({ParameterKind.POSITIONAL_ONLY, ParameterKind.POSITIONAL})


def is_same_call(old: Signature, new: Signature) -> bool:
    """Return whether both are called in the same way: parameters, their order, kinds and which are required."""
    return _list_slots(old) == _list_slots(new) and _get_flags(old) == _get_flags(new)


def accepts_all(signature: Signature) -> bool:
    """Return whether a function takes any arguments, as ``def f(*args, **kwargs)`` does."""
    return {ParameterKind.REST, ParameterKind.KEYWORDS} <= {each.kind for each in signature.parameters}


def list_default_changes(old: Signature, new: Signature) -> Iterator[tuple[Parameter, Parameter]]:
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


def describe_signatures(name: str, old: Signature, new: Signature) -> tuple[str, str]:
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


def describe_values(old: Definition, new: Definition) -> tuple[str, str]:
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


def describe_parameter(parameter: Parameter) -> str:
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
        yield describe_parameter(each)
        following = [other.kind for other in signature.parameters[index + 1 : index + 2]]
        if each.kind is ParameterKind.POSITIONAL_ONLY and following != [each.kind]:
            yield "/"


def _list_slots(signature: Signature) -> tuple[list[object], frozenset[object]]:
    """Return the positional parameters in their order, and all others."""
    slots = [(each.name, each.kind, each.default is None) for each in signature.parameters]
    positional = [slot for slot in slots if slot[1] in _POSITIONAL]
    return list(positional), frozenset(slots) - frozenset(positional)


def _get_flags(signature: Signature) -> tuple[object, ...]:
    # a property that can be set takes what others take
    flags = signature.is_async, signature.is_static, signature.is_class_method, signature.is_class
    return *flags, signature.is_property and not signature.is_settable, get_way(signature)


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_LINE else f"{text[:_MAX_LINE]}…"
