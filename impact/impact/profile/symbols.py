"""Symbols: the dotted path by which a value was reached, from an imported name onward.

``vllm.config.VllmConfig.cache_config`` is what this attribute of a ``VllmConfig`` holds. A class, an instance of
it and what a function returns have the same symbol, since only names matter. What containers hold, loops give and
``isinstance`` tells is left to the type checker: reading it changed no verdict beside one.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from impact.python.syntax import parse_expression

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
    if isinstance(node, ast.Subscript):
        return _read_subscript(node, lookup)
    return None


def parse_annotation(text: str) -> ast.expr | None:
    """Return the expression of an annotation or a value; None if it can't be read."""
    return parse_expression(text) if text and len(text) <= MAX_ANNOTATION_LENGTH else None


def name_expression(node: ast.expr) -> str:
    """Return the dotted text of a name or an attribute of one, empty for another expression."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join((node.id, *reversed(parts))) if isinstance(node, ast.Name) else ""


def _choose_known(nodes: Sequence[ast.expr], lookup: Lookup) -> str | None:
    """Return the one known symbol of the parts of a union."""
    known = {symbol for node in nodes if (symbol := read_annotation(node, lookup)) is not None}
    return known.pop() if len(known) == 1 else None


def _read_subscript(node: ast.Subscript, lookup: Lookup) -> str | None:
    if name_expression(node.value).rpartition(".")[2] not in _WRAPPERS:
        return read_annotation(node.value, lookup)
    return _choose_known(node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice], lookup)


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


def get_string(node: ast.expr | None) -> str:
    """Return the value of a string literal, empty for anything else."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
