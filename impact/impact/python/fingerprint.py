"""Hashes of code that comments, docstrings, annotations and formatting leave as they are."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

# what says nothing of what code does
_SILENT_FIELDS = frozenset({"ctx", "annotation", "returns", "type_comment", "kind", "simple", "type_ignores"})
_KINDS = [each for each in vars(ast).values() if isinstance(each, type) and issubclass(each, ast.AST)]
# the fields of each kind of node that are read, the last one first
_FIELDS = {kind: tuple(name for name in reversed(kind._fields) if name not in _SILENT_FIELDS) for kind in _KINDS}

# Python's least limit for decimal text, 640 digits, has some more
_MAX_DECIMAL_BITS = 2_000
_NAMES: dict[type, str] = {ast.AnnAssign: "Assign"}

# shorter lines stand anywhere
_MIN_LINE = 18
Visitor = Callable[[ast.AST], None]


def hash_lines(text: str) -> frozenset[str]:
    """Return short hashes of the lines of a text that say enough to be known again elsewhere."""
    lines = (line.strip() for line in text.split("\n"))
    telling = (line for line in lines if len(line) >= _MIN_LINE and line[0] not in "#\"'")
    return frozenset(
        hashlib.blake2b(line.encode(errors="surrogatepass"), digest_size=4).hexdigest() for line in telling
    )


def hash_code(
    nodes: Sequence[ast.AST], visit: Visitor | None = None, kinds: frozenset[type[ast.AST]] = frozenset()
) -> str:
    """Return a hash of what code does, and show its nodes of some kinds to a visitor, from first to last."""
    tokens: list[str] = []
    stack: list[object] = [*reversed(nodes)]
    # this loop is most of the time that a file takes
    pop, push, add = stack.pop, stack.extend, tokens.append
    while stack:
        value: Any = pop()
        kind = value.__class__
        if kind is ast.Name:
            add(f"Name {value.id}")
        elif reader := _READERS.get(kind):
            if kind in kinds and visit:
                visit(value)
            add(reader[0])
            push(reader[1](value))
        elif kind is list:
            add(f"[{len(value)}")
            push(value[::-1])
        elif kind is str:
            add(value)
        elif value is None:
            add("None")
        else:
            add(repr(value))
    return hashlib.blake2b("\0".join(tokens).encode(errors="replace"), digest_size=8).hexdigest()


def show_constant(value: object) -> str:
    """Return the text of a literal. Python refuses decimal text for long integers, which code may write in hex."""
    is_long = isinstance(value, int) and value.bit_length() > _MAX_DECIMAL_BITS
    return hex(value) if is_long else repr(value)  # type: ignore[arg-type]


def drop_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    """Return the statements without a docstring, and without those that only annotate a name."""
    start = 1 if body and is_text(body[0]) else 0
    return [each for each in body[start:] if not (isinstance(each, ast.AnnAssign) and each.value is None)]


def is_text(statement: ast.stmt) -> bool:
    """Return whether a statement is nothing but a string."""
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Constant):
        return False
    return isinstance(statement.value.value, str)


_DOCUMENTED_TYPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_SPECIAL = frozenset(_DOCUMENTED_TYPES) | {ast.AnnAssign, ast.Constant}


def make_getter(fields: tuple[str, ...]) -> Callable[[ast.AST], tuple[object, ...]]:
    """Return what reads the fields of a node at once."""
    if len(fields) > 1:
        return attrgetter(*fields)
    return (lambda node: (getattr(node, fields[0]),)) if fields else lambda _node: ()


def _list_parts(node: ast.AST) -> Sequence[object]:
    """Return what is in a node that is not read as it is, the last part first."""
    if isinstance(node, ast.AnnAssign):
        # as an assignment without the annotation
        return [node.value, [node.target]]
    if isinstance(node, ast.Constant):
        # the text "1" is not the number
        return [show_constant(node.value)]
    body = drop_docstring(node.body) if isinstance(node, _DOCUMENTED_TYPES) else []
    return [body if name == "body" else getattr(node, name, None) for name in _FIELDS[type(node)]]


# by the kind of a node its name, and what reads its parts
_READERS: dict[type, tuple[str, Callable[[ast.AST], Sequence[object]]]] = {
    kind: (_NAMES.get(kind) or kind.__name__, _list_parts if kind in _SPECIAL else make_getter(fields))
    for kind, fields in _FIELDS.items()
}
