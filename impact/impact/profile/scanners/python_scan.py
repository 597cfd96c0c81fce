"""Uses of upstream in a Python file."""

# ruff: noqa: N802 (ast.NodeVisitor looks for methods of these names)
from __future__ import annotations

import ast

from impact.profile.models import UseKind
from impact.profile.scanned import FileText, FileUses
from impact.profile.scanners.definitions import DefinitionWalk
from impact.profile.scanners.guards import catches_missing, read_guard
from impact.profile.scanners.pins import is_build_script, list_pins
from impact.profile.scanners.strings import list_named, list_pairs
from impact.profile.symbols import name_expression
from impact.python.parsing import parse_source


def scan_python(file: FileText) -> FileUses:
    tree = parse_source(file.text)
    if tree is None:
        return FileUses(file.path, problem="it can't be parsed")
    try:
        return PythonScanner(file).scan(tree)
    except RecursionError:
        return FileUses(file.path, problem="it is nested too deeply")


class PythonScanner(DefinitionWalk):
    """Walks through a file, in the order in which it runs: the bodies of functions after the module."""

    def scan(self, tree: ast.Module) -> FileUses:
        file = self.collector.file
        for name, number in list_pins(file) if is_build_script(file.path) else ():
            self.collector.add(UseKind.PIN, name, number)
        self.visit_all(tree.body)
        while self.waiting:
            node, self.scope, self.class_, self.guards = self.waiting.popleft()
            self.visit_body(node)
        # a class or function of the module is known by its place, not by what it stands for
        names = {name: self.root.names[name] or "" for name in self.root.imports}
        values = {name: symbol for name, symbol in self.root.names.items() if symbol and name not in names}
        own = {name: symbol for name, symbol in values.items() if symbol != f"{self.module}.{name}"}
        return FileUses(
            self.collector.file.path,
            self.module,
            self.collector.list_uses(),
            tuple(each.build() for each in self.classes.values()),
            names,
            own | self.returns,
            tuple(self.stars),
            functions={name: self.read_signature(node) for name, node in self.root.functions.items()},
        )

    def visit_If(self, node: ast.If) -> None:
        """Visit both branches, each with its guard; learn types from ``isinstance``."""
        self.visit(node.test)
        guard = read_guard(node.test)
        with self.guard(guard.body):
            self._learn_type(node.test)
            self.visit_all(node.body)
        with self.guard(guard.orelse):
            self.visit_all(node.orelse)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self.visit(node.test)
        guard = read_guard(node.test)
        with self.guard(guard.body):
            self.visit(node.body)
        with self.guard(guard.orelse):
            self.visit(node.orelse)

    def visit_Try(self, node: ast.Try) -> None:
        """Visit what is tried, guarded if missing names are caught; then the rest."""
        with self.guard(catches_missing(node)):
            self.visit_all(node.body)
        self.fallbacks += 1
        self.visit_all(node.handlers)
        self.fallbacks -= 1
        self.visit_all([*node.orelse, *node.finalbody])

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self.visit(node.value)

    def visit_Call(self, node: ast.Call) -> None:
        self.calls.scan_call(node)
        self._note_base_constructor(node)
        if isinstance(node.func, ast.Attribute):
            self.visit(node.func.value)
        elif not isinstance(node.func, ast.Name):
            self.visit(node.func)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "add_argument":
            # the names of the team's own flags
            self.visit_all(node.keywords)
        else:
            self.visit_all([*node.args, *node.keywords])

    def visit_Attribute(self, node: ast.Attribute) -> None:
        kind = UseKind.INHERITED if self.is_self(node.value) else UseKind.READ
        symbol = self.reader.read(node)
        self.calls.add_op(node, node)
        self.add(kind, node, symbol, is_guess=self.is_guess(node))
        self.settings.scan_symbol(node, symbol)
        self.visit(node.value)

    def visit_Constant(self, node: ast.Constant) -> None:
        if not isinstance(node.value, str):
            return
        self.settings.scan_string(node)
        for kind, name in list_named(node.value, self.collector.file.packages):
            if kind is UseKind.NAMED:
                self.add(kind, node, name)
            else:
                self.add_setting(kind, node, name)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self.settings.scan_subscript(node)
        self.generic_visit(node)

    def visit_Dict(self, node: ast.Dict) -> None:
        self.settings.scan_dict(node)
        self.generic_visit(node)

    def visit_Tuple(self, node: ast.Tuple) -> None:
        """Note a module and a name in it that stand beside each other."""
        for name in list_pairs(node.elts, self.collector.file.packages):
            self.add(UseKind.NAMED, node, name)
        self.visit_all(node.elts)

    def _note_base_constructor(self, node: ast.Call) -> None:
        func = node.func
        if self.class_ is None or self.method != "__init__" or not isinstance(func, ast.Attribute):
            return
        if func.attr == "__init__" and (
            self.is_self(func.value) or self.reader.read(func.value) in self.class_.bases
        ):
            self.class_.runs_base_constructor = True

    def _learn_type(self, test: ast.expr) -> None:
        for part in test.values if isinstance(test, ast.BoolOp) else [test]:
            if not isinstance(part, ast.Call) or len(part.args) != 2 or name_expression(part.func) != "isinstance":
                continue
            subject, kind = part.args
            symbol = None if isinstance(kind, ast.Tuple) else self.reader.read(kind)
            if isinstance(subject, ast.Name) and symbol:
                self.scope.bind(subject.id, symbol)
