"""Annotations that mean the same: ``Optional[X]`` and ``X | None``, ``List[int]`` and ``list[int]``."""

from __future__ import annotations

import ast

from impact.python.expressions import join_name
from impact.python.fingerprint import show_constant
from impact.python.parsing import parse_expression

_MAX_DEPTH = 20
_BUILTINS = {
    "List": "list",
    "Dict": "dict",
    "Tuple": "tuple",
    "Set": "set",
    "FrozenSet": "frozenset",
    "Type": "type",
}


def is_same_annotation(first: str, second: str) -> bool:
    """Return whether two annotations mean the same, as far as their texts say."""
    return first == second or normalize_annotation(first) == normalize_annotation(second)


def normalize_annotation(text: str) -> str:
    """Return an annotation in one form; what can't be parsed stays as it is."""
    tree = parse_expression(text)
    return _normalize(tree, 0) if tree else "".join(text.split())


def _normalize(node: ast.expr, depth: int) -> str:
    if depth > _MAX_DEPTH:
        return "…"
    if isinstance(node, ast.Constant):
        inner = parse_expression(node.value) if isinstance(node.value, str) else None
        return _normalize(inner, depth + 1) if inner else show_constant(node.value)
    options = _list_options(node)
    if options:
        return " | ".join(sorted({part for each in options for part in _normalize(each, depth + 1).split(" | ")}))
    if isinstance(node, ast.Subscript):
        return f"{_normalize(node.value, depth + 1)}[{_normalize(node.slice, depth + 1)}]"
    if isinstance(node, ast.Tuple | ast.List):
        return ", ".join(_normalize(each, depth + 1) for each in node.elts)
    # where a type is imported from says nothing of it
    name = join_name(node).rpartition(".")[2]
    return _BUILTINS.get(name, name) or node.__class__.__name__


def _list_options(node: ast.expr) -> list[ast.expr]:
    """Return the types of a union; nothing for any other annotation."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return [node.left, node.right]
    if not isinstance(node, ast.Subscript):
        return []
    name = join_name(node.value).rpartition(".")[2]
    inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if name == "Optional":
        return [*inner, ast.Constant(None)]
    return inner if name == "Union" else []
