from __future__ import annotations

import ast

from impact.profile.symbols import (
    COPY_FUNCTIONS,
    ELEMENT,
    ELEMENT_FUNCTIONS,
    SAME_FUNCTIONS,
    SUPER,
    Lookup,
    contain,
    follow_part,
    name_expression,
    read_annotation,
)

_PASSING = COPY_FUNCTIONS | SAME_FUNCTIONS


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
        if isinstance(node, ast.Subscript):
            inner = self.read(node.value)
            return inner if isinstance(node.slice, ast.Slice) else follow_part(inner, ELEMENT)
        if isinstance(node, ast.List | ast.Tuple | ast.Set):
            return contain(self.read(node.elts[0])) if node.elts else None
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
        if name == "cast" or name.endswith(".cast"):
            return read_annotation(node.args[0], self._lookup) if node.args else None
        if name == "getattr":
            attribute = get_string(node.args[1]) if len(node.args) > 1 else ""
            return follow_part(self.read(node.args[0]), attribute) if attribute.isidentifier() else None
        if name in _PASSING or name in ELEMENT_FUNCTIONS:
            return self._read_argument(node, name)
        return self.read(node.func)

    def _read_argument(self, node: ast.Call, name: str) -> str | None:
        if not node.args:
            return None
        inner = self.read(node.args[-1] if name == "filter" else node.args[0])
        if name in _PASSING:
            return inner
        return follow_part(inner, ELEMENT) if len(node.args) == 1 else None


def get_string(node: ast.expr | None) -> str:
    """Return the value of a string literal, empty for anything else."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
