"""What one file uses of an upstream repository, by its text alone. Most of this file reads Python."""

# ruff: noqa: N815 (ast.NodeVisitor looks for methods of these names)
from __future__ import annotations

import ast
import hashlib
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Any

from impact.errors import READING_FAILED, attempt
from impact.profile.models import UseKind
from impact.profile.pins import find_list_problem, is_build_script, list_pins
from impact.profile.plain_uses import (
    VARIABLE,
    FileText,
    FileUses,
    ScannedClass,
    UseCollector,
    get_patterns,
    is_scanned_text,
    list_string_settings,
    list_text_uses,
    name_configuration,
    read_named,
)
from impact.profile.symbols import (
    ExpressionReader,
    Scope,
    catches_missing,
    follow_part,
    is_telling_class,
    name_expression,
    read_annotation,
    read_guard,
)
from impact.python.code_reader import SourceText, count_unpacked, drop_docstring, hash_code, hash_lines, read_shape
from impact.python.data_classes import DECORATORS
from impact.python.models import CallShape, Signature
from impact.python.module_names import is_python, list_bindings, name_module
from impact.python.signatures import ABSTRACT, read_signature
from impact.python.syntax import FunctionNode, get_last_name, get_string, is_none, parse_source

# what a cache of scans is keyed by: change it with what a scan finds
SCAN_VERSION = 8
_TEST_FOLDERS = frozenset("test tests testing e2e ut unittest unittests integration_tests".split())
# what is imported everywhere and is no part of the team's own tree
_FOREIGN = sys.stdlib_module_names | frozenset(
    "torch torch_npu numpy np triton transformers pytest pydantic msgspec regex zmq tqdm PIL yaml requests aiohttp"
    " ray psutil cloudpickle packaging huggingface_hub safetensors setuptools pandas modelscope httpx openai"
    " fastapi jax jaxlib flax scipy datasets matplotlib einops xgrammar builtins".split()
)
_OPS = "torch.ops."

# parts of a chain of attributes and calls that are looked at
_MAX_CHAIN = 12
# a function that calls less has a shape that many have; names and nodes that are looked at
_MIN_CALLS, _MAX_CALLS, _MAX_NODES = 4, 60, 20_000
_VARIABLE_CALLS = frozenset("getenv setenv delenv putenv".split())
_ENVIRON_METHODS = frozenset("get pop setdefault".split())
_ENGINES = frozenset("LLM AsyncLLM EngineArgs AsyncEngineArgs AsyncLLMEngine LLMEngine".split())
_BODY_KEYWORDS = frozenset("json extra_body".split())
_PAYLOAD_KEYS = frozenset("messages prompt input".split())


def scan_file(path: str, text: str, packages: Sequence[str]) -> FileUses:
    """Return what a file uses of the upstream packages. Never raises, whatever the text."""
    file = FileText(path, text, tuple(packages), is_test(path))
    scan = attempt(path, _scan_file, file) or FileUses(path, problem=READING_FAILED)
    digest = hashlib.blake2b(text.encode(errors="replace"), digest_size=6).hexdigest()
    return replace(scan, content=digest) if scan.uses else scan


def _scan_file(file: FileText) -> FileUses:
    if is_python(file.path):
        return _scan_python(file)
    if not is_scanned_text(file.path):
        return FileUses(file.path)
    collector = UseCollector(file)
    for use in list_text_uses(file):
        collector.add(*use)
    for name, number in list_pins(file):
        collector.add(UseKind.PIN, name, number)
    return FileUses(file.path, uses=collector.list_uses(), problem=find_list_problem(file))


def is_scanned(path: str) -> bool:
    """Return whether a file is of a kind that is scanned, by its path."""
    return is_python(path) or is_scanned_text(path)


def is_test(path: str) -> bool:
    """Return whether a file is a test, by its path."""
    parts = PurePosixPath(path).parts
    name = parts[-1] if parts else ""
    if name == "conftest.py" or name.startswith("test_") or name.endswith(("_test.py", "_tests.py")):
        return True
    return not _TEST_FOLDERS.isdisjoint(parts[:-1])


def _scan_python(file: FileText) -> FileUses:
    tree = parse_source(file.text)
    if tree is None:
        return FileUses(file.path, problem="it can't be parsed")
    try:
        return _PythonScanner(file).scan(tree)
    except RecursionError:
        return FileUses(file.path, problem="it is nested too deeply")


class _PythonScanner(ast.NodeVisitor):
    """Walks through a file, in the order in which it runs: the bodies of functions after the module."""

    def __init__(self, file: FileText) -> None:
        self.file = file
        self.module, self.is_package = name_module(file.path) or (file.path.replace("/", "."), False)
        self.collector = UseCollector(file)
        self.source = SourceText(file.text)
        self.patterns = get_patterns(file.packages)
        self.runs_upstream = bool(self.patterns.command.search(file.text))
        self.scope = self.root = Scope(self.module)
        self.reader = ExpressionReader(lambda name: self.scope.lookup(name))  # noqa: PLW0108 (the scope changes)
        self.class_: ScannedClass | None = None
        self.classes: dict[str, ScannedClass] = {}
        self.method = ""
        # conditions, and handlers of exceptions, that the walk is in
        self.guards = self.fallbacks = 0
        self.stars: list[str] = []
        self.returns: dict[str, str] = {}
        self.waiting: deque[tuple[FunctionNode, Scope, ScannedClass | None, int]] = deque()
        # into how many names the result of a call is taken apart
        self.unpacked: dict[ast.expr, int] = {}
        self.ops: set[tuple[str, int]] = set()

    def scan(self, tree: ast.Module) -> FileUses:
        for name, number in list_pins(self.file) if is_build_script(self.file.path) else ():
            self.collector.add(UseKind.PIN, name, number)
        self.visit_all(tree.body)
        while self.waiting:
            node, self.scope, self.class_, self.guards = self.waiting.popleft()
            self._visit_function_body(node)
        for each in self.classes.values():
            each.calls_super_init |= "__init__" not in each.methods
            each.required = each.required if each.is_data else set()
        bound = self.root.names
        names = {name: each.symbol or "" for name, each in bound.items() if each.is_import}
        # a class or function of the module is known by its place, not by what it stands for
        values = {
            name: each.symbol
            for name, each in bound.items()
            if each.symbol and not each.is_import and each.symbol != f"{self.module}.{name}"
        }
        return FileUses(
            self.file.path,
            self.module,
            self.collector.list_uses(),
            tuple(self.classes.values()),
            names,
            values | self.returns,
            tuple(self.stars),
            functions={name: self._read_signature(each.function) for name, each in bound.items() if each.function},
        )

    def visit_all(self, nodes: Iterable[ast.AST]) -> None:
        for node in nodes:
            self.visit(node)

    # --- what is noted

    def add(
        self, kind: UseKind, node: ast.AST, symbol: str | None, *, is_guarded: bool = False, **extra: Any
    ) -> None:
        """Add a use, if the symbol may lead to upstream: by its own name, or through the team's own tree."""
        if symbol is not None and symbol.partition(".")[0] not in _FOREIGN:
            is_guarded = is_guarded or self.guards > 0 or self.scope.find(_find_root(node)).is_guarded
            line = getattr(node, "lineno", 0)
            self.collector.add(kind, symbol, line, owner=self.scope.owner, is_guarded=is_guarded, **extra)

    def add_setting(self, kind: UseKind, node: ast.AST, name: str, call: CallShape | None = None) -> None:
        """Add a use of what users write."""
        line, is_guarded = getattr(node, "lineno", 0), self.guards > 0
        self.collector.add(kind, name, line, owner=self.scope.owner, call=call, is_guarded=is_guarded)

    def add_variable(self, node: ast.AST, name: str) -> None:
        if VARIABLE.fullmatch(name):
            self.add_setting(UseKind.ENVIRONMENT, node, name)

    def add_op(self, node: ast.expr, func: ast.expr, call: CallShape | None = None) -> None:
        """Note an op, once on a line, also one that another name stands for."""
        name = name_expression(func)
        symbol = name if name.startswith(_OPS) else self.reader.read(func) or ""
        op = ".".join(symbol.split(".")[:4])
        if symbol.startswith(_OPS) and op.count(".") == 3 and (op, node.lineno) not in self.ops:
            self.ops.add((op, node.lineno))
            self.add_setting(UseKind.OP, node, op, call)

    def add_call(self, func: ast.expr, node: ast.expr, symbol: str | None, shape: CallShape) -> None:
        is_own = isinstance(func, ast.Attribute) and self.is_self(func.value)
        kind = UseKind.INHERITED if is_own else UseKind.CALL
        self.add(kind, node, symbol, call=shape)

    # --- what is known of expressions

    @property
    def body_class(self) -> ScannedClass | None:
        """The class that the walk is in, outside of its methods."""
        return self.class_ if self.class_ and self.scope.owner == self.class_.name else None

    def read_annotation(self, node: ast.expr | None) -> str | None:
        return read_annotation(node, self.scope.lookup)

    def is_static(self, node: ast.expr) -> bool:
        """Return whether an expression is a chain of attributes that begins with an import."""
        return self.scope.find(name_expression(node).partition(".")[0]).is_import

    def is_self(self, node: ast.expr) -> bool:
        """Return whether an expression is the instance or the class that a method belongs to, or ``super()``."""
        if isinstance(node, ast.Call):
            return isinstance(node.func, ast.Name) and node.func.id == "super"
        instance = self.scope.instance
        return isinstance(node, ast.Name) and bool(instance) and self.scope.lookup(node.id) == instance

    def is_fallback(self, name: str) -> bool:
        """Return whether what binds a name now is only what an ``except`` falls back to."""
        before = self.scope.names.get(name)
        return self.fallbacks > 0 and before is not None and bool(before.symbol)

    def _describe_function(self, node: FunctionNode) -> dict[str, Any]:
        """Return the fields of a use that say how a function of the team's own is."""
        body, lines = hash_code(drop_docstring(node.body)), self._hash_lines(node)
        return {"signature": self._read_signature(node), "body": body, "lines": lines}

    def _read_signature(self, node: FunctionNode) -> Signature:
        return read_signature(node, list(map(name_expression, node.decorator_list)), self.source)

    def _hash_lines(self, node: FunctionNode) -> tuple[str, ...]:
        """Return hashes of the lines of a function's body, by which those of upstream are found in it."""
        body = drop_docstring(node.body) or node.body
        text = self.source.get_lines(body[0].lineno, node.end_lineno or node.lineno)
        return tuple(sorted(hash_lines(text)))

    def _find_function(self, value: ast.expr | None) -> FunctionNode | None:
        """Return the function of the file that a value is, also behind ``staticmethod`` or ``property``."""
        if isinstance(value, ast.Call) and len(value.args) == 1:
            value = value.args[0]
        return self.scope.find(value.id).function if isinstance(value, ast.Name) else None

    # --- conditions

    @contextmanager
    def guard(self, is_guarded: bool) -> Iterator[None]:  # noqa: FBT001 (it is all that it says)
        self.guards += is_guarded
        yield
        self.guards -= is_guarded

    def visit_If(self, node: ast.If | ast.IfExp) -> None:
        """Visit both branches, each with its guard."""
        self.visit(node.test)
        for is_guarded, branch in zip(read_guard(node.test), (node.body, node.orelse), strict=True):
            with self.guard(is_guarded):
                self.visit_all(branch if isinstance(branch, list) else [branch])

    visit_IfExp = visit_If

    def visit_Try(self, node: ast.Try) -> None:
        with self.guard(catches_missing(node)):
            self.visit_all(node.body)
        self.fallbacks += 1
        self.visit_all(node.handlers)
        self.fallbacks -= 1
        self.visit_all([*node.orelse, *node.finalbody])

    # --- functions and classes

    @contextmanager
    def open_scope(self, owner: str, instance: str = "") -> Iterator[None]:
        outer = self.scope
        self.scope = Scope(owner, outer, instance)
        yield
        self.scope = outer

    def visit_Lambda(self, node: ast.Lambda) -> None:
        with self.open_scope(self.scope.owner):
            self._bind_parameters(node.args)
            self.visit(node.body)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.visit_all([*node.decorator_list, *node.keywords])
        self._scan_decorators(node)
        name = f"{self.scope.owner}.{node.name}"
        bases = [(base, self.read_annotation(base)) for base in node.bases]
        symbols = tuple(symbol for _, symbol in bases if symbol)
        scanned = ScannedClass(name, self.file.path, node.lineno, symbols, calls_super_init=False)
        for base, symbol in bases:
            self.add(UseKind.SUBCLASS, base, symbol)
        if not self.is_fallback(node.name):
            self.scope.bind(node.name, name)
        scanned.is_data = not DECORATORS.isdisjoint(map(get_last_name, node.decorator_list))
        self.classes[name] = scanned
        outer = self.class_
        with self.open_scope(name, instance=name):
            self.class_ = scanned
            self.visit_all(node.body)
        self.class_ = outer

    def visit_FunctionDef(self, node: FunctionNode) -> None:
        self.visit_all(node.decorator_list)
        self._scan_decorators(node)
        self.visit_all([*node.args.defaults, *filter(None, node.args.kw_defaults)])
        returns = self.read_annotation(node.returns)
        symbol = f"{self.scope.owner}.{node.name}"
        owner = self.body_class
        if owner:
            owner.methods.add(node.name)
            owner.members[node.name] = returns or ""
            owner.is_abstract |= not ABSTRACT.isdisjoint(map(get_last_name, node.decorator_list))
            if owner.bases:
                self.add(UseKind.OVERRIDE, node, symbol, **self._describe_function(node))
        else:
            # a function within a function can't be reached from elsewhere: it is what it returns
            is_top = self.scope is self.root
            self.scope.bind(node.name, symbol if is_top else returns, function=node)
            if is_top and returns:
                self.returns[node.name] = returns
        sketch = _sketch_function(node)
        if sketch and not self.file.is_test:
            self.add(UseKind.COPY, node, symbol, body=sketch, lines=self._hash_lines(node))
        if self.scope.parent is None or owner:
            self.waiting.append((node, self.scope, self.class_, self.guards))
        else:
            self._visit_function_body(node)

    visit_AsyncFunctionDef = visit_FunctionDef

    def _visit_function_body(self, node: FunctionNode) -> None:
        """Visit the body of a function with its parameters bound. Methods don't see the names of their class."""
        outer, outer_method = self.scope, self.method
        is_method = self.body_class is not None
        parent = outer.parent if is_method and outer.parent else outer
        self.scope = Scope(f"{outer.owner}.{node.name}", parent, outer.instance)
        self._bind_parameters(node.args)
        if is_method:
            self.method = node.name
            first = [*node.args.posonlyargs, *node.args.args][:1]
            if first and "staticmethod" not in map(name_expression, node.decorator_list):
                self.scope.bind(first[0].arg, outer.instance)
        self.visit_all(node.body)
        self.scope, self.method = outer, outer_method

    def _bind_parameters(self, args: ast.arguments) -> None:
        for each in (*args.posonlyargs, *args.args, *args.kwonlyargs):
            self.scope.bind(each.arg, self.read_annotation(each.annotation))
        for rest in filter(None, (args.vararg, args.kwarg)):
            self.scope.bind(rest.arg, None)

    def _scan_decorators(self, node: FunctionNode | ast.ClassDef) -> None:
        """Note that a decorator without arguments is called with what it decorates."""
        for each in node.decorator_list:
            if isinstance(each, ast.Name | ast.Attribute):
                self.add_call(each, each, self.reader.read(each), CallShape(1))

    # --- what binds names

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        bindings = list_bindings(node, self.module, is_package=self.is_package)
        for alias, (local, symbol) in zip(node.names, bindings, strict=False):
            if local == "*":
                self.stars.append(symbol)
            # what is tried first is what runs with the head of upstream, not what a handler falls back to
            elif not self.is_fallback(local):
                self.scope.bind(local, symbol, is_import=True, is_guarded=self.guards > 0)
            # ``import a.b`` needs all of it, and binds ``a``
            needed = alias.name if isinstance(node, ast.Import) else symbol
            if needed.partition(".")[0] in self.file.packages:
                self.add(UseKind.IMPORT, alias, needed)

    visit_ImportFrom = visit_Import

    def visit_Assign(self, node: ast.Assign) -> None:
        self.unpacked |= count_unpacked(node)
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
        if not isinstance(node.target, ast.Name):
            self.visit(node.target)

    def visit_withitem(self, node: ast.withitem) -> None:
        self.visit(node.context_expr)
        if node.optional_vars is not None:
            self.assign(node.optional_vars, None, self.reader.read(node.context_expr))

    def visit_For(self, node: ast.For | ast.AsyncFor | ast.comprehension) -> None:
        self.visit(node.iter)
        self.assign(node.target, None, None)
        self.visit_all(node.ifs if isinstance(node, ast.comprehension) else [*node.body, *node.orelse])

    visit_AsyncFor = visit_comprehension = visit_For

    def visit_ListComp(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> None:
        """Visit the loops before the elements."""
        with self.open_scope(self.scope.owner):
            elements = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
            self.visit_all([*node.generators, *elements])

    visit_SetComp = visit_GeneratorExp = visit_DictComp = visit_ListComp

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
        name, scope = target.id, self.scope
        # ``VllmConfig = None`` stands beside an import for type checkers
        if self.is_fallback(name) or (is_none(value) and scope.find(name).is_import):
            return
        if value is not None and symbol and self.is_static(value):
            scope.bind(name, symbol, is_import=True)
        else:
            scope.bind(name, symbol)
        if owner := self.body_class:
            owner.own.add(name)
            owner.members[name] = symbol or ""
            if value is None:
                owner.required.add(name)
            if owner.bases:
                self.add(UseKind.OVERRIDE, target, f"{owner.name}.{name}")

    def _assign_attribute(self, target: ast.Attribute, value: ast.expr | None, symbol: str | None) -> None:
        path = follow_part(self.reader.read(target.value), target.attr)
        if self.is_self(target.value):
            if owner := self.class_:
                if symbol or target.attr not in owner.members:
                    owner.members[target.attr] = symbol or ""
                if "init" in self.method:
                    owner.own.add(target.attr)
            self.add(UseKind.SET, target, path)
        elif self.is_static(target.value):
            self._add_patch(target, path, value)
        else:
            self._add_instance_patch(target, path, value)
        self.visit(target.value)

    # --- what is replaced

    def _add_patch(self, node: ast.expr, symbol: str | None, value: ast.expr | None) -> None:
        function = self._find_function(value)
        if function is None:
            replacement = self.reader.read(value)
            self.add(UseKind.PATCH, node, symbol, definitions=(replacement,) if replacement else ())
        else:
            self.add(UseKind.PATCH, node, symbol, **self._describe_function(function))

    def _add_instance_patch(self, node: ast.expr, symbol: str | None, value: ast.expr | None) -> None:
        """Note that an attribute of an object is set, which replaces a method if it is set to a function."""
        is_bound = isinstance(value, ast.Call) and name_expression(value.func).endswith("MethodType")
        inner = value.args[0] if isinstance(value, ast.Call) and is_bound and value.args else value
        function = self._find_function(inner) if isinstance(inner, ast.Name) else None
        if function is None:
            self.add(UseKind.SET, node, symbol)
            return
        facts = self._describe_function(function)
        # a plain function gets no ``self`` there
        signature = replace(facts["signature"], is_static=not is_bound)
        self.add(UseKind.PATCH, node, symbol, signature=signature, body=facts["body"])

    def _scan_setattr(self, node: ast.Call) -> None:
        """Note ``setattr(x, "name", value)``, ``monkeypatch.setattr(…)`` and ``patch.object(x, "name")``."""
        if len(node.args) < 2:
            return
        first, name = node.args[0], get_string(node.args[1])
        if get_string(first):
            self._scan_patch(node)
        elif name.isidentifier():
            symbol = follow_part(self.reader.read(first), name)
            if self.is_static(first):
                self._add_patch(node, symbol, node.args[2] if len(node.args) > 2 else None)
            else:
                self.add(UseKind.SET, node, symbol)

    def _scan_patch(self, node: ast.Call) -> None:
        """Note a target of ``patch("vllm.x.y")``."""
        target = get_string(node.args[0]) if node.args else ""
        parts = target.split(".")
        if len(parts) < 2 or not all(part.isidentifier() for part in parts):
            return
        self._add_patch(node, target, node.args[1] if len(node.args) > 1 else None)
        for keyword in node.keywords if name_expression(node.func).endswith("multiple") else []:
            self.add(UseKind.PATCH, node, follow_part(target, keyword.arg or ""))

    # --- what is called, read and named

    def visit_Call(self, node: ast.Call) -> None:
        func, name = node.func, name_expression(node.func)
        self._scan_special(node, name.rpartition(".")[2])
        symbol, shape = self.reader.read(func), read_shape(node, self.unpacked.get(node, 0))
        self.add_op(node, func, shape)
        self._scan_settings(node, name, symbol or "")
        if symbol is not None and name != "super":
            self.add_call(func, node, symbol, shape)
        if isinstance(func, ast.Attribute):
            if symbol is None:
                # of a method of an object of unknown type
                self.add(UseKind.POSSIBLE_CALL, node, func.attr, call=shape)
            self._note_base_constructor(func)
            self.visit(func.value)
        elif not isinstance(func, ast.Name):
            self.visit(func)
        # the first arguments of this one are the team's own flags
        is_own_flag = isinstance(func, ast.Attribute) and func.attr == "add_argument"
        self.visit_all(node.keywords if is_own_flag else [*node.args, *node.keywords])

    def _scan_special(self, node: ast.Call, name: str) -> None:
        match name:
            case "setattr" | "delattr" | "object" | "spy":
                self._scan_setattr(node)
            case "patch" | "multiple":
                self._scan_patch(node)
            case "getattr" | "hasattr":
                self._scan_getattr(node)
            case "import_module" | "__import__":
                module = get_string(node.args[0]) if node.args else ""
                if module and module.partition(".")[0] in self.file.packages:
                    self.add(UseKind.IMPORT, node, module)
            case "partial" | "partialmethod":
                if node.args and not isinstance(node.args[0], ast.Starred):
                    # ``partial(f, 1, x=2)`` is a call of ``f`` that may pass more
                    shape = read_shape(node)
                    call = replace(shape, positional=shape.positional - 1, has_star=True, has_double_star=True)
                    self.add_call(node.args[0], node, self.reader.read(node.args[0]), call)

    def _scan_settings(self, node: ast.Call, name: str, symbol: str) -> None:
        """Note what a call sets or reads: variables, fields of configurations and of requests."""
        last, kind = name.rpartition(".")[2], symbol.rpartition(".")[2]
        if last in _VARIABLE_CALLS or (last in _ENVIRON_METHODS and name.endswith(f"environ.{last}")):
            self.add_variable(node, get_string(node.args[0]) if node.args else "")
        keywords = [(each.arg, each.value) for each in node.keywords if each.arg]
        if symbol.partition(".")[0] in self.file.packages and (kind in _ENGINES or kind.endswith("Config")):
            owner = "EngineArgs" if kind in _ENGINES else kind
            for keyword, value in keywords:
                self.add_setting(UseKind.CONFIGURATION, value, f"{owner}.{keyword}")
                if keyword.endswith("_config") and isinstance(value, ast.Dict):
                    for key in filter(None, map(get_string, value.keys)):
                        self.add_setting(UseKind.CONFIGURATION, value, f"{name_configuration(keyword)}.{key}")
        for keyword, value in keywords:
            if keyword in _BODY_KEYWORDS and isinstance(value, ast.Dict):
                self._add_fields(value)
        if name.endswith(("completions.create", "embeddings.create", "responses.create")):
            for keyword, _ in keywords:
                if not keyword.startswith("extra_"):
                    self.add_setting(UseKind.API_FIELD, node, keyword)

    def _add_fields(self, node: ast.Dict) -> None:
        """Note the fields of a request's body."""
        for key in node.keys:
            if key is not None and get_string(key).isidentifier():
                self.add_setting(UseKind.API_FIELD, key, get_string(key))

    def _scan_getattr(self, node: ast.Call) -> None:
        """Note a read by name. With a default, and of ``hasattr``, it is guarded."""
        name = get_string(node.args[1]) if len(node.args) > 1 else ""
        if name.isidentifier():
            is_guarded = len(node.args) > 2 or name_expression(node.func) == "hasattr"
            kind = UseKind.INHERITED if self.is_self(node.args[0]) else UseKind.READ
            symbol = follow_part(self.reader.read(node.args[0]), name)
            self.add(kind, node, symbol, is_guarded=is_guarded)

    def _note_base_constructor(self, func: ast.Attribute) -> None:
        owner = self.class_
        if owner is not None and self.method == func.attr == "__init__":
            owner.calls_super_init |= self.is_self(func.value) or self.reader.read(func.value) in owner.bases

    def visit_Attribute(self, node: ast.Attribute) -> None:
        kind = UseKind.INHERITED if self.is_self(node.value) else UseKind.READ
        symbol = self.reader.read(node)
        self.add_op(node, node)
        self.add(kind, node, symbol)
        owner, _, name = (symbol or "").rpartition(".")
        if owner.endswith(".envs"):
            self.add_variable(node, name)
        self.visit(node.value)

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self.visit(node.value)

    def visit_Constant(self, node: ast.Constant) -> None:
        if not isinstance(node.value, str):
            return
        for kind, name in list_string_settings(node.value, self.patterns, runs_upstream=self.runs_upstream):
            self.add_setting(kind, node, name)
        named = read_named(node.value, self.file.packages, self.patterns)
        if named and named[0] is UseKind.NAMED:
            self.add(named[0], node, named[1])
        elif named:
            self.add_setting(named[0], node, named[1])
        elif is_telling_class(node.value):
            # a registry may make an object of it
            self.add(UseKind.NAMED, node, node.value)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        if name_expression(node.value).endswith("environ"):
            self.add_variable(node, get_string(node.slice))
        self.generic_visit(node)

    def visit_Dict(self, node: ast.Dict) -> None:
        keys = {get_string(key) for key in node.keys[:100]}
        if "model" in keys and not keys.isdisjoint(_PAYLOAD_KEYS):
            self._add_fields(node)
        self.generic_visit(node)

    def visit_Tuple(self, node: ast.Tuple) -> None:
        """Note a module and a name in it that stand beside each other: ``("vllm.x", "Y")``."""
        for module, name in pairwise(map(get_string, node.elts)):
            if module.partition(".")[0] in self.file.packages and "." in module and name.isidentifier():
                self.add(UseKind.NAMED, node, f"{module}.{name}")
        self.visit_all(node.elts)


def _find_root(node: ast.AST) -> str:
    """Return the name that a chain of attributes and calls begins with; empty if it begins with none."""
    for _ in range(_MAX_CHAIN):
        if isinstance(node, ast.Attribute | ast.Call):
            node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _sketch_function(node: FunctionNode) -> str:
    """Return the names that a function calls, in one text, by which a copy is known that differs in some lines.

    It is empty for a function that is too small.
    """
    called: set[str] = set()
    stack: list[ast.AST] = [*reversed(node.body)]
    for _ in range(_MAX_NODES):
        if not stack or len(called) >= _MAX_CALLS:
            break
        each = stack.pop()
        if isinstance(each, ast.Call):
            func = each.func
            called |= {func.attr if isinstance(func, ast.Attribute) else name_expression(func)} - {""}
        stack.extend(ast.iter_child_nodes(each))
    return " ".join(sorted(called)) if len(called) >= _MIN_CALLS else ""
