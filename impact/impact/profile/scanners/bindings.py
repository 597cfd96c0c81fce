"""Names that a Python file binds, and attributes that it sets."""

# ruff: noqa: N802 (ast.NodeVisitor looks for methods of these names)
from __future__ import annotations

import ast

from impact.profile.models import UseKind
from impact.profile.scanners.file_walk import FileWalk
from impact.profile.scanners.scopes import name_instance
from impact.profile.symbols import ELEMENT, follow_part, name_expression
from impact.python.code_reader import count_unpacked
from impact.python.imports import list_bindings
from impact.python.module_names import resolve_relative

_Loop = ast.For | ast.AsyncFor | ast.comprehension


class BindingWalk(FileWalk):
    """Binds names to what they stand for: by imports, assignments, loops and ``with``."""

    def visit_Import(self, node: ast.Import) -> None:
        self._bind_imports(node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        self._bind_imports(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        self.calls.unpacked |= count_unpacked(node)
        self.visit(node.value)
        for target in node.targets:
            self.assign(target, node.value, self.reader.read(node.value))

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        symbol = self.read_annotation(node.annotation)
        if node.value is not None:
            self.visit(node.value)
            symbol = symbol or self.reader.read(node.value)
        self.assign(node.target, node.value, symbol)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.visit(node.value)
        if isinstance(node.target, ast.Attribute):
            self.visit_Attribute(node.target)
        elif not isinstance(node.target, ast.Name):
            self.visit(node.target)

    def visit_For(self, node: ast.For) -> None:
        self._visit_loop(node)

    def visit_AsyncFor(self, node: ast.AsyncFor) -> None:
        self._visit_loop(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        self.visit(node.iter)
        self._bind_loop(node)
        self.visit_all(node.ifs)

    def visit_ListComp(self, node: ast.ListComp) -> None:
        """Visit the loops before the element."""
        self._visit_comprehension(node.generators, (node.elt,))

    def visit_SetComp(self, node: ast.SetComp) -> None:
        """Visit the loops before the element."""
        self._visit_comprehension(node.generators, (node.elt,))

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> None:
        """Visit the loops before the element."""
        self._visit_comprehension(node.generators, (node.elt,))

    def visit_DictComp(self, node: ast.DictComp) -> None:
        """Visit the loops before the key and the value."""
        self._visit_comprehension(node.generators, (node.key, node.value))

    def visit_withitem(self, node: ast.withitem) -> None:
        self.visit(node.context_expr)
        if node.optional_vars is not None:
            self.assign(node.optional_vars, None, self.reader.read(node.context_expr))

    def _bind_imports(self, node: ast.Import | ast.ImportFrom) -> None:
        for local, symbol in list_bindings(node, self.module, is_package=self.is_package):
            if local == "*":
                self.stars.append(symbol)
            # what is tried first is what runs with the head of upstream, not what a handler falls back to
            elif not self.is_fallback(local):
                self.scope.bind_import(local, symbol, is_guarded=self.guards > 0)
                self.instances.setdefault(name_instance(local), symbol)
        for alias in node.names:
            symbol = _name_imported(node, alias, self.module, is_package=self.is_package)
            if self.collector.is_upstream(symbol):
                self.add(UseKind.IMPORT, alias, symbol)

    def _visit_loop(self, node: ast.For | ast.AsyncFor) -> None:
        self.visit(node.iter)
        self._bind_loop(node)
        self.visit_all([*node.body, *node.orelse])

    def _visit_comprehension(self, generators: list[ast.comprehension], elements: tuple[ast.expr, ...]) -> None:
        with self.open_scope(self.scope.owner):
            self.visit_all([*generators, *elements])

    def _bind_loop(self, node: _Loop) -> None:
        """Bind the variables of a loop to the elements; of pairs the second one."""
        source, target = node.iter, node.target
        name = name_expression(source.func) if isinstance(source, ast.Call) else ""
        if name == "zip" and isinstance(source, ast.Call) and isinstance(target, ast.Tuple):
            for each, argument in zip(target.elts, source.args, strict=False):
                self.assign(each, None, follow_part(self.reader.read(argument), ELEMENT))
            return
        if name == "enumerate" and isinstance(source, ast.Call) and source.args:
            symbol = follow_part(self.reader.read(source.args[0]), ELEMENT)
        else:
            symbol = follow_part(self.reader.read(source), ELEMENT)
        is_pair = isinstance(target, ast.Tuple) and (name == "enumerate" or name.endswith(".items"))
        if is_pair and isinstance(target, ast.Tuple) and len(target.elts) == 2:
            self.assign(target.elts[0], None, None)
            self.assign(target.elts[1], None, symbol)
        else:
            self.assign(target, None, None if name.endswith((".items", "enumerate")) else symbol)

    def assign(self, target: ast.expr, value: ast.expr | None, symbol: str | None) -> None:
        """Bind a name, or note that an attribute is set or replaced."""
        if isinstance(target, ast.Name):
            self._assign_name(target, value, symbol)
        elif isinstance(target, ast.Attribute):
            self._assign_attribute(target, value, symbol)
        elif isinstance(target, ast.Tuple | ast.List):
            values = value.elts if isinstance(value, ast.Tuple) else []
            for index, each in enumerate(target.elts):
                item = values[index] if len(values) == len(target.elts) else None
                self.assign(each, item, self.reader.read(item))
        elif isinstance(target, ast.Starred):
            self.assign(target.value, None, None)
        else:
            self.visit(target)

    def _assign_name(self, target: ast.Name, value: ast.expr | None, symbol: str | None) -> None:
        if self.is_fallback(target.id) or (_is_none(value) and self.scope.is_import(target.id)):
            # ``VllmConfig = None`` stands beside an import for type checkers
            return
        if value is not None and self.is_static(value) and symbol:
            self.scope.bind_import(target.id, symbol)
        else:
            self.scope.bind(target.id, symbol, is_guess=value is not None and self.is_guess(value))
        if self.class_ is not None and self.scope.owner == self.class_.name:
            self.class_.add_field(target.id, symbol, has_value=value is not None)
            if self.class_.bases:
                self.add(UseKind.OVERRIDE, target, f"{self.class_.name}.{target.id}")

    def _assign_attribute(self, target: ast.Attribute, value: ast.expr | None, symbol: str | None) -> None:
        path = follow_part(self.reader.read(target.value), target.attr)
        if self.is_self(target.value):
            if self.class_ is not None:
                self.class_.add_attribute(target.attr, symbol, self.method)
            self.add(UseKind.SET, target, path)
        elif self.is_static(target.value):
            self.calls.add_patch(target, path, value)
        else:
            self.calls.add_instance_patch(target, path, value)
        self.visit(target.value)


def _name_imported(node: ast.Import | ast.ImportFrom, alias: ast.alias, module: str, *, is_package: bool) -> str:
    """Return the full name that a part of an import needs; of ``*`` the module."""
    if isinstance(node, ast.Import):
        return alias.name
    source = resolve_relative(module, node.level, node.module or "", is_package=is_package)
    return source if alias.name == "*" else f"{source}.{alias.name}"


def _is_none(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Constant) and value.value is None
