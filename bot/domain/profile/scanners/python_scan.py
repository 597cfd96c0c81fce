"""Uses of upstream in a Python file."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from bot.domain.profile.expressions import ExpressionReader
from bot.domain.profile.models import UseKind
from bot.domain.profile.scanned import FileText, FileUses
from bot.domain.profile.scanners.calls import CallScanner
from bot.domain.profile.scanners.classes import ClassBuilder
from bot.domain.profile.scanners.collector import UseCollector
from bot.domain.profile.scanners.guards import catches_missing, read_guard
from bot.domain.profile.scanners.scopes import Scope, bind_parameters, name_instance
from bot.domain.profile.scanners.sketch import sketch_function
from bot.domain.profile.scanners.strings import list_named, list_pairs
from bot.domain.profile.symbols import ELEMENT, follow_part, name_expression, read_annotation
from bot.domain.python.expressions import SourceText
from bot.domain.python.fingerprint import drop_docstring, hash_code
from bot.domain.python.imports import list_bindings
from bot.domain.python.models import Signature
from bot.domain.python.module_names import name_module, resolve_relative
from bot.domain.python.parsing import parse_source
from bot.domain.python.signatures import FunctionNode, read_signature

_Loop = ast.For | ast.AsyncFor | ast.comprehension


def scan_python(file: FileText) -> FileUses:
    """Return the uses in a Python file, and what it defines for other files."""
    tree = parse_source(file.text)
    if tree is None:
        return FileUses(file.path, problem="it can't be parsed")
    try:
        return PythonScanner(file).scan(tree)
    except RecursionError:
        return FileUses(file.path, problem="it is nested too deeply")


class PythonScanner(ast.NodeVisitor):
    """Walks through a file, in the order in which it runs: the bodies of functions after the module."""

    def __init__(self, file: FileText) -> None:
        named = name_module(file.path)
        self.module, self._is_package = named or (file.path.replace("/", "."), False)
        self.collector = UseCollector(file)
        self.source = SourceText(file.text)
        self._root = Scope(self.module)
        self.scope = self._root
        self.class_: ClassBuilder | None = None
        self._classes: dict[str, ClassBuilder] = {}
        self._method = ""
        self._guards = 0
        self._stars: list[str] = []
        self._returns: dict[str, str] = {}
        self._instances: dict[str, str] = {}
        self._waiting: list[tuple[FunctionNode, Scope, ClassBuilder | None, int]] = []
        self.reader = ExpressionReader(self._lookup)
        self.calls = CallScanner(self)

    def scan(self, tree: ast.Module) -> FileUses:
        """Walk through the file and return what was found in it."""
        self._visit_all(tree.body)
        while self._waiting:
            node, self.scope, self.class_, self._guards = self._waiting.pop(0)
            self._visit_body(node)
        # a class or function of the module is known by its place, not by what it stands for
        names = {name: self._root.names[name] or "" for name in self._root.imports}
        values = {name: symbol for name, symbol in self._root.names.items() if symbol and name not in names}
        own = {name: symbol for name, symbol in values.items() if symbol != f"{self.module}.{name}"}
        return FileUses(
            self.collector.file.path,
            self.module,
            self.collector.list_uses(),
            tuple(each.build() for each in self._classes.values()),
            names,
            own | self._returns,
            tuple(self._stars),
        )

    def _lookup(self, name: str) -> str | None:
        return self.scope.lookup(name)

    # what others of this package need

    def add(self, kind: UseKind, node: ast.AST, symbol: str | None, **extra: object) -> None:
        """Add a use of a symbol at a node, if it may lead to upstream."""
        if symbol is None or not self.collector.is_relevant(symbol) or symbol.startswith("["):
            return
        guarded = bool(extra.pop("is_guarded", False)) or self._guards > 0
        line = getattr(node, "lineno", 0)
        self.collector.add(kind, symbol, line, owner=self.scope.owner, is_guarded=guarded, **extra)  # type: ignore[arg-type]

    def read_annotation(self, node: ast.expr | None) -> str | None:
        """Return the symbol of the values that an annotation allows."""
        return read_annotation(node, self.scope.lookup)

    def is_static(self, node: ast.expr) -> bool:
        """Return whether an expression is a chain of attributes that begins with an import."""
        name = name_expression(node)
        return bool(name) and self.scope.is_import(name.partition(".")[0])

    def is_guess(self, node: ast.expr) -> bool:
        """Return whether what an expression stands for depends on a guess."""
        while isinstance(node, ast.Attribute | ast.Call | ast.Subscript | ast.Await):
            node = node.func if isinstance(node, ast.Call) else node.value
        return isinstance(node, ast.Name) and self.scope.is_guess(node.id)

    def is_self(self, node: ast.expr) -> bool:
        """Return whether an expression is the instance or the class that a method belongs to, or ``super()``."""
        if isinstance(node, ast.Call):
            return isinstance(node.func, ast.Name) and node.func.id == "super"
        if not isinstance(node, ast.Name) or not self.scope.instance:
            return False
        return self.scope.lookup(node.id) == self.scope.instance

    def read_function(self, node: FunctionNode) -> tuple[Signature, str]:
        """Return the signature of a function and the hash of what it does."""
        decorators = [name_expression(each) for each in node.decorator_list]
        return read_signature(node, decorators, self.source), hash_code(drop_docstring(node.body))

    # statements

    def visit_Import(self, node: ast.Import) -> None:
        """Bind what is imported."""
        self._bind_imports(node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """Bind what is imported from a module."""
        self._bind_imports(node)

    def visit_If(self, node: ast.If) -> None:
        """Visit both branches, each with its guard; learn types from ``isinstance``."""
        self.visit(node.test)
        guard = read_guard(node.test)
        with self._guard(guard.body):
            self._learn_type(node.test)
            self._visit_all(node.body)
        with self._guard(guard.orelse):
            self._visit_all(node.orelse)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        """Visit both values, each with its guard."""
        self.visit(node.test)
        guard = read_guard(node.test)
        with self._guard(guard.body):
            self.visit(node.body)
        with self._guard(guard.orelse):
            self.visit(node.orelse)

    def visit_Try(self, node: ast.Try) -> None:
        """Visit what is tried, guarded if missing names are caught; then the rest."""
        with self._guard(catches_missing(node)):
            self._visit_all(node.body)
        before = dict(self.scope.names) if node.handlers else {}
        for handler in node.handlers:
            self.visit(handler)
        # what is tried first is what runs with the head of upstream
        self.scope.names.update({name: symbol for name, symbol in before.items() if symbol})
        self._visit_all([*node.orelse, *node.finalbody])

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        """Note a function."""
        self._define_function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        """Note a function."""
        self._define_function(node)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        """Visit the body with the parameters hidden."""
        with self._open_scope(self.scope.owner):
            bind_parameters(self.scope, node.args, self.scope.lookup, {})
            self.visit(node.body)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """Note a class, its bases and what its body defines."""
        self._visit_all([*node.decorator_list, *node.keywords])
        self.calls.scan_decorators(node)
        name = f"{self.scope.owner}.{node.name}"
        bases = [(base, self.read_annotation(base)) for base in node.bases]
        builder = ClassBuilder(name, self.collector.file.path, node.lineno, tuple(b for _, b in bases if b))
        for base, symbol in bases:
            self.add(UseKind.SUBCLASS, base, symbol)
        self.scope.bind(node.name, name)
        self._classes[name] = builder
        outer = self.class_
        with self._open_scope(name, instance=name):
            self.class_ = builder
            self._visit_all(node.body)
        self.class_ = outer

    def visit_Assign(self, node: ast.Assign) -> None:
        """Visit the value, then bind or set the targets."""
        self.visit(node.value)
        for target in node.targets:
            self._assign(target, node.value, self.reader.read(node.value))

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """Bind a target by its annotation."""
        symbol = self.read_annotation(node.annotation)
        if node.value is not None:
            self.visit(node.value)
            symbol = symbol or self.reader.read(node.value)
        self._assign(node.target, node.value, symbol)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        """Visit a target that is read and set."""
        self.visit(node.value)
        if isinstance(node.target, ast.Attribute):
            self.visit_Attribute(node.target)
        elif not isinstance(node.target, ast.Name):
            self.visit(node.target)

    def visit_For(self, node: ast.For) -> None:
        """Bind the variable of a loop."""
        self._visit_loop(node)

    def visit_AsyncFor(self, node: ast.AsyncFor) -> None:
        """Bind the variable of a loop."""
        self._visit_loop(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        """Bind the variable of a comprehension."""
        self.visit(node.iter)
        self._bind_loop(node)
        self._visit_all(node.ifs)

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
        """Bind what ``with`` opens."""
        self.visit(node.context_expr)
        if node.optional_vars is not None:
            self._assign(node.optional_vars, None, self.reader.read(node.context_expr))

    def visit_Expr(self, node: ast.Expr) -> None:
        """Visit a statement that is not just a string."""
        if not isinstance(node.value, ast.Constant):
            self.visit(node.value)

    # expressions

    def visit_Call(self, node: ast.Call) -> None:
        """Note a call, and visit its parts."""
        self.calls.scan_call(node)
        self._note_base_constructor(node)
        if isinstance(node.func, ast.Attribute):
            self.visit(node.func.value)
        elif not isinstance(node.func, ast.Name):
            self.visit(node.func)
        self._visit_all([*node.args, *node.keywords])

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """Note a read of an attribute."""
        kind = UseKind.INHERITED if self.is_self(node.value) else UseKind.READ
        self.add(kind, node, self.reader.read(node), is_guess=self.is_guess(node))
        self.visit(node.value)

    def visit_Constant(self, node: ast.Constant) -> None:
        """Note names in a string."""
        if isinstance(node.value, str):
            for kind, name in list_named(node.value, self.collector.file.packages):
                self.add(kind, node, name)

    def visit_Tuple(self, node: ast.Tuple) -> None:
        """Note a module and a name in it that stand beside each other."""
        for name in list_pairs(node.elts, self.collector.file.packages):
            self.add(UseKind.NAMED, node, name)
        self._visit_all(node.elts)

    # parts

    def _visit_all(self, nodes: Iterable[ast.AST]) -> None:
        for node in nodes:
            self.visit(node)

    @contextmanager
    def _guard(self, is_guarded: bool) -> Iterator[None]:  # noqa: FBT001 (it is all that it says)
        self._guards += is_guarded
        yield
        self._guards -= is_guarded

    @contextmanager
    def _open_scope(self, owner: str, instance: str = "") -> Iterator[None]:
        outer = self.scope
        self.scope = Scope(owner, outer, instance)
        yield
        self.scope = outer

    def _bind_imports(self, node: ast.Import | ast.ImportFrom) -> None:
        for local, symbol in list_bindings(node, self.module, is_package=self._is_package):
            if local == "*":
                self._stars.append(symbol)
            else:
                self.scope.bind_import(local, symbol)
                self._instances.setdefault(name_instance(local), symbol)
        for alias in node.names:
            symbol = _name_imported(node, alias, self.module, is_package=self._is_package)
            if self.collector.is_upstream(symbol):
                self.add(UseKind.IMPORT, alias, symbol)

    def _define_function(self, node: FunctionNode) -> None:
        self._visit_all(node.decorator_list)
        self.calls.scan_decorators(node)
        self._visit_all([*node.args.defaults, *(each for each in node.args.kw_defaults if each)])
        returns = self.read_annotation(node.returns)
        is_method = self.class_ is not None and self.scope.owner == self.class_.name
        if is_method and self.class_ is not None:
            self.class_.add_method(node, returns)
        else:
            # a function within a function can't be reached from elsewhere: it is what it returns
            self.scope.bind(node.name, f"{self.module}.{node.name}" if self.scope is self._root else returns)
            self.scope.functions[node.name] = node
            if self.scope is self._root and returns:
                self._returns[node.name] = returns
        self._note_definition(node, is_method=is_method)
        if self.scope.parent is None or is_method:
            self._waiting.append((node, self.scope, self.class_, self._guards))
        else:
            self._visit_body(node)

    def _note_base_constructor(self, node: ast.Call) -> None:
        """Note that a constructor runs the one of a base."""
        func = node.func
        if self.class_ is None or self._method != "__init__" or not isinstance(func, ast.Attribute):
            return
        if func.attr == "__init__" and (
            self.is_self(func.value) or self.reader.read(func.value) in self.class_.bases
        ):
            self.class_.runs_base_constructor = True

    def _note_definition(self, node: FunctionNode, *, is_method: bool) -> None:
        """Note an override, as every method of a class with bases may be; and what may be a copy."""
        symbol = f"{self.scope.owner}.{node.name}"
        if is_method and self.class_ is not None and self.class_.bases:
            signature, body = self.read_function(node)
            self.add(UseKind.OVERRIDE, node, symbol, signature=signature, body=body)
        sketch = sketch_function(node)
        if sketch and not self.collector.file.is_test:
            self.add(UseKind.COPY, node, symbol, body=sketch)

    def _visit_body(self, node: FunctionNode) -> None:
        """Visit the body of a function with its parameters bound. Methods don't see the names of their class."""
        outer, outer_method = self.scope, self._method
        owner = f"{outer.owner}.{node.name}"
        is_method = self.class_ is not None and outer.owner == self.class_.name
        parent = outer.parent if is_method and outer.parent else outer
        self.scope = Scope(owner, parent, outer.instance)
        bind_parameters(self.scope, node.args, self.scope.lookup, self._instances)
        if is_method:
            self._method = node.name
            self._bind_instance(node, outer.instance)
        self._visit_all(node.body)
        self.scope, self._method = outer, outer_method

    def _bind_instance(self, node: FunctionNode, instance: str) -> None:
        first = [*node.args.posonlyargs, *node.args.args][:1]
        names = {name_expression(each) for each in node.decorator_list}
        if first and "staticmethod" not in names:
            self.scope.bind(first[0].arg, instance)

    def _learn_type(self, test: ast.expr) -> None:
        """Bind a variable to the class that a condition says it is of."""
        for part in test.values if isinstance(test, ast.BoolOp) else [test]:
            if not isinstance(part, ast.Call) or len(part.args) != 2 or name_expression(part.func) != "isinstance":
                continue
            subject, kind = part.args
            symbol = None if isinstance(kind, ast.Tuple) else self.reader.read(kind)
            if isinstance(subject, ast.Name) and symbol:
                self.scope.bind(subject.id, symbol)

    def _visit_loop(self, node: ast.For | ast.AsyncFor) -> None:
        self.visit(node.iter)
        self._bind_loop(node)
        self._visit_all([*node.body, *node.orelse])

    def _visit_comprehension(self, generators: list[ast.comprehension], elements: tuple[ast.expr, ...]) -> None:
        with self._open_scope(self.scope.owner):
            self._visit_all([*generators, *elements])

    def _bind_loop(self, node: _Loop) -> None:
        """Bind the variables of a loop to the elements; of pairs the second one."""
        source, target = node.iter, node.target
        name = name_expression(source.func) if isinstance(source, ast.Call) else ""
        if name == "zip" and isinstance(source, ast.Call) and isinstance(target, ast.Tuple):
            for each, argument in zip(target.elts, source.args, strict=False):
                self._assign(each, None, follow_part(self.reader.read(argument), ELEMENT))
            return
        if name == "enumerate" and isinstance(source, ast.Call) and source.args:
            symbol = follow_part(self.reader.read(source.args[0]), ELEMENT)
        else:
            symbol = follow_part(self.reader.read(source), ELEMENT)
        is_pair = isinstance(target, ast.Tuple) and (name == "enumerate" or name.endswith(".items"))
        if is_pair and isinstance(target, ast.Tuple) and len(target.elts) == 2:
            self._assign(target.elts[0], None, None)
            self._assign(target.elts[1], None, symbol)
        else:
            self._assign(target, None, None if name.endswith((".items", "enumerate")) else symbol)

    def _assign(self, target: ast.expr, value: ast.expr | None, symbol: str | None) -> None:
        """Bind a name, or note that an attribute is set or replaced."""
        if isinstance(target, ast.Name):
            self._assign_name(target, value, symbol)
        elif isinstance(target, ast.Attribute):
            self._assign_attribute(target, value, symbol)
        elif isinstance(target, ast.Tuple | ast.List):
            values = value.elts if isinstance(value, ast.Tuple) else []
            for index, each in enumerate(target.elts):
                item = values[index] if len(values) == len(target.elts) else None
                self._assign(each, item, self.reader.read(item))
        elif isinstance(target, ast.Starred):
            self._assign(target.value, None, None)
        else:
            self.visit(target)

    def _assign_name(self, target: ast.Name, value: ast.expr | None, symbol: str | None) -> None:
        if value is not None and self.is_static(value) and symbol:
            self.scope.bind_import(target.id, symbol)
        else:
            self.scope.bind(target.id, symbol, is_guess=value is not None and self.is_guess(value))
        if self.class_ is not None and self.scope.owner == self.class_.name:
            self.class_.add_field(target.id, symbol)
            if self.class_.bases:
                self.add(UseKind.OVERRIDE, target, f"{self.class_.name}.{target.id}")

    def _assign_attribute(self, target: ast.Attribute, value: ast.expr | None, symbol: str | None) -> None:
        path = follow_part(self.reader.read(target.value), target.attr)
        if self.is_self(target.value):
            if self.class_ is not None:
                self.class_.add_attribute(target.attr, symbol, self._method)
            self.add(UseKind.SET, target, path)
        elif self.is_static(target.value):
            self.calls.add_patch(target, path, value)
        else:
            self.add(UseKind.SET, target, path, is_guess=self.is_guess(target))
        self.visit(target.value)


def _name_imported(node: ast.Import | ast.ImportFrom, alias: ast.alias, module: str, *, is_package: bool) -> str:
    """Return the full name that a part of an import needs; of ``*`` the module."""
    if isinstance(node, ast.Import):
        return alias.name
    source = resolve_relative(module, node.level, node.module or "", is_package=is_package)
    return source if alias.name == "*" else f"{source}.{alias.name}"
