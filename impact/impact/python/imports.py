"""What a module imports at its top level, and what the names in it stand for."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from impact.python.blocks import is_type_checking, walk_statements
from impact.python.module_names import resolve_relative


@dataclass(slots=True)
class ModuleNames:
    """The names at the top level of a module: imported ones with what they stand for, and its own.

    ``typing_only`` are imported for type checkers alone: others can't import them from here.
    """

    module: str
    imports: dict[str, str] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)
    own: set[str] = field(default_factory=set)
    typing_only: set[str] = field(default_factory=set)

    def resolve(self, name: str) -> str:
        """Return the full name that a dotted name in this module stands for; an unknown one as it is."""
        head, dot, rest = name.partition(".")
        if head in self.imports:
            return f"{self.imports[head]}{dot}{rest}"
        return f"{self.module}.{name}" if head in self.own else name


def read_names(tree: ast.Module, module: str, *, is_package: bool) -> ModuleNames:
    """Return the names at the top level, also under ``if`` and ``try``; of several imports the first."""
    names = ModuleNames(module)
    blocks = (each.body for each in tree.body if isinstance(each, ast.If) and is_type_checking(each.test))
    typing_statements = {statement for body in blocks for statement in body}
    running: set[str] = set()
    for statement, _ in walk_statements(tree.body):
        if isinstance(statement, ast.Import | ast.ImportFrom):
            kind = names.typing_only if statement in typing_statements else running
            for local, target in list_bindings(statement, module, is_package=is_package):
                if local == "*":
                    names.stars.append(target)
                else:
                    names.imports.setdefault(local, target)
                    kind.add(local)
        else:
            names.own.update(_list_own_names(statement))
    names.typing_only -= running
    return names


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


def _list_own_names(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield statement.name
    elif isinstance(statement, ast.Assign):
        yield from (each.id for each in statement.targets if isinstance(each, ast.Name))
    elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        yield statement.target.id
