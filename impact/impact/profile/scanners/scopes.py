"""What is known of names in a part of a Python file, and which conditions around code keep it from failing."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import NamedTuple

from impact.profile.symbols import name_expression
from impact.python.syntax import FunctionNode, is_type_checking

_CAUGHT = frozenset("ImportError ModuleNotFoundError AttributeError".split())
# code that goes on after any error is not written with a missing name in mind, unless it imports
_BROAD = frozenset("Exception BaseException".split())
_PROBES = frozenset("hasattr is_package_available find_spec importable".split())
# tests of a condition that are looked at: longer ones are of generated code
_MAX_NODES = 60


@dataclass(frozen=True, slots=True)
class Binding:
    """What a name stands for. ``is_guarded``: an import that may fail."""

    symbol: str | None = None
    function: FunctionNode | None = None
    is_import: bool = False
    is_guarded: bool = False


_UNKNOWN = Binding()


class Scope:
    """The names within an ``owner``. ``instance`` is the symbol of ``self`` in a method, empty elsewhere."""

    def __init__(self, owner: str, parent: Scope | None = None, instance: str = "") -> None:
        self.owner, self.parent = owner, parent
        self.instance: str = instance or (parent.instance if parent else "")
        self.names: dict[str, Binding] = {}

    def find(self, name: str) -> Binding:
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.parent
        return _UNKNOWN

    def lookup(self, name: str) -> str | None:
        return self.find(name).symbol

    def bind(
        self,
        name: str,
        symbol: str | None,
        *,
        function: FunctionNode | None = None,
        is_import: bool = False,
        is_guarded: bool = False,
    ) -> None:
        # what is bound again is mostly the function still, as in ``f = decorate(f)``
        function = function or self.names.get(name, _UNKNOWN).function
        self.names[name] = Binding(symbol, function, is_import, is_guarded)


class Guard(NamedTuple):
    """Which branch of a condition is only for other versions, or safe from a missing name."""

    body: bool = False
    orelse: bool = False


def read_guard(test: ast.expr) -> Guard:
    """Return which branches of an ``if`` are guarded: the one for a given release, as others run with the head."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        body, orelse = read_guard(test.operand)
        return Guard(orelse, body)
    if is_type_checking(test):
        return Guard(body=True)
    if isinstance(test, ast.BoolOp):
        parts = [read_guard(each) for each in test.values[:_MAX_NODES]]
        return Guard(any(part.body for part in parts), any(part.orelse for part in parts))
    if isinstance(test, ast.Compare):
        if not _mentions_version(test):
            return Guard()
        # what is for an older or for one given version is guarded
        is_older = isinstance(test.ops[0], ast.Lt | ast.LtE | ast.Eq)
        return Guard(is_older, isinstance(test.ops[0], ast.Gt | ast.GtE | ast.NotEq))
    name = _get_end(test.func) if isinstance(test, ast.Call) else ""
    return Guard(name in _PROBES or "version" in name.lower())


def catches_missing(node: ast.Try) -> bool:
    """Return whether a ``try`` goes on where a name is missing."""
    caught: set[str] = set()
    for kind in (handler.type for handler in node.handlers):
        caught |= {_get_end(each) for each in (kind.elts if isinstance(kind, ast.Tuple) else [kind])}
    imports = any(isinstance(each, ast.Import | ast.ImportFrom) for each in node.body)
    return not caught.isdisjoint(_CAUGHT) or (imports and not caught.isdisjoint(_BROAD))


def _get_end(node: ast.expr | None) -> str:
    """Return the last part of a name; a bare ``except`` catches ``BaseException``."""
    return name_expression(node).rpartition(".")[2] if node else "BaseException"


def _mentions_version(test: ast.expr) -> bool:
    for count, node in enumerate(ast.walk(test)):
        if count > _MAX_NODES:
            break
        name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
        if "version" in name.lower():
            return True
    return False
