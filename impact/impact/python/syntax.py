"""Pieces of Python's syntax: parsed texts, dotted names, and the statements that run with what they bind."""

from __future__ import annotations

import ast
import gc
import re
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import IntEnum, auto
from functools import lru_cache

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
DefinitionNode = FunctionNode | ast.ClassDef

# one at a time: which warnings are shown is a state of the whole process
_PARSER_LOCK = threading.Lock()
# several readers look at both versions of each file of a merge, one after the other: three files in the median
_MAX_TREES = 16
# until Python 3.12, the parser takes the square of the fields of an f-string: so many, on one line and in a file
# that has one of several lines, take some tenths of a second
_MAX_FIELDS, _MAX_LONG_FIELDS = 4_000, 12_000
_FORMATTED = re.compile(r"(?i:f|rf|fr)[\"']")
_LONG_FORMATTED = re.compile(r"(?i:f|rf|fr)(?:'{3}|\"{3})")
# parts of a chain such as ``a.b().c()``: a longer one is no name that anyone uses
_MAX_PARTS = 12
_BLOCKS = (ast.If, ast.Try, ast.TryStar, ast.With, ast.AsyncWith, ast.For, ast.AsyncFor, ast.While, ast.Match)
_UNCONDITIONAL = (ast.With, ast.AsyncWith)
# ``type X = …`` of Python 3.12, where this Python has it
_TYPE_ALIAS: tuple[type, ...] = (ast.TypeAlias,) if hasattr(ast, "TypeAlias") else ()

# a name, such as ``X``, or ``C.x`` for an attribute of a class, with what it stands for, if an expression says so
Bound = tuple[str, ast.expr | None]


# --- texts


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


# --- names


def join_name(node: ast.expr) -> str:
    """Return the dotted text of an expression, such as ``self.cache.get`` or ``super().close``.

    Calls in it become ``()``, subscripts ``[]``. The result is empty for anything else and for very long chains.
    """
    parts: list[str] = []
    suffix = ""
    for _ in range(_MAX_PARTS):
        if isinstance(node, ast.Name):
            return ".".join([node.id + suffix, *reversed(parts)])
        if isinstance(node, ast.Attribute):
            parts.append(node.attr + suffix)
            node, suffix = node.value, ""
        elif isinstance(node, ast.Call):
            node, suffix = node.func, f"(){suffix}"
        elif isinstance(node, ast.Subscript):
            node, suffix = node.value, f"[]{suffix}"
        else:
            return ""
    return ""


def get_head(node: ast.expr) -> ast.expr:
    """Return what is subscripted or called: of ``Base[T]`` and ``Base(x)`` it is ``Base``."""
    while isinstance(node, ast.Subscript | ast.Call):
        node = node.value if isinstance(node, ast.Subscript) else node.func
    return node


def get_last_name(node: ast.expr) -> str:
    """Return the last part of the name of what an expression is, calls or subscripts; empty without one."""
    return join_name(get_head(node)).rpartition(".")[2]


def get_string(node: ast.AST | None) -> str:
    """Return the value of a string literal, empty for anything else."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def is_none(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def get_keywords(call: ast.Call | None) -> dict[str | None, ast.expr]:
    return {each.arg: each.value for each in call.keywords} if call else {}


# --- statements that run when a module or class is defined, also under ``if`` and ``try``, and what they bind. All
# who ask which names there are ask here, so that no way of binding is known to one of them alone


class Run(IntEnum):
    """Whether a statement runs: always, under a condition, or never, for only type checkers read it."""

    ALWAYS = auto()
    MAYBE = auto()
    NEVER = auto()


def walk_statements(body: Sequence[ast.stmt]) -> Iterator[tuple[ast.stmt, Run]]:
    """Yield statements in order, if they run, with what ``if`` and ``try`` hold; no functions."""
    stack = [(each, Run.ALWAYS) for each in reversed(body)]
    while stack:
        statement, run = stack.pop()
        yield statement, run
        if isinstance(statement, _BLOCKS):
            stack.extend(reversed(list(_list_inner(statement, run))))


def _list_inner(statement: ast.stmt, run: Run) -> Iterator[tuple[ast.stmt, Run]]:
    inner = run if isinstance(statement, _UNCONDITIONAL) else max(run, Run.MAYBE)
    body = other = inner
    if isinstance(statement, ast.If):
        test, is_negated = statement.test, False
        while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            test, is_negated = test.operand, not is_negated
        if is_type_checking(test):
            body, other = (run, Run.NEVER) if is_negated else (Run.NEVER, run)
    yield from ((each, body) for each in getattr(statement, "body", []))
    for branch in (*getattr(statement, "handlers", []), *getattr(statement, "cases", [])):
        yield from ((each, inner) for each in branch.body)
    yield from ((each, other) for each in getattr(statement, "orelse", []))
    yield from ((each, inner) for each in getattr(statement, "finalbody", []))


def walk_all_statements(body: Sequence[ast.stmt], skipped: tuple[type, ...] = ()) -> Iterator[ast.stmt]:
    """Yield statements with all that stand in them, in no order, but what is in those of some kinds."""
    stack = [*body]
    while stack:
        statement = stack.pop()
        yield statement
        if not isinstance(statement, skipped):
            for name in ("body", "orelse", "finalbody"):
                stack += getattr(statement, name, ())
            for branch in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
                stack += branch.body


def is_type_checking(test: ast.expr) -> bool:
    """Return whether a condition never holds when the code runs: for type checkers alone, or not at all."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return any(map(is_type_checking, test.values))
    if isinstance(test, ast.Constant):
        return not test.value
    return join_name(test).rpartition(".")[2] == "TYPE_CHECKING"


def list_own_expressions(statement: ast.stmt) -> list[ast.AST]:
    """Return what does not belong to statements in a statement: the test of an ``if``, a whole assignment."""
    if not isinstance(statement, _BLOCKS):
        return [statement]
    return [each for each in ast.iter_child_nodes(statement) if isinstance(each, ast.expr | ast.withitem)]


def list_bound(statement: ast.stmt) -> Iterator[Bound]:
    """Yield what a statement itself binds, but imports, which say more, and ``:=``, which stands anywhere."""
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield statement.name, None
        case ast.Assign():
            for target in statement.targets:
                yield from _list_targets(target, statement.value)
        case ast.AnnAssign():
            yield from _list_targets(statement.target, statement.value)
        case ast.For() | ast.AsyncFor():
            yield from _list_targets(statement.target, None)
        case ast.With() | ast.AsyncWith():
            for item in statement.items:
                if item.optional_vars:
                    yield from _list_targets(item.optional_vars, None)
        case ast.Match():
            for node in (node for case in statement.cases for node in ast.walk(case.pattern)):
                name = getattr(node, "rest", None) or getattr(node, "name", None)
                if isinstance(name, str):
                    yield name, None
        case _ if isinstance(statement, _TYPE_ALIAS):
            yield from _list_targets(getattr(statement, "name"), getattr(statement, "value"))  # noqa: B009


def _list_targets(target: ast.expr, value: ast.expr | None) -> Iterator[Bound]:
    stack = [(target, value)]
    while stack:
        node, source = stack.pop()
        if isinstance(node, ast.Name | ast.Attribute):
            if name := join_name(node):
                yield name, source
        elif isinstance(node, ast.Starred):
            stack.append((node.value, None))
        elif isinstance(node, ast.Tuple | ast.List):
            values: Sequence[ast.expr | None] = source.elts if isinstance(source, ast.Tuple | ast.List) else ()
            # what a star takes is not known by its place
            is_plain = not any(isinstance(each, ast.Starred) for each in (*node.elts, *values))
            values = values if is_plain and len(values) == len(node.elts) else [None] * len(node.elts)
            stack.extend(reversed(list(zip(node.elts, values, strict=True))))


def list_unbound(statement: ast.stmt) -> list[str]:
    return [join_name(each) for each in statement.targets] if isinstance(statement, ast.Delete) else []
