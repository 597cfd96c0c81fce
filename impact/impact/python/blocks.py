"""The statements that run when a module or class is defined, also under ``if`` and ``try``, and what they bind.

All who ask which names there are ask here, so that no way of binding is known to one of them alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from enum import IntEnum, auto

from impact.python.expressions import join_name

_BLOCKS = (ast.If, ast.Try, ast.TryStar, ast.With, ast.AsyncWith, ast.For, ast.AsyncFor, ast.While, ast.Match)
_UNCONDITIONAL = (ast.With, ast.AsyncWith)
# ``type X = …`` of Python 3.12, where this Python has it
_TYPE_ALIAS: tuple[type, ...] = (ast.TypeAlias,) if hasattr(ast, "TypeAlias") else ()

# a name, such as ``X``, or ``C.x`` for an attribute of a class, with what it stands for, if an expression says so
Bound = tuple[str, ast.expr | None]


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


def list_unbound(statement: ast.stmt) -> list[str]:
    return [join_name(each) for each in statement.targets] if isinstance(statement, ast.Delete) else []


def _list_targets(target: ast.expr, value: ast.expr | None) -> Iterator[Bound]:
    stack = [(target, value)]
    while stack:
        node, source = stack.pop()
        if isinstance(node, ast.Name | ast.Attribute):
            name = join_name(node)
            if name:
                yield name, source
        elif isinstance(node, ast.Starred):
            stack.append((node.value, None))
        elif isinstance(node, ast.Tuple | ast.List):
            values: Sequence[ast.expr | None] = source.elts if isinstance(source, ast.Tuple | ast.List) else ()
            # what a star takes is not known by its place
            is_plain = not any(isinstance(each, ast.Starred) for each in (*node.elts, *values))
            values = values if is_plain and len(values) == len(node.elts) else [None] * len(node.elts)
            stack.extend(reversed(list(zip(node.elts, values, strict=True))))


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
