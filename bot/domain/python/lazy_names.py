"""Names that a module gives only when it is asked for them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from bot.domain.python.expressions import join_name

# a module that puts another object in its own place, or names into its own table
_OWN_TABLES = frozenset({"sys.modules[]", "globals()[]"})
_UPDATES = frozenset({"globals().update", "globals().setdefault"})


def list_dynamic_names(function: ast.AST, tables: Mapping[str, ast.expr]) -> frozenset[str]:
    """Return the names in the text literals of a module's ``__getattr__`` and of the tables that it reads."""
    names: set[str] = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Constant):
            names.update(_list_identifiers(node.value))
        elif isinstance(node, ast.Name) and node.id in tables:
            names.update(_list_table_names(tables[node.id]))
    return frozenset(names)


def fills_itself(statement: ast.stmt) -> bool:
    """Return whether a statement gives its module names that can't be read from it."""
    if isinstance(statement, ast.Assign):
        return any(
            isinstance(each, ast.Subscript) and join_name(each) in _OWN_TABLES for each in statement.targets
        )
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return join_name(statement.value.func) in _UPDATES
    return False


def _list_table_names(table: ast.expr) -> Iterator[str]:
    """Yield the keys of a dict, or the texts in any other table."""
    nodes = table.keys if isinstance(table, ast.Dict) else ast.walk(table)
    for node in nodes:
        if isinstance(node, ast.Constant):
            yield from _list_identifiers(node.value)


def _list_identifiers(value: object) -> Iterator[str]:
    if isinstance(value, str) and value.isidentifier():
        yield value
