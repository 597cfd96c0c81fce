"""What calls say of upstream: calls of its names, replacements, ops, imports by name, settings."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Protocol

from impact.profile.expressions import ExpressionReader, get_string
from impact.profile.models import UseKind
from impact.profile.scanners.collector import UseCollector
from impact.profile.scanners.scopes import Scope
from impact.profile.scanners.settings import SettingScanner
from impact.profile.symbols import follow_part, name_expression
from impact.python.code_reader import read_shape
from impact.python.models import CallShape, Signature
from impact.python.signatures import FunctionNode

_OPS = "torch.ops."


class Scanner(Protocol):
    scope: Scope
    reader: ExpressionReader
    collector: UseCollector
    settings: SettingScanner

    def add(self, kind: UseKind, node: ast.AST, symbol: str | None, **extra: object) -> None: ...

    def is_static(self, node: ast.expr) -> bool:
        """Return whether an expression is a chain of attributes that begins with an import."""
        ...

    def is_self(self, node: ast.expr) -> bool: ...

    def is_guess(self, node: ast.expr) -> bool: ...

    def add_setting(self, kind: UseKind, node: ast.AST, name: str, *, call: CallShape | None = None) -> None: ...

    def read_function(self, node: FunctionNode) -> tuple[Signature, str]: ...

    def hash_lines(self, node: FunctionNode) -> tuple[str, ...]: ...


class CallScanner:
    def __init__(self, scanner: Scanner) -> None:
        self._scanner = scanner
        self._special: Mapping[str, Callable[[ast.Call], None]] = {
            "setattr": self._scan_setattr,
            "delattr": self._scan_setattr,
            "getattr": self._scan_getattr,
            "hasattr": self._scan_getattr,
            "import_module": self._scan_import,
            "__import__": self._scan_import,
            "patch": self._scan_patch,
            "object": self._scan_setattr,
            "spy": self._scan_setattr,
            "multiple": self._scan_patch,
            "partial": self._scan_partial,
            "partialmethod": self._scan_partial,
        }
        # into how many names the result of a call is taken apart
        self.unpacked: dict[ast.expr, int] = {}
        self._ops: set[tuple[str, int]] = set()

    def scan_call(self, node: ast.Call) -> None:
        name = name_expression(node.func)
        special = self._special.get(name.rpartition(".")[2])
        if special:
            special(node)
        symbol = self._scanner.reader.read(node.func)
        self.add_op(node, node.func, self._read_shape(node))
        self._scanner.settings.scan_call(node, symbol)
        if symbol is None:
            self._add_possible_call(node)
        if symbol is None or name == "super":
            return
        self._add_call(node.func, node, symbol, self._read_shape(node))

    def add_op(self, node: ast.expr, func: ast.expr, call: CallShape | None = None) -> None:
        """Note an op, once on a line, also one that another name stands for."""
        name = name_expression(func)
        symbol = name if name.startswith(_OPS) else self._scanner.reader.read(func) or ""
        op = ".".join(symbol.split(".")[:4])
        if symbol.startswith(_OPS) and op.count(".") == 3 and (op, node.lineno) not in self._ops:
            self._ops.add((op, node.lineno))
            self._scanner.add_setting(UseKind.OP, node, op, call=call)

    def _read_shape(self, node: ast.Call) -> CallShape:
        return read_shape(node, self.unpacked.get(node, 0))

    def scan_decorators(self, node: FunctionNode | ast.ClassDef) -> None:
        """Note that a decorator without arguments is called with what it decorates."""
        for each in node.decorator_list:
            if isinstance(each, ast.Name | ast.Attribute):
                self._add_call(each, each, self._scanner.reader.read(each), CallShape(1))

    def add_patch(self, node: ast.expr, symbol: str | None, value: ast.expr | None) -> None:
        function = self._find_function(value)
        if function is None:
            replacement = self._scanner.reader.read(value)
            self._scanner.add(UseKind.PATCH, node, symbol, definitions=(replacement,) if replacement else ())
            return
        signature, body = self._scanner.read_function(function)
        lines = self._scanner.hash_lines(function)
        self._scanner.add(UseKind.PATCH, node, symbol, signature=signature, body=body, lines=lines)

    def add_instance_patch(self, node: ast.expr, symbol: str | None, value: ast.expr | None) -> None:
        """Note that an attribute of an object is set, which replaces a method if it is set to a function."""
        is_guess = self._scanner.is_guess(node)
        is_bound = isinstance(value, ast.Call) and name_expression(value.func).endswith("MethodType")
        inner = value.args[0] if isinstance(value, ast.Call) and is_bound and value.args else value
        function = self._find_function(inner) if isinstance(inner, ast.Name) else None
        if function is not None:
            signature, body = self._scanner.read_function(function)
            # a plain function gets no ``self`` there
            signature = replace(signature, is_static=not is_bound)
            self._scanner.add(UseKind.PATCH, node, symbol, signature=signature, body=body, is_guess=is_guess)
        else:
            self._scanner.add(UseKind.SET, node, symbol, is_guess=is_guess)

    def _find_function(self, value: ast.expr | None) -> FunctionNode | None:
        """Return the function of the file that a value is, also behind ``staticmethod`` or ``property``."""
        if isinstance(value, ast.Call) and len(value.args) == 1:
            value = value.args[0]
        return self._scanner.scope.find_function(value.id) if isinstance(value, ast.Name) else None

    def _add_call(self, func: ast.expr, node: ast.expr, symbol: str | None, shape: CallShape) -> None:
        is_own = isinstance(func, ast.Attribute) and self._scanner.is_self(func.value)
        kind = UseKind.INHERITED if is_own else UseKind.CALL
        self._scanner.add(kind, node, symbol, call=shape, is_guess=self._scanner.is_guess(func))

    def _add_possible_call(self, node: ast.Call) -> None:
        """Note a call of a method of an object of unknown type."""
        if isinstance(node.func, ast.Attribute):
            self._scanner.add(UseKind.POSSIBLE_CALL, node, node.func.attr, call=self._read_shape(node))

    def _scan_partial(self, node: ast.Call) -> None:
        """Note ``partial(f, 1, x=2)`` as a call of ``f`` that may pass more."""
        if node.args and not isinstance(node.args[0], ast.Starred):
            shape = read_shape(node)
            call = replace(shape, positional=shape.positional - 1, has_star=True, has_double_star=True)
            self._add_call(node.args[0], node, self._scanner.reader.read(node.args[0]), call)

    def _scan_setattr(self, node: ast.Call) -> None:
        """Note ``setattr(x, "name", value)``, ``monkeypatch.setattr(…)`` and ``patch.object(x, "name")``."""
        if len(node.args) < 2:
            return
        first, second = node.args[:2]
        if get_string(first):
            self._scan_patch(node)
            return
        name = get_string(second)
        value = node.args[2] if len(node.args) > 2 else None
        if not name.isidentifier():
            return
        symbol = follow_part(self._scanner.reader.read(first), name)
        if self._scanner.is_static(first):
            self.add_patch(node, symbol, value)
        else:
            self._scanner.add(UseKind.SET, node, symbol)

    def _scan_patch(self, node: ast.Call) -> None:
        """Note a target of ``patch("vllm.x.y")``."""
        target = get_string(node.args[0]) if node.args else ""
        parts = target.split(".")
        if len(parts) < 2 or not all(part.isidentifier() for part in parts):
            return
        self.add_patch(node, target, node.args[1] if len(node.args) > 1 else None)
        for keyword in node.keywords if name_expression(node.func).endswith("multiple") else []:
            self._scanner.add(UseKind.PATCH, node, follow_part(target, keyword.arg or ""))

    def _scan_getattr(self, node: ast.Call) -> None:
        """Note a read by name. With a default, and of ``hasattr``, it is guarded."""
        name = get_string(node.args[1]) if len(node.args) > 1 else ""
        if not name.isidentifier():
            return
        is_guarded = len(node.args) > 2 or name_expression(node.func) == "hasattr"
        kind = UseKind.INHERITED if self._scanner.is_self(node.args[0]) else UseKind.READ
        symbol = follow_part(self._scanner.reader.read(node.args[0]), name)
        is_guess = self._scanner.is_guess(node.args[0])
        self._scanner.add(kind, node, symbol, is_guarded=is_guarded, is_guess=is_guess)

    def _scan_import(self, node: ast.Call) -> None:
        name = get_string(node.args[0]) if node.args else ""
        if name and self._scanner.collector.is_upstream(name):
            self._scanner.add(UseKind.IMPORT, node, name)
