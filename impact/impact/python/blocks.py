"""The statements that run when a module or class is defined, also those under ``if`` and ``try``."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

_BLOCKS = (ast.If, ast.Try, ast.TryStar, ast.With, ast.AsyncWith, ast.For, ast.AsyncFor, ast.While, ast.Match)
_UNCONDITIONAL = (ast.With, ast.AsyncWith)


def walk_statements(body: Sequence[ast.stmt]) -> Iterator[tuple[ast.stmt, bool]]:
    """Yield statements in order, if under a condition, with what ``if`` and ``try`` hold; no functions."""
    stack = [(each, False) for each in reversed(body)]
    while stack:
        statement, is_conditional = stack.pop()
        yield statement, is_conditional
        if isinstance(statement, _BLOCKS):
            is_inner = is_conditional or not isinstance(statement, _UNCONDITIONAL)
            stack.extend((each, is_inner) for each in reversed(list(_list_inner(statement))))


def is_type_checking(test: ast.expr) -> bool:
    """Return whether a condition holds for type checkers alone, never when the code runs."""
    name = test.attr if isinstance(test, ast.Attribute) else test.id if isinstance(test, ast.Name) else ""
    return name == "TYPE_CHECKING"


def list_own_expressions(statement: ast.stmt) -> list[ast.AST]:
    """Return what does not belong to statements in a statement: the test of an ``if``, a whole assignment."""
    if not isinstance(statement, _BLOCKS):
        return [statement]
    return [each for each in ast.iter_child_nodes(statement) if isinstance(each, ast.expr | ast.withitem)]


def _list_inner(statement: ast.stmt) -> Iterator[ast.stmt]:
    yield from getattr(statement, "body", [])
    for branch in (*getattr(statement, "handlers", []), *getattr(statement, "cases", [])):
        yield from branch.body
    yield from getattr(statement, "orelse", [])
    yield from getattr(statement, "finalbody", [])
