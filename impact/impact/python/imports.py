"""What a module imports at its top level, and what the names in it stand for."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from impact.python.blocks import Run, list_bound, list_unbound, walk_statements
from impact.python.expressions import is_none, join_name
from impact.python.module_names import resolve_relative

_ALL = "__all__"


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
