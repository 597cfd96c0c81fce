"""A Python file as the surfaces read it: its nodes with where they stand, its constants and its comments."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from impact.contract.surfaces.facts import shorten_text
from impact.python.blocks import list_bound

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
# nodes without anything below that the surfaces look for: two thirds of a tree
_LEAVES = frozenset(
    (
        ast.Name,
        ast.Constant,
        ast.Load,
        ast.Store,
        ast.Del,
        ast.alias,
        ast.Import,
        ast.ImportFrom,
        ast.Pass,
        ast.Global,
    )
)
_KEPT = (ast.Subscript, ast.If, ast.Assign, ast.For)
# the fields of all other kinds of nodes, the last one first
_FIELDS: Mapping[type, tuple[str, ...]] = {
    kind: kind._fields[::-1]
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST) and kind not in _LEAVES
}
# comments of more lines than this describe something else
_MAX_COMMENT_LINES = 12


@dataclass(frozen=True, slots=True)
class PlacedNode:
    node: ast.AST
    scope: str


@dataclass(frozen=True, slots=True)
class PythonFile:
    """A Python file. ``constants`` are names of the top level that stand for a string or for a list of strings."""

    path: str
    lines: tuple[str, ...]
    tree: ast.Module
    calls: tuple[tuple[ast.Call, str], ...]
    classes: tuple[tuple[ast.ClassDef, str], ...]
    functions: tuple[tuple[Function, str], ...]
    others: tuple[PlacedNode, ...]
    constants: Mapping[str, ast.expr]


def build_python_file(path: str, text: str, tree: ast.Module) -> PythonFile:
    """Sort the nodes of a file by what the surfaces look for, in one pass."""
    calls: list[tuple[ast.Call, str]] = []
    classes: list[tuple[ast.ClassDef, str]] = []
    functions: list[tuple[Function, str]] = []
    others: list[PlacedNode] = []
    stack: list[tuple[ast.AST, str]] = [(tree, "")]
    # in the order of the text, with the qualified name of what each stands in
    while stack:
        node, scope = stack.pop()
        inner = scope
        if isinstance(node, ast.Call):
            calls.append((node, scope))
        elif isinstance(node, _SCOPES):
            if isinstance(node, ast.ClassDef):
                classes.append((node, scope))
            else:
                functions.append((node, scope))
            # in deep nests the names would grow with the square of the text
            inner = f"{scope}.{node.name}".lstrip(".")[:200]
        elif isinstance(node, _KEPT):
            others.append(PlacedNode(node, scope))
        for name in _FIELDS[node.__class__]:
            value: Any = getattr(node, name, None)
            if value.__class__ is list:
                stack.extend([(item, inner) for item in reversed(value) if item.__class__ in _FIELDS])
            elif value.__class__ in _FIELDS:
                stack.append((value, inner))
    return PythonFile(
        path,
        tuple(text.split("\n")),
        tree,
        tuple(calls),
        tuple(classes),
        tuple(functions),
        tuple(others),
        _list_constants(tree),
    )


def _list_constants(tree: ast.Module) -> dict[str, ast.expr]:
    return {name: value for node in tree.body for name, value in list_bound(node) if value is not None}


def read_string(file: PythonFile, node: ast.AST | None) -> str | None:
    """Return the string that an expression stands for: a literal, or a constant of the file; None if unclear."""
    if isinstance(node, ast.Name):
        node = file.constants.get(node.id)
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return None


def name_expression(node: ast.AST | None) -> str:
    """Return a dotted name as written, ``os.environ.get``; empty for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute) and len(parts) < 20:
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def get_last_name(node: ast.AST | None) -> str:
    """Return the last part of a name as written, whatever stands before it: ``c`` of ``a().b.c``."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def show_expression(node: ast.AST | None) -> str:
    if node is None:
        return ""
    try:
        return shorten_text(ast.unparse(node))
    except (RecursionError, ValueError, MemoryError):
        return "…"


def find_argument(call: ast.Call, name: str, position: int | None = None) -> ast.expr | None:
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    if position is None or len(call.args) <= position:
        return None
    before = call.args[: position + 1]
    return None if any(isinstance(argument, ast.Starred) for argument in before) else call.args[position]


def read_comment(file: PythonFile, line: int) -> str:
    comment: list[str] = []
    index = line - 2
    while 0 <= index < len(file.lines) and len(comment) < _MAX_COMMENT_LINES:
        text = file.lines[index].strip()
        if not text.startswith("#"):
            break
        comment.insert(0, text.lstrip("#").strip())
        index -= 1
    if 0 < line <= len(file.lines):
        _, mark, end = file.lines[line - 1].partition("  #")
        comment += [end.strip()] if mark else []
    return shorten_long(" ".join(comment))


def shorten_long(text: str) -> str:
    return " ".join(text[:2000].split())


def read_docstring(body: list[ast.stmt], index: int) -> str:
    if index + 1 >= len(body):
        return ""
    after = body[index + 1]
    if (
        isinstance(after, ast.Expr)
        and isinstance(after.value, ast.Constant)
        and isinstance(after.value.value, str)
    ):
        return shorten_long(after.value.value)
    return ""
