"""Names that a module gives only when it is asked for them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from impact.python.expressions import is_none, join_name
from impact.python.signatures import FunctionNode

GETATTR = "__getattr__"
# a module that puts another object in its own place, or names into its own table; a class does so, too
_OWN_TABLES = frozenset({"sys.modules[]", "sys.modules[].__class__", "globals()[]", "locals()[]", "vars()[]"})
# where the names stand that a ``__getattr__`` knows: other texts in it are messages
_TABLES = (ast.Compare, ast.MatchValue, ast.Dict, ast.Set, ast.List, ast.Tuple)
_UPDATES = frozenset({"update", "setdefault", "__setitem__"})


def list_dynamic_names(function: ast.AST, tables: Mapping[str, ast.expr]) -> frozenset[str]:
    """Return the names that a module's ``__getattr__`` compares with, and those in the tables that it reads."""
    names: set[str] = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and node.id in tables:
            names.update(_list_table_names(tables[node.id]))
        elif isinstance(node, _TABLES):
            for value in _list_values(node):
                names.update(_list_table_names(value))
    return frozenset(names)


def _list_values(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.Compare):
        return [node.left, *node.comparators]
    return [node.value] if isinstance(node, ast.MatchValue) else [node] if isinstance(node, ast.expr) else []


def gives_only_known(function: FunctionNode) -> bool:
    """Return whether a ``__getattr__`` compares names first and else raises: it gives those listed alone."""
    name = next((each.arg for each in function.args.args), "")
    return _ends_in_raise(function.body) and all(_is_guarded_by(each, name) for each in function.body)


def _ends_in_raise(body: Sequence[ast.stmt]) -> bool:
    """Return whether a body raises where none of its conditions holds."""
    last = body[-1]
    return isinstance(last, ast.Raise) or (
        isinstance(last, ast.If) and bool(last.orelse) and _ends_in_raise(last.orelse)
    )


def _is_guarded_by(statement: ast.stmt, name: str) -> bool:
    """Return whether a statement gives nothing: a docstring, an import, or an ``if`` that compares the name."""
    if isinstance(statement, ast.If):
        test = statement.test
        compared = isinstance(test, ast.Compare) and any(
            isinstance(each, ast.Name) and each.id == name for each in (test.left, *test.comparators)
        )
        return compared and all(_is_guarded_by(each, name) for each in statement.orelse)
    return isinstance(statement, ast.Expr | ast.Import | ast.ImportFrom | ast.Raise)


def list_attached(value: ast.expr) -> frozenset[str] | None:
    """Return the names in the tables of a loader that ``__getattr__`` is bound to; None if it may give any."""
    if not isinstance(value, ast.Call) or join_name(value.func).rpartition(".")[2] != "attach":
        return None
    names: set[str] = set()
    for argument in (*value.args[1:], *(each.value for each in value.keywords)):
        nodes = argument.values if isinstance(argument, ast.Dict) else [argument]
        if not all(isinstance(each, _TABLES) or is_none(each) for each in nodes):
            return None
        names.update(name for each in nodes for name in _list_table_names(each))
    return frozenset(names)


def fills_itself(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Assign):
        return any(join_name(each) in _OWN_TABLES for each in statement.targets)
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return False
    call = statement.value
    owner, _, last = join_name(call.func).rpartition(".")
    if last == "setattr" and call.args:
        return join_name(call.args[0]) in _OWN_TABLES
    return last == "exec" or (f"{owner}[]" in _OWN_TABLES and last in _UPDATES)


def get_filled_name(statement: ast.stmt) -> str:
    """Return the class that ``setattr(C, name, …)`` fills by names that only running code knows, or nothing."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(call, ast.Call) and join_name(call.func) == "setattr" and len(call.args) == 3:
        return join_name(call.args[0])
    return ""


def _list_table_names(table: ast.expr) -> Iterator[str]:
    if isinstance(table, ast.Dict):
        nodes = [each for each in table.keys if each]
    else:
        nodes = table.elts if isinstance(table, ast.Set | ast.List | ast.Tuple) else [table]
    for node in nodes:
        if isinstance(node, ast.Constant):
            yield from _list_identifiers(node.value)


def _list_identifiers(value: object) -> Iterator[str]:
    if isinstance(value, str) and value.isidentifier():
        yield value
