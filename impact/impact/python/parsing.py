from __future__ import annotations

import ast
import gc
import re
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

# one at a time: which warnings are shown is a state of the whole process
_PARSER_LOCK = threading.Lock()
# several readers look at both versions of each file of a merge, one after the other: three files in the median
_MAX_TREES = 16
# until Python 3.12, the parser takes the square of the fields of an f-string: so many, on one line and in a file
# that has one of several lines, take some tenths of a second
_MAX_FIELDS, _MAX_LONG_FIELDS = 4_000, 12_000
_FORMATTED = re.compile(r"(?i:f|rf|fr)[\"']")
_LONG_FORMATTED = re.compile(r"(?i:f|rf|fr)(?:'{3}|\"{3})")


@lru_cache(maxsize=_MAX_TREES)
def parse_source(text: str) -> ast.Module | None:
    """Parse a file; None for what this Python can't. Others may get the same tree: nobody changes it."""
    if _has_many_fields(text):
        return None
    try:
        with _PARSER_LOCK, warnings.catch_warnings(), pause_collector():
            # such as an escape sequence in somebody's file that means nothing
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _has_many_fields(text: str) -> bool:
    """Return whether f-strings of a text may have more fields than are parsed: it may be JSON as well."""
    if text.count("{") <= _MAX_FIELDS or _FORMATTED.search(text) is None:
        return False
    is_long = any(line.count("{") > _MAX_FIELDS for line in text.split("\n"))
    return is_long or (_LONG_FORMATTED.search(text) is not None and text.count("{") > _MAX_LONG_FIELDS)


@contextmanager
def pause_collector() -> Iterator[None]:
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
