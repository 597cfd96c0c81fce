"""Signatures of functions, and those that the fields of a data class make."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from impact.python.expressions import SourceText
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
    )


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
