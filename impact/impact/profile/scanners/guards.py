"""Conditions around code that keep it from failing when upstream changes."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from impact.profile.symbols import name_expression
from impact.python.blocks import is_type_checking

_CAUGHT = frozenset("ImportError ModuleNotFoundError AttributeError".split())
# code that goes on after any error is not written with a missing name in mind, unless it imports
_BROAD = frozenset("Exception BaseException".split())
_PROBES = frozenset("hasattr is_package_available find_spec importable".split())
# tests of a condition that are looked at: longer ones are of generated code
_MAX_NODES = 60


@dataclass(frozen=True, slots=True)
class Guard:
    """Which branch of a condition is only for other versions, or safe from a missing name."""

    body: bool = False
    orelse: bool = False


def read_guard(test: ast.expr) -> Guard:
    """Return which branches of an ``if`` are guarded: the one for a given release, as others run with the head."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = read_guard(test.operand)
        return Guard(inner.orelse, inner.body)
    if is_type_checking(test):
        return Guard(body=True)
    if isinstance(test, ast.BoolOp):
        parts = [read_guard(each) for each in test.values[:_MAX_NODES]]
        return Guard(any(part.body for part in parts), any(part.orelse for part in parts))
    if isinstance(test, ast.Compare):
        return _read_comparison(test)
    return Guard(body=isinstance(test, ast.Call) and _is_probe(test))


def catches_missing(node: ast.Try) -> bool:
    """Return whether a ``try`` goes on where a name is missing."""
    caught = {name for handler in node.handlers for name in _list_caught(handler.type)}
    if not caught.isdisjoint(_CAUGHT):
        return True
    imports = any(isinstance(each, ast.Import | ast.ImportFrom) for each in node.body)
    return imports and not caught.isdisjoint(_BROAD)


def _list_caught(node: ast.expr | None) -> list[str]:
    if node is None:
        return ["BaseException"]
    names = node.elts if isinstance(node, ast.Tuple) else [node]
    return [name_expression(each).rpartition(".")[2] for each in names]


def _is_probe(call: ast.Call) -> bool:
    name = name_expression(call.func).rpartition(".")[2]
    return name in _PROBES or "version" in name.lower()


def _read_comparison(test: ast.Compare) -> Guard:
    """Read a comparison of versions: what is for an older or for one given version is guarded."""
    if not _mentions_version(test):
        return Guard()
    if isinstance(test.ops[0], ast.Lt | ast.LtE | ast.Eq):
        return Guard(body=True)
    if isinstance(test.ops[0], ast.Gt | ast.GtE | ast.NotEq):
        return Guard(orelse=True)
    return Guard()


def _mentions_version(test: ast.expr) -> bool:
    for count, node in enumerate(ast.walk(test)):
        if count > _MAX_NODES:
            break
        name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
        if "version" in name.lower():
            return True
    return False
