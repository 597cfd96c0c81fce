"""Signatures of functions, and those that the fields of a data class make."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from impact.python.expressions import SourceText, join_name
from impact.python.models import Definition, Parameter, ParameterKind, Signature

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
_SELF = Parameter("self")
_PROPERTIES = frozenset({"property", "cached_property", "abstractproperty", "lazy_property"})


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
    )


def _list_needed(node: FunctionNode) -> Iterator[str]:
    """Yield the names that a function refuses to be ``None`` before it may return."""
    for each in node.body:
        test = each.test if isinstance(each, ast.Assert | ast.If) else None
        if isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and _is_none(test.comparators[0]):
            is_asserted = isinstance(each, ast.Assert) and isinstance(test.ops[0], ast.IsNot)
            is_raised = isinstance(each, ast.If) and isinstance(each.body[-1], ast.Raise)
            if is_asserted or (is_raised and isinstance(test.ops[0], ast.Is)):
                yield test.left.id
                continue
        if any(isinstance(inner, ast.Return) for inner in ast.walk(each)):
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
        return _count_annotated(node.left) or _count_annotated(node.right) if _is_none(node.right) else 0
    if not isinstance(node, ast.Subscript):
        return 0
    name = join_name(node.value).rpartition(".")[2]
    if name == "Optional":
        return _count_annotated(node.slice)
    return _count_values(node.slice) if name in {"tuple", "Tuple"} else 0


def _list_returned(node: FunctionNode) -> Iterator[ast.expr]:
    """Yield what the function's own ``return`` statements give but ``None``, which nobody can unpack."""
    waiting: list[ast.AST] = [*node.body]
    while waiting:
        each = waiting.pop()
        if isinstance(each, ast.Return) and each.value and not _is_none(each.value):
            yield each.value
        elif not isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.expr):
            waiting.extend(ast.iter_child_nodes(each))


def _count_values(node: ast.expr) -> int:
    is_open = isinstance(node, ast.Tuple) and any(
        isinstance(each, ast.Starred) or (isinstance(each, ast.Constant) and each.value is ...)
        for each in node.elts
    )
    return len(node.elts) if isinstance(node, ast.Tuple) and not is_open else 0


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def make_constructor(fields: Sequence[Definition], kind: ParameterKind) -> Signature:
    """Return the signature of the constructor that fields make; it has ``self`` as others have."""
    parameters = (
        Parameter(each.name.rpartition(".")[2], kind, each.value or None, each.annotation) for each in fields
    )
    return Signature((_SELF, *parameters))


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
