"""Symbols: the dotted path by which a value was reached, from an imported name onward.

``vllm.config.VllmConfig.cache_config`` is what this attribute of a ``VllmConfig`` holds. A class, an instance of
it and what a function returns have the same symbol, since only names matter. What containers hold, loops give and
``isinstance`` tells is left to the type checker: reading it changed no verdict beside one.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from impact.python.syntax import FunctionNode, get_string, is_type_checking, join_name, parse_expression

# longer paths are of generated code, or of code that is made to hurt
_MAX_SYMBOL_LENGTH = 300
MAX_ANNOTATION_LENGTH = 500
# stands for the instance seen as one of its base classes
SUPER = "super()"

# gives the symbol of a name in the scope, None if it is unknown
Lookup = Callable[[str], str | None]

_WRAPPERS = frozenset(
    "Optional Annotated ClassVar Final Type type Union Required NotRequired ReadOnly InitVar".split()
)
# a class of two words or more: one word stands in many strings
_CLASS = re.compile(r"(?:[A-Z]+[a-z0-9]+){2,8}[A-Z]{0,8}", re.A)
_MIN_CLASS_LENGTH, _MAX_CLASS_LENGTH = 12, 100
# a shorter method, or one of a single word, is one of many classes
_MIN_METHOD_LENGTH = 14


def follow_part(symbol: str | None, part: str) -> str | None:
    """Return the symbol of an attribute of a value; None if nothing is known of it."""
    is_known = symbol is not None and len(symbol) + len(part) < _MAX_SYMBOL_LENGTH
    return f"{symbol}.{part}" if is_known else None


def read_annotation(node: ast.expr | None, lookup: Lookup) -> str | None:
    """Return the symbol of the values that an annotation allows; None if they are of no known class."""
    if isinstance(node, ast.Constant):
        inner = parse_annotation(node.value) if isinstance(node.value, str) else None
        return read_annotation(inner, lookup) if inner is not None else None
    if isinstance(node, ast.Name | ast.Attribute):
        first, _, rest = name_expression(node).partition(".")
        symbol = lookup(first) if first else None
        return f"{symbol}.{rest}" if symbol is not None and rest else symbol
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _choose_known((node.left, node.right), lookup)
    if not isinstance(node, ast.Subscript):
        return None
    if name_expression(node.value).rpartition(".")[2] not in _WRAPPERS:
        return read_annotation(node.value, lookup)
    return _choose_known(node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice], lookup)


def parse_annotation(text: str) -> ast.expr | None:
    """Return the expression of an annotation or a value; None if it can't be read."""
    return parse_expression(text) if text and len(text) <= MAX_ANNOTATION_LENGTH else None


def name_expression(node: ast.expr | None) -> str:
    """Return the dotted text of a name or an attribute of one, empty for another expression."""
    name = join_name(node) if node else ""
    return "" if "(" in name or "[" in name else name


def _choose_known(nodes: Sequence[ast.expr], lookup: Lookup) -> str | None:
    """Return the one known symbol of the parts of a union."""
    known = {symbol for node in nodes if (symbol := read_annotation(node, lookup)) is not None}
    return known.pop() if len(known) == 1 else None


class ExpressionReader:
    """Symbols of expressions by the names of a scope. Each expression is read once."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup
        # by the identity of a node; the node is kept, so that no other one gets its identity
        self._known: dict[int, tuple[ast.expr, str | None]] = {}

    def read(self, node: ast.expr | None) -> str | None:
        """Return the symbol of an expression; None if nothing is known of it."""
        if node is None:
            return None
        known = self._known.get(id(node))
        if known is None:
            known = self._known[id(node)] = (node, self._read_node(node))
        return known[1]

    def _read_node(self, node: ast.expr) -> str | None:
        if isinstance(node, ast.Name):
            return self._lookup(node.id)
        if isinstance(node, ast.Attribute):
            return follow_part(self.read(node.value), node.attr)
        if isinstance(node, ast.Call):
            return self._read_call(node)
        if isinstance(node, ast.Await | ast.NamedExpr | ast.Starred):
            return self.read(node.value)
        if isinstance(node, ast.IfExp):
            return self.read(node.body) or self.read(node.orelse)
        if isinstance(node, ast.BoolOp):
            return next((symbol for each in node.values if (symbol := self.read(each))), None)
        return None

    def _read_call(self, node: ast.Call) -> str | None:
        name = name_expression(node.func)
        if name == "super":
            return follow_part(self._lookup("self"), SUPER)
        if name == "getattr":
            attribute = get_string(node.args[1]) if len(node.args) > 1 else ""
            return follow_part(self.read(node.args[0]), attribute) if attribute.isidentifier() else None
        return self.read(node.func)


def is_telling_method(name: str) -> bool:
    """Return whether a method's name is so specific that it hardly means another one: ``get_attn_backend_cls``."""
    return len(name) >= _MIN_METHOD_LENGTH and "_" in name.strip("_")


def is_telling_class(text: str) -> bool:
    """Return whether a string is so specific a name of a class that it hardly says something else."""
    return _MIN_CLASS_LENGTH <= len(text) <= _MAX_CLASS_LENGTH and _CLASS.fullmatch(text) is not None


# --- what is known of names in a part of a file


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


# --- conditions around code that keep it from failing

_CAUGHT = frozenset("ImportError ModuleNotFoundError AttributeError".split())
# code that goes on after any error is not written with a missing name in mind, unless it imports
_BROAD = frozenset("Exception BaseException".split())
_PROBES = frozenset("hasattr is_package_available find_spec importable".split())
# tests of a condition that are looked at: longer ones are of generated code
_MAX_NODES = 60


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
