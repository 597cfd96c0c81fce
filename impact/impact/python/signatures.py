"""Signatures of functions, of what stands for one, and of several forms of one."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest

from impact.python.blocks import walk_all_statements
from impact.python.expressions import SourceText, is_none, join_name
from impact.python.models import Definition, Parameter, ParameterKind, Signature

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
POSITIONAL = (ParameterKind.POSITIONAL_ONLY, ParameterKind.POSITIONAL)
# the default of what need not be passed for a reason other than a default
_SOME = "..."
_PROPERTIES = frozenset({"property", "cached_property", "abstractproperty", "lazy_property"})
_CONTEXTS = frozenset({"contextmanager", "asynccontextmanager"})


def read_signature(node: FunctionNode, decorators: Sequence[str], source: SourceText) -> Signature:
    last_parts = {name.rpartition(".")[2] for name in decorators}
    return Signature(
        parameters=tuple(_list_parameters(node.args, source)),
        returns=source.get_text(node.returns) if node.returns else "",
        is_async=isinstance(node, ast.AsyncFunctionDef),
        is_static="staticmethod" in last_parts,
        is_class_method="classmethod" in last_parts,
        is_property=not last_parts.isdisjoint(_PROPERTIES),
        results=_count_results(node),
        needed=tuple(_list_needed(node)),
        is_context=not last_parts.isdisjoint(_CONTEXTS),
        # other decorators of properties keep the value, which may be replaced
        is_settable=not last_parts.isdisjoint(_PROPERTIES - {"property", "abstractproperty"}),
    )


def _list_needed(node: FunctionNode) -> Iterator[str]:
    """Yield the names that a function refuses to be ``None`` before it may return."""
    for each in node.body if any(isinstance(each, ast.Assert | ast.If) for each in node.body) else ():
        test = each.test if isinstance(each, ast.Assert | ast.If) else None
        if isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and is_none(test.comparators[0]):
            is_asserted = isinstance(each, ast.Assert) and isinstance(test.ops[0], ast.IsNot)
            is_raised = isinstance(each, ast.If) and isinstance(each.body[-1], ast.Raise)
            if is_asserted or (is_raised and isinstance(test.ops[0], ast.Is)):
                yield test.left.id
                continue
        if any(isinstance(inner, ast.Return) for inner in walk_all_statements([each])):
            return


def _count_results(node: FunctionNode) -> tuple[int, ...]:
    """Return how many values a function returns as a tuple: by its annotation, or in each of its ways."""
    counts = {_count_annotated(node.returns)} - {0} or set(map(_count_values, _list_returned(node)))
    # what a generator returns is not what its caller gets
    is_generator = any(counts) and any(isinstance(each, ast.Yield | ast.YieldFrom) for each in ast.walk(node))
    return () if is_generator else tuple(sorted(counts))


def _count_annotated(node: ast.expr | None) -> int:
    """Return how many values an annotation such as ``tuple[int, str] | None`` says, 0 if it does not say it."""
    if isinstance(node, ast.BinOp):
        return _count_annotated(node.left) or _count_annotated(node.right) if is_none(node.right) else 0
    if not isinstance(node, ast.Subscript):
        return 0
    name = join_name(node.value).rpartition(".")[2]
    if name == "Optional":
        return _count_annotated(node.slice)
    return _count_values(node.slice) if name in {"tuple", "Tuple"} else 0


def _list_returned(node: FunctionNode) -> Iterator[ast.expr]:
    """Yield what the function's own ``return`` statements give but ``None``, which nobody can unpack."""
    for each in walk_all_statements(node.body, skipped=(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        if isinstance(each, ast.Return) and each.value and not is_none(each.value):
            yield each.value


def _count_values(node: ast.expr) -> int:
    is_open = isinstance(node, ast.Tuple) and any(
        isinstance(each, ast.Starred) or (isinstance(each, ast.Constant) and each.value is ...)
        for each in node.elts
    )
    return len(node.elts) if isinstance(node, ast.Tuple) and not is_open else 0


def read_value_signature(
    value: ast.expr | None, known: Mapping[str, Definition], source: SourceText
) -> Signature | None:
    """Return the signature of a ``lambda``, or of a ``partial`` of a known function; None of any other value."""
    if isinstance(value, ast.Lambda):
        return Signature(tuple(_list_parameters(value.args, source)))
    if not isinstance(value, ast.Call) or join_name(value.func).rpartition(".")[2] != "partial" or not value.args:
        return None
    function = known.get(join_name(value.args[0]))
    passed = {each.arg: each.value for each in value.keywords}
    if not function or not function.signature or None in passed or isinstance(value.args[-1], ast.Starred):
        return None
    parameters: list[Parameter] = []
    by_place, is_named = len(value.args) - 1, False
    for each in function.signature.parameters:
        if each.kind in POSITIONAL and by_place:
            by_place -= 1
            continue
        default = source.get_text(passed[each.name]) if each.name in passed else each.default
        # those behind one that is passed by name can no longer be passed by place
        is_named = is_named or (each.kind is ParameterKind.POSITIONAL and each.name in passed)
        kind = ParameterKind.KEYWORD_ONLY if is_named and each.kind is ParameterKind.POSITIONAL else each.kind
        parameters.append(replace(each, kind=kind, default=default))
    return replace(function.signature, parameters=tuple(parameters))


def join_forms(first: Signature, second: Signature) -> Signature:
    """Return the signature of what has two forms: it takes what one of them takes."""
    slots = [[each for each in form.parameters if each.kind in POSITIONAL] for form in (first, second)]
    joined: dict[str, Parameter] = {}
    rest: dict[str, Parameter] = {}
    for one, other in zip_longest(*slots):
        each = one or other
        if one and other and one.name == other.name:
            joined[each.name] = replace(each, default=one.default if one.default is not None else other.default)
        else:
            joined[each.name] = replace(each, kind=ParameterKind.POSITIONAL, default=each.default or _SOME)
            if one and other:
                rest[other.name] = replace(other, kind=ParameterKind.KEYWORD_ONLY, default=other.default or _SOME)
    ones, others = ({each.name: each for each in form.parameters} for form in (first, second))
    for name, each in {**ones, **others}.items():
        if each.kind in POSITIONAL:
            continue
        is_optional = each.kind is ParameterKind.KEYWORD_ONLY and not (name in ones and name in others)
        rest[name] = replace(each, default=each.default or _SOME) if is_optional else each
    rest = {name: each for name, each in rest.items() if name not in joined}
    return replace(first, parameters=(*joined.values(), *sorted(rest.values(), key=_get_order)))


def _get_order(parameter: Parameter) -> int:
    return list(ParameterKind).index(parameter.kind)


def _list_parameters(args: ast.arguments, source: SourceText) -> Iterator[Parameter]:
    positional = [*args.posonlyargs, *args.args]
    # defaults belong to the last ones
    missing: list[ast.expr | None] = [None] * (len(positional) - len(args.defaults))
    for index, (each, default) in enumerate(zip(positional, [*missing, *args.defaults], strict=True)):
        is_only = index < len(args.posonlyargs)
        yield _make(each, ParameterKind.POSITIONAL_ONLY if is_only else ParameterKind.POSITIONAL, default, source)
    if args.vararg:
        yield _make(args.vararg, ParameterKind.REST, None, source)
    for each, default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
        yield _make(each, ParameterKind.KEYWORD_ONLY, default, source)
    if args.kwarg:
        yield _make(args.kwarg, ParameterKind.KEYWORDS, None, source)


def _make(each: ast.arg, kind: ParameterKind, default: ast.expr | None, source: SourceText) -> Parameter:
    value = None if default is None else source.get_text(default)
    return Parameter(each.arg, kind, value, source.get_text(each.annotation) if each.annotation else "")
