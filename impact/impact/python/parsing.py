"""Python source text as a syntax tree."""

from __future__ import annotations

import ast
import gc
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

# one at a time: which warnings are shown is a state of the whole process
_PARSER_LOCK = threading.Lock()
# several readers look at both versions of each file of a merge, one after the other: three files in the median
_MAX_TREES = 16


@lru_cache(maxsize=_MAX_TREES)
def parse_source(text: str) -> ast.Module | None:
    """Parse a Python file; return None for what this version of Python can't parse.

    Others may get the same tree: nobody changes it.
    """
    try:
        with _PARSER_LOCK, warnings.catch_warnings(), _pause_collector():
            # such as an escape sequence in somebody's file that means nothing
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


@contextmanager
def _pause_collector() -> Iterator[None]:
    """Look for no cycles: a tree has none, and the look at all of its nodes takes as long as to parse it."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def parse_expression(text: str) -> ast.expr | None:
    """Parse an expression; return None if it is none."""
    tree = parse_source(text.strip())
    if tree is None or len(tree.body) != 1 or not isinstance(tree.body[0], ast.Expr):
        return None
    return tree.body[0].value
