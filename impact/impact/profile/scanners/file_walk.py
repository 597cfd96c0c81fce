"""What is known on the way through a Python file."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from impact.profile.expressions import ExpressionReader
from impact.profile.models import UseKind
from impact.profile.scanned import FileText
from impact.profile.scanners.calls import CallScanner
from impact.profile.scanners.classes import ClassBuilder
from impact.profile.scanners.collector import UseCollector
from impact.profile.scanners.scopes import Scope
from impact.profile.scanners.settings import SettingScanner
from impact.profile.symbols import name_expression, read_annotation
from impact.python.expressions import SourceText
from impact.python.fingerprint import drop_docstring, hash_code, hash_lines
from impact.python.models import CallShape, Signature
from impact.python.module_names import name_module
from impact.python.signatures import FunctionNode, read_signature

# parts of a chain of attributes and calls that are looked at
_MAX_CHAIN = 12


class FileWalk(ast.NodeVisitor):
    """A walk through a Python file: the scope that it is in, and the uses that it met."""

    def __init__(self, file: FileText) -> None:
        named = name_module(file.path)
        self.module, self.is_package = named or (file.path.replace("/", "."), False)
        self.collector = UseCollector(file)
        self.source = SourceText(file.text)
        self.root = Scope(self.module)
        self.scope = self.root
        self.class_: ClassBuilder | None = None
        self.classes: dict[str, ClassBuilder] = {}
        self.method = ""
        self.guards = 0
        self.stars: list[str] = []
        self.returns: dict[str, str] = {}
        self.instances: dict[str, str] = {}
        self.waiting: deque[tuple[FunctionNode, Scope, ClassBuilder | None, int]] = deque()
        self.fallbacks = 0
        self.reader = ExpressionReader(self._lookup)
        self.calls = CallScanner(self)
        self.settings = SettingScanner(file, self.add_setting)

    def _lookup(self, name: str) -> str | None:
        return self.scope.lookup(name)

    def add(self, kind: UseKind, node: ast.AST, symbol: str | None, **extra: object) -> None:
        if symbol is None or not self.collector.is_relevant(symbol) or symbol.startswith("["):
            return
        guarded = bool(extra.pop("is_guarded", False)) or self.guards > 0 or self._is_of_guarded(node)
        line = getattr(node, "lineno", 0)
        self.collector.add(kind, symbol, line, owner=self.scope.owner, is_guarded=guarded, **extra)  # type: ignore[arg-type]

    def _is_of_guarded(self, node: ast.AST) -> bool:
        """Return whether a node is a name that a guarded import gave, or an attribute or a call of one."""
        for _ in range(_MAX_CHAIN):
            if not isinstance(node, ast.Attribute | ast.Call):
                break
            node = node.func if isinstance(node, ast.Call) else node.value
        scope = self.scope.find(node.id) if isinstance(node, ast.Name) else None
        return scope is not None and isinstance(node, ast.Name) and node.id in scope.guarded

    def add_setting(self, kind: UseKind, node: ast.AST, name: str, *, call: CallShape | None = None) -> None:
        """Add a use of what users write: a variable, a flag, an op."""
        line = getattr(node, "lineno", 0)
        self.collector.add(kind, name, line, owner=self.scope.owner, call=call, is_guarded=self.guards > 0)

    def read_annotation(self, node: ast.expr | None) -> str | None:
        return read_annotation(node, self.scope.lookup)

    def is_static(self, node: ast.expr) -> bool:
        """Return whether an expression is a chain of attributes that begins with an import."""
        name = name_expression(node)
        return bool(name) and self.scope.is_import(name.partition(".")[0])

    def is_guess(self, node: ast.expr) -> bool:
        for _ in range(_MAX_CHAIN):
            if not isinstance(node, ast.Attribute | ast.Call | ast.Subscript | ast.Await):
                break
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
        return self.read_signature(node), hash_code(drop_docstring(node.body))

    def hash_lines(self, node: FunctionNode) -> tuple[str, ...]:
        """Return hashes of the lines of a function's body, by which those of upstream are found in it."""
        text = self.source.get_lines(node.body[0].lineno, node.end_lineno or node.lineno)
        return tuple(sorted(hash_lines(text)))

    def read_signature(self, node: FunctionNode) -> Signature:
        decorators = [name_expression(each) for each in node.decorator_list]
        return read_signature(node, decorators, self.source)

    def is_fallback(self, name: str) -> bool:
        """Return whether what binds a name now is only what an ``except`` falls back to."""
        return self.fallbacks > 0 and bool(self.scope.names.get(name))

    def visit_all(self, nodes: Iterable[ast.AST]) -> None:
        """Visit nodes one after the other."""
        for node in nodes:
            self.visit(node)

    @contextmanager
    def guard(self, is_guarded: bool) -> Iterator[None]:  # noqa: FBT001 (it is all that it says)
        self.guards += is_guarded
        yield
        self.guards -= is_guarded

    @contextmanager
    def open_scope(self, owner: str, instance: str = "") -> Iterator[None]:
        outer = self.scope
        self.scope = Scope(owner, outer, instance)
        yield
        self.scope = outer
