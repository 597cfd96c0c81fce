# ruff: noqa: N802 (ast.NodeVisitor looks for methods of these names)
from __future__ import annotations

import ast

from impact.profile.models import UseKind
from impact.profile.scanners.bindings import BindingWalk
from impact.profile.scanners.classes import ClassBuilder
from impact.profile.scanners.scopes import Scope, bind_parameters
from impact.profile.scanners.sketch import sketch_function
from impact.profile.symbols import name_expression
from impact.python.data_classes import DECORATORS
from impact.python.signatures import FunctionNode


class DefinitionWalk(BindingWalk):
    """Notes what functions and classes define, override, or may have copied."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._define_function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._define_function(node)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        with self.open_scope(self.scope.owner):
            bind_parameters(self.scope, node.args, self.scope.lookup, {})
            self.visit(node.body)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.visit_all([*node.decorator_list, *node.keywords])
        self.calls.scan_decorators(node)
        name = f"{self.scope.owner}.{node.name}"
        bases = [(base, self.read_annotation(base)) for base in node.bases]
        builder = ClassBuilder(name, self.collector.file.path, node.lineno, tuple(b for _, b in bases if b))
        for base, symbol in bases:
            self.add(UseKind.SUBCLASS, base, symbol)
        if not self.is_fallback(node.name):
            self.scope.bind(node.name, name)
        marks = (each.func if isinstance(each, ast.Call) else each for each in node.decorator_list)
        builder.is_data = any(name_expression(each).rpartition(".")[2] in DECORATORS for each in marks)
        self.classes[name] = builder
        outer = self.class_
        with self.open_scope(name, instance=name):
            self.class_ = builder
            self.visit_all(node.body)
        self.class_ = outer

    def _define_function(self, node: FunctionNode) -> None:
        self.visit_all(node.decorator_list)
        self.calls.scan_decorators(node)
        self.visit_all([*node.args.defaults, *(each for each in node.args.kw_defaults if each)])
        returns = self.read_annotation(node.returns)
        is_method = self.class_ is not None and self.scope.owner == self.class_.name
        if is_method and self.class_ is not None:
            self.class_.add_method(node, returns)
        else:
            # a function within a function can't be reached from elsewhere: it is what it returns
            self.scope.bind(node.name, f"{self.module}.{node.name}" if self.scope is self.root else returns)
            self.scope.functions[node.name] = node
            if self.scope is self.root and returns:
                self.returns[node.name] = returns
        symbol = f"{self.scope.owner}.{node.name}"
        if is_method and self.class_ is not None and self.class_.bases:
            signature, body = self.read_function(node)
            lines = self.hash_lines(node)
            self.add(UseKind.OVERRIDE, node, symbol, signature=signature, body=body, lines=lines)
        sketch = sketch_function(node)
        if sketch and not self.collector.file.is_test:
            self.add(UseKind.COPY, node, symbol, body=sketch, lines=self.hash_lines(node))
        if self.scope.parent is None or is_method:
            self.waiting.append((node, self.scope, self.class_, self.guards))
        else:
            self.visit_body(node)

    def visit_body(self, node: FunctionNode) -> None:
        """Visit the body of a function with its parameters bound. Methods don't see the names of their class."""
        outer, outer_method = self.scope, self.method
        owner = f"{outer.owner}.{node.name}"
        is_method = self.class_ is not None and outer.owner == self.class_.name
        parent = outer.parent if is_method and outer.parent else outer
        self.scope = Scope(owner, parent, outer.instance)
        bind_parameters(self.scope, node.args, self.scope.lookup, self.instances)
        if is_method:
            self.method = node.name
            first = [*node.args.posonlyargs, *node.args.args][:1]
            names = {name_expression(each) for each in node.decorator_list}
            if first and "staticmethod" not in names:
                self.scope.bind(first[0].arg, outer.instance)
        self.visit_all(node.body)
        self.scope, self.method = outer, outer_method
