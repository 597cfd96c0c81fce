"""Names of modules, and the names in one: what it imports, binds, exports, or gives only when it is asked."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from impact.python.syntax import (
    FunctionNode,
    Run,
    get_last_name,
    get_string,
    is_none,
    join_name,
    list_bound,
    list_unbound,
    walk_statements,
)

_SUFFIXES = frozenset({".py", ".pyi"})
# folders that hold packages and are none
_SOURCE_FOLDERS = frozenset({"src", "lib", "python"})
_PACKAGE_FILE = "__init__"
_ALL = "__all__"
GETATTR = "__getattr__"
# a module that puts another object in its own place, or names into its own table; a class does so, too
_OWN_TABLES = frozenset({"sys.modules[]", "sys.modules[].__class__", "globals()[]", "locals()[]", "vars()[]"})
# where the names stand that a ``__getattr__`` knows: other texts in it are messages
_TABLES = (ast.Dict, ast.Set, ast.List, ast.Tuple)
_UPDATES = frozenset({"update", "setdefault", "__setitem__"})


def is_python(path: str) -> bool:
    return PurePosixPath(path).suffix in _SUFFIXES


def name_module(path: str) -> tuple[str, bool] | None:
    """Return the name of the module in a file, and whether it is a package; None for what can't be imported."""
    if not is_python(path):
        return None
    parts = list(PurePosixPath(path).with_suffix("").parts)
    if parts[0] in _SOURCE_FOLDERS and len(parts) > 1:
        parts = parts[1:]
    is_package = parts[-1] == _PACKAGE_FILE
    if is_package:
        parts.pop()
    if not parts or not all(part.isidentifier() for part in parts):
        return None
    return ".".join(parts), is_package


def resolve_relative(module: str, level: int, target: str, *, is_package: bool) -> str:
    """Return the full name of ``from ..target import``; empty for more dots than packages."""
    if not level:
        return target
    parts = module.split(".")
    drop = level - 1 if is_package else level
    if drop >= len(parts) + (not target):
        return ""
    return ".".join([*parts[: len(parts) - drop], *([target] if target else [])])


def get_owner(name: str) -> str:
    """Return what precedes the last dot of a dotted name; empty if there is none."""
    return name.rpartition(".")[0]


# --- the top level of a module


@dataclass(slots=True)
class ModuleNames:
    """The names at the top level of a module: imported ones with what they stand for, and its own.

    ``typing_only`` are there for type checkers alone: others can't import them from here. Neither can they import
    what is ``deleted`` in the end. ``exported``: what a star takes by ``__all__``, None if nothing says so.
    """

    module: str
    imports: dict[str, str] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)
    own: set[str] = field(default_factory=set)
    typing_only: set[str] = field(default_factory=set)
    deleted: set[str] = field(default_factory=set)
    exported: frozenset[str] | None = None

    def resolve(self, name: str) -> str:
        """Return the full name that a dotted name in this module stands for; an unknown one as it is."""
        head, dot, rest = name.partition(".")
        if head in self.imports:
            return f"{self.imports[head]}{dot}{rest}"
        return f"{self.module}.{name}" if head in self.own else name


def read_names(tree: ast.Module, module: str, *, is_package: bool) -> ModuleNames:
    """Return the names at the top level, also under ``if`` and ``try``; of several imports the first."""
    names = ModuleNames(module)
    running: set[str] = set()
    tables: list[ast.expr] = []
    for statement, run in walk_statements(tree.body):
        # what is bound to None where type checkers see more only stands in for that
        bound = [(name, "") for name, value in list_bound(statement) if not is_none(value)]
        if isinstance(statement, ast.Import | ast.ImportFrom):
            bound = list(list_bindings(statement, module, is_package=is_package))
        for local, target in bound:
            if local == "*":
                names.stars.append(target)
                continue
            if target:
                names.imports.setdefault(local, target)
            else:
                names.own.add(local)
            (names.typing_only if run is Run.NEVER else running).add(local)
            names.deleted.discard(local)
        if run is Run.ALWAYS:
            names.deleted.update(list_unbound(statement))
        tables += _list_export_tables(statement)
    names.typing_only -= running
    names.exported = _read_exports(tables)
    return names


def _list_export_tables(statement: ast.stmt) -> list[ast.expr]:
    """Return what a statement puts into ``__all__``, or adds to it."""
    if isinstance(statement, ast.AugAssign):
        return [statement.value] if join_name(statement.target) == _ALL else []
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        owner, _, method = join_name(statement.value.func).partition(".")
        return list(statement.value.args) if owner == _ALL and method in {"append", "extend"} else []
    if isinstance(statement, ast.Assign) and _ALL in {name for name, _ in list_bound(statement)}:
        return [statement.value]
    return []


def _read_exports(tables: list[ast.expr]) -> frozenset[str] | None:
    """Return the names in literal tables; None if there is none, or what is in one is not written there."""
    names: set[str] = set()
    stack = list(tables)
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            names.add(node.value)
        elif isinstance(node, ast.List | ast.Tuple):
            stack.extend(node.elts)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            stack += (node.left, node.right)
        else:
            return None
    return frozenset(names) if tables else None


def list_bindings(
    statement: ast.Import | ast.ImportFrom, module: str, *, is_package: bool
) -> Iterator[tuple[str, str]]:
    """Yield each local name of an import with the full name that it stands for; of ``*`` the module."""
    if isinstance(statement, ast.Import):
        for alias in statement.names:
            # ``import a.b`` binds ``a``
            yield (alias.asname, alias.name) if alias.asname else (alias.name.partition(".")[0],) * 2
        return
    source = resolve_relative(module, statement.level, statement.module or "", is_package=is_package)
    if not source:
        return
    for alias in statement.names:
        yield ("*", source) if alias.name == "*" else (alias.asname or alias.name, f"{source}.{alias.name}")


# --- names that a module gives only when it is asked for them


def list_dynamic_names(function: ast.AST, tables: Mapping[str, ast.expr]) -> frozenset[str]:
    """Return the names that a module's ``__getattr__`` compares with, and those in the tables that it reads."""
    names: set[str] = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and node.id in tables:
            names.update(_list_table_names(tables[node.id]))
        elif isinstance(node, ast.Compare):
            names.update(name for each in (node.left, *node.comparators) for name in _list_table_names(each))
        elif isinstance(node, ast.MatchValue):
            names.update(_list_table_names(node.value))
        elif isinstance(node, _TABLES):
            names.update(_list_table_names(node))
    return frozenset(names)


def gives_only_known(function: FunctionNode) -> bool:
    """Return whether a ``__getattr__`` compares names first and else raises: it gives those listed alone."""
    name = next((each.arg for each in function.args.args), "")
    return _ends_in_raise(function.body) and all(_is_guarded_by(each, name) for each in function.body)


def _ends_in_raise(body: Sequence[ast.stmt]) -> bool:
    """Return whether a body raises where none of its conditions holds."""
    last = body[-1]
    return isinstance(last, ast.Raise) or (
        isinstance(last, ast.If) and bool(last.orelse) and _ends_in_raise(last.orelse)
    )


def _is_guarded_by(statement: ast.stmt, name: str) -> bool:
    """Return whether a statement gives nothing: a docstring, an import, or an ``if`` that compares the name."""
    if isinstance(statement, ast.If):
        test = statement.test
        compared = isinstance(test, ast.Compare) and any(
            isinstance(each, ast.Name) and each.id == name for each in (test.left, *test.comparators)
        )
        return compared and all(_is_guarded_by(each, name) for each in statement.orelse)
    return isinstance(statement, ast.Expr | ast.Import | ast.ImportFrom | ast.Raise)


def list_attached(value: ast.expr) -> frozenset[str] | None:
    """Return the names in the tables of a loader that ``__getattr__`` is bound to; None if it may give any."""
    if not isinstance(value, ast.Call) or get_last_name(value) != "attach":
        return None
    names: set[str] = set()
    for argument in (*value.args[1:], *(each.value for each in value.keywords)):
        nodes = argument.values if isinstance(argument, ast.Dict) else [argument]
        if not all(isinstance(each, _TABLES) or is_none(each) for each in nodes):
            return None
        names.update(name for each in nodes for name in _list_table_names(each))
    return frozenset(names)


def fills_itself(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Assign):
        return any(join_name(each) in _OWN_TABLES for each in statement.targets)
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return False
    call = statement.value
    owner, _, last = join_name(call.func).rpartition(".")
    if last == "setattr" and call.args:
        return join_name(call.args[0]) in _OWN_TABLES
    return last == "exec" or (f"{owner}[]" in _OWN_TABLES and last in _UPDATES)


def get_filled_name(statement: ast.stmt) -> str:
    """Return the class that ``setattr(C, name, …)`` fills by names that only running code knows, or nothing."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(call, ast.Call) and join_name(call.func) == "setattr" and len(call.args) == 3:
        return join_name(call.args[0])
    return ""


def _list_table_names(table: ast.expr) -> Iterator[str]:
    if isinstance(table, ast.Dict):
        nodes = [each for each in table.keys if each]
    else:
        nodes = table.elts if isinstance(table, ast.Set | ast.List | ast.Tuple) else [table]
    yield from (name for name in map(get_string, nodes) if name.isidentifier())
