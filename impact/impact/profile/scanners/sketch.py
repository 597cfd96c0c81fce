"""Sketches of functions, by which a copy is recognized although some lines differ."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from impact.profile.symbols import name_expression
from impact.python.signatures import FunctionNode

# a function that calls less has a shape that many have
_MIN_CALLS = 4
_MAX_CALLS = 60
_MAX_NODES = 20_000
# share of called names that two functions have in common, above which one is a copy of the other. Unrelated
# functions of the same name rarely have more than a quarter
MIN_LIKENESS = 0.5


def sketch_function(node: FunctionNode) -> str:
    """Return the names that a function calls, in one text; empty for one that is too small."""
    called = dict[str, None]()
    stack: list[ast.AST] = list(reversed(node.body))
    for _ in range(_MAX_NODES):
        if not stack or len(called) >= _MAX_CALLS:
            break
        each = stack.pop()
        if isinstance(each, ast.Call):
            name = get_called_name(each)
            if name:
                called[name] = None
        stack.extend(ast.iter_child_nodes(each))
    return " ".join(sorted(called)) if len(called) >= _MIN_CALLS else ""


def get_called_name(node: ast.Call) -> str:
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return name_expression(node.func)


def measure_likeness(sketch: str, called: Iterable[str]) -> float:
    first, second = set(sketch.split()), set(called)
    return len(first & second) / max(len(first | second), 1)
