"""Hashes of code that comments, docstrings, annotations and formatting leave as they are."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Callable, Sequence

_DOCUMENTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
# what says nothing of what code does
_SILENT_FIELDS = frozenset({"ctx", "annotation", "returns", "type_comment", "kind", "simple", "type_ignores"})

# by kind of node: there are about a hundred
_FIELDS: dict[type[ast.AST], tuple[str, ...]] = {}

Visitor = Callable[[ast.AST], None]


def hash_code(nodes: Sequence[ast.AST], visit: Visitor | None = None) -> str:
    """Return a hash of what code does, and show each of its nodes to a visitor, from first to last."""
    tokens: list[str] = []
    stack: list[object] = [*reversed(nodes)]
    while stack:
        value = stack.pop()
        if isinstance(value, ast.AST):
            if visit:
                visit(value)
            _open_node(value, tokens, stack)
        elif isinstance(value, list):
            tokens.append(f"[{len(value)}")
            stack.extend(reversed(value))
        else:
            tokens.append(repr(value))
    return hashlib.blake2b("\0".join(tokens).encode(errors="replace"), digest_size=8).hexdigest()


def drop_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    """Return the statements without a docstring, and without those that only annotate a name."""
    start = 1 if body and is_text(body[0]) else 0
    return [each for each in body[start:] if not (isinstance(each, ast.AnnAssign) and each.value is None)]


def is_text(statement: ast.stmt) -> bool:
    """Return whether a statement is nothing but a string."""
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Constant):
        return False
    return isinstance(statement.value.value, str)


def _open_node(node: ast.AST, tokens: list[str], stack: list[object]) -> None:
    """Note what a node is, and put what is in it on the stack, the first on top."""
    if isinstance(node, ast.AnnAssign):
        # as an assignment without the annotation
        tokens.append("Assign")
        stack.extend((node.value, [node.target]))
        return
    kind = node.__class__
    tokens.append(kind.__name__)
    for name in _list_fields(kind):
        value = getattr(node, name, None)
        if name == "body" and isinstance(node, _DOCUMENTED):
            value = drop_docstring(node.body)
        stack.append(value)


def _list_fields(kind: type[ast.AST]) -> tuple[str, ...]:
    """Return the fields of a kind of node that are read, the last one first."""
    fields = _FIELDS.get(kind)
    if fields is None:
        fields = _FIELDS[kind] = tuple(name for name in reversed(kind._fields) if name not in _SILENT_FIELDS)
    return fields
