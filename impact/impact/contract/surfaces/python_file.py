"""A Python file as the surfaces read it: its nodes with where they stand, its constants and its comments."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, TypeAlias, TypeVar

from impact.contract.surfaces.facts import shorten_note, shorten_text
from impact.python.code_reader import make_getter
from impact.python.syntax import list_bound

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
Node = TypeVar("Node", bound=ast.AST)
Parameters: TypeAlias = list[tuple[ast.arg, ast.expr | None]]
# what the surfaces look for, and as what
_KEPT: Mapping[type, type] = {
    kind: kind for kind in (ast.Call, ast.ClassDef, ast.FunctionDef, ast.Subscript, ast.If, ast.Assign, ast.For)
} | {ast.AsyncFunctionDef: ast.FunctionDef}
# fields that hold nothing that the surfaces look for; a node without others, as most of a tree, is not looked at
_PLAIN_FIELDS = frozenset(
    "arg asname attr conversion ctx id kind level module name names op ops simple type_comment".split()
)
_FIELDS = {
    kind: tuple(name for name in kind._fields[::-1] if name not in _PLAIN_FIELDS)
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST) and kind is not ast.Constant
}
_READERS = {kind: make_getter(fields) for kind, fields in _FIELDS.items() if fields}
# comments of more lines than this describe something else
_MAX_COMMENT_LINES = 12
_MAX_DEPTH = 12
_SPELLINGS = {each: each.lower() for each in ("List", "Dict", "Tuple", "Set", "Type", "FrozenSet")}


@dataclass(frozen=True, slots=True)
class PythonFile:
    """A Python file. ``constants`` are names of the top level with what they stand for.

    ``nodes`` are in the order of the text, each with the qualified name of what it stands in. ``calls`` has those
    of them that call a name with a last part, with their places. ``assigned`` has the scope, name as written and
    value of each assignment, ``self.labels = …`` too.
    """

    path: str
    lines: tuple[str, ...]
    nodes: Mapping[type, list[tuple[Any, str]]]
    calls: Mapping[str, list[tuple[int, ast.Call, str]]]
    assigned: list[tuple[str, str, ast.expr]]
    constants: Mapping[str, ast.expr]

    def list_nodes(self, kind: type[Node]) -> list[tuple[Node, str]]:
        """Return the nodes of a kind; functions of both kinds are ``ast.FunctionDef``."""
        return self.nodes.get(kind, [])

    def list_calls(self, is_wanted: Callable[[str], object]) -> list[tuple[ast.Call, str]]:
        """Return the calls of what has some last name, each with what it stands in, in the order of the text."""
        calls = (call for name, calls in self.calls.items() if is_wanted(name) for call in calls)
        return [(call, scope) for _, call, scope in sorted(calls, key=itemgetter(0))]


def build_python_file(path: str, text: str, tree: ast.Module) -> PythonFile:
    """Sort the nodes of a file by what the surfaces look for, in one pass."""
    nodes: dict[type, list[tuple[Any, str]]] = defaultdict(list)
    stack: list[tuple[Any, str]] = [(tree, "")]
    while stack:
        node, scope = stack.pop()
        kind = _KEPT.get(node.__class__)
        if kind:
            nodes[kind].append((node, scope))
        if kind in {ast.ClassDef, ast.FunctionDef}:
            # in deep nests the names would grow with the square of the text
            scope = f"{scope}.{node.name}".lstrip(".")[:200]
        for value in _READERS[node.__class__](node):
            if value.__class__ is list:
                stack.extend([(item, scope) for item in reversed(value) if item.__class__ in _READERS])
            elif value.__class__ in _READERS:
                stack.append((value, scope))
    calls: dict[str, list[tuple[int, ast.Call, str]]] = defaultdict(list)
    for place, (call, scope) in enumerate(nodes[ast.Call]):
        calls[get_last_name(call.func)].append((place, call, scope))
    assigned = [
        (scope, name, node.value)
        for node, scope in nodes[ast.Assign]
        for target in node.targets
        if (name := name_expression(target))
    ]
    bound = (pair for node in tree.body for pair in list_bound(node))
    constants = {name: value for name, value in bound if value is not None}
    return PythonFile(path, tuple(text.split("\n")), dict(nodes), dict(calls), assigned, constants)


def read_string(file: PythonFile, node: ast.AST | None) -> str | None:
    """Return the string that an expression stands for: a literal, or a constant of the file; None if unclear."""
    return read_literal(resolve_name(file, node))


def read_literal(node: ast.AST | None) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def resolve_name(file: PythonFile, node: ast.AST | None) -> ast.AST | None:
    """Return what a name of the top level stands for, None if unknown; anything else as it is."""
    return file.constants.get(node.id) if isinstance(node, ast.Name) else node


def list_elements(node: ast.AST | None) -> list[ast.expr]:
    """Return the elements of a list or tuple; none of anything else."""
    return node.elts if isinstance(node, ast.List | ast.Tuple) else []


def is_true(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


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
    try:
        return shorten_text(ast.unparse(node)) if node else ""
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


def list_parameters(function: Function) -> tuple[Parameters, Parameters]:
    """Return the parameters that go by position, and those that go by name alone, with their defaults."""
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = [*[None] * (len(positional) - len(arguments.defaults)), *arguments.defaults]
    named = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return [*zip(positional, defaults, strict=True)], [*named]


def read_comment(file: PythonFile, line: int) -> str:
    """Return the comment above a line and at its end."""
    comment: list[str] = []
    for text in map(str.strip, file.lines[max(0, line - 1 - _MAX_COMMENT_LINES) : line - 1][::-1]):
        if not text.startswith("#"):
            break
        comment.insert(0, text.lstrip("#").strip())
    _, mark, end = file.lines[line - 1].partition("  #") if 0 < line <= len(file.lines) else ("", "", "")
    return shorten_note(" ".join([*comment, end.strip()] if mark else comment))


# --- annotations and signatures as text


def show_annotation(node: ast.expr | None, depth: int = 0) -> str:
    """Return an annotation on one line, equal types spelled alike: ``Optional[int]`` is ``int | None``."""
    if node is None or depth > _MAX_DEPTH:
        return show_expression(node)
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return " ".join(node.value.split())
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return f"{show_annotation(node.left, depth + 1)} | {show_annotation(node.right, depth + 1)}"
    if isinstance(node, ast.Name):
        return _SPELLINGS.get(node.id, node.id)
    name = get_last_name(node.value) if isinstance(node, ast.Subscript) else ""
    # strings are values in these, and what stands beside a type is code
    if not isinstance(node, ast.Subscript) or name in {"Literal", "Annotated"}:
        return show_expression(node)
    items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    texts = [show_annotation(item, depth + 1) for item in items]
    if name == "Optional":
        return f"{texts[0]} | None" if texts else "None"
    return (
        " | ".join(texts) if name == "Union" else f"{show_annotation(node.value, depth + 1)}[{', '.join(texts)}]"
    )


def show_signature(name: str, function: Function | None) -> str:
    """Return how a function is called, as a line; only the name if the function is unknown."""
    if function is None:
        return name
    texts: tuple[list[str], list[str]] = [], []
    for shown, parameters in zip(texts, list_parameters(function), strict=True):
        for argument, default in parameters:
            annotation = f": {show_annotation(argument.annotation)}" if argument.annotation else ""
            value = f" = {show_expression(default)}" if default is not None else ""
            shown.append(f"{argument.arg}{annotation}{value}")
    positional, named = texts
    arguments = function.args
    star = [f"*{arguments.vararg.arg}"] if arguments.vararg else ["*"] if named else []
    keywords = [f"**{arguments.kwarg.arg}"] if arguments.kwarg else []
    returns = f" -> {show_annotation(function.returns)}" if function.returns else ""
    return f"{name}({', '.join([*positional, *star, *named, *keywords])}){returns}"
