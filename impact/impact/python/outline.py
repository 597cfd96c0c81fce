"""The outline of a Python file, from its text alone."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from impact.errors import attempt
from impact.python.blocks import list_own_expressions, walk_statements
from impact.python.code_reader import CodeReader, CodeReading
from impact.python.data_classes import DataClassReader, choose_field_kind, read_default
from impact.python.expressions import SourceText, get_head, join_name
from impact.python.fingerprint import drop_docstring
from impact.python.imports import read_names
from impact.python.lazy_names import fills_itself, gives_only_known, list_dynamic_names
from impact.python.models import CallSite, Definition, DefinitionKind, ModuleOutline, ParameterKind
from impact.python.module_names import name_module
from impact.python.parsing import parse_source
from impact.python.signatures import FunctionNode, read_signature

_ACCESSORS = frozenset({"setter", "deleter", "getter"})
_ABSTRACT = frozenset({"abstractmethod", "abstractproperty", "abstractclassmethod", "abstractstaticmethod"})
_ABSTRACT_BASES = frozenset({"ABC", "Protocol", "ABCMeta"})
_GETATTR = "__getattr__"
_CONSTRUCTORS = frozenset({"__init__", "__post_init__", "__new__", "model_post_init"})


@dataclass(frozen=True, slots=True)
class _FunctionReading:
    """What was read of a function that stands at a line; an accessor has no definition."""

    line: int
    definition: Definition | None
    code: CodeReading


# what was read of functions, by their texts and what else of a file they depend on: most stay the same from one
# version of a file to the next, at other lines
KnownFunctions = dict[tuple[bytes, str, tuple[str, ...], bool], _FunctionReading]


def build_outline(path: str, text: str, known: KnownFunctions | None = None) -> ModuleOutline | None:
    """Return what a Python file defines, imports and calls; None if it is no module or can't be read.

    ``known`` keeps what is read of functions from one call to the next.
    """
    return attempt(path, _build_outline, path, text, {} if known is None else known)


def _build_outline(path: str, text: str, known: KnownFunctions) -> ModuleOutline | None:
    name = name_module(path)
    tree = parse_source(text) if name else None
    if name is None or tree is None:
        return None
    return _OutlineBuilder(tree, text, name[0], known, is_package=name[1]).build()


class _OutlineBuilder:
    def __init__(
        self, tree: ast.Module, text: str, module: str, known: KnownFunctions, *, is_package: bool
    ) -> None:
        self._tree, self._module, self._is_package, self._known = tree, module, is_package, known
        self._source = SourceText(text)
        self._names = read_names(tree, module, is_package=is_package)
        self._code = CodeReader(self._source)
        self._definitions: dict[str, Definition] = {}
        self._calls: list[CallSite] = []
        self._attributes: dict[str, Definition] = {}
        # those that a constructor sets
        self._settled: set[str] = set()
        self._tables: dict[str, ast.expr] = {}
        self._getattr: FunctionNode | None = None
        self._fills_itself = False
        # classes of this module that make their subclasses data classes too
        self._data_bases: dict[str, ParameterKind] = {}

    def build(self) -> ModuleOutline:
        """Read the module, then each class that is met, outer ones first."""
        waiting: list[DataClassReader] = []
        self._read_body(self._tree.body, None, waiting)
        while waiting:
            owner = waiting.pop(0)
            self._read_body(owner.node.body, owner, waiting)
            definition = self._definitions[owner.name]
            if owner.is_data and definition.line == owner.node.lineno:
                self._definitions[owner.name] = replace(definition, is_data=True, signature=owner.signature)
        for name, attribute in self._attributes.items():
            self._definitions.setdefault(name, attribute)
        return ModuleOutline(
            self._module,
            self._is_package,
            self._definitions,
            self._names.imports,
            tuple(dict.fromkeys(self._names.stars)),
            list_dynamic_names(self._getattr, self._tables) if self._getattr else frozenset(),
            (self._getattr is not None and not gives_only_known(self._getattr)) or self._fills_itself,
            tuple(self._calls),
            frozenset(self._names.typing_only),
        )

    def _read_body(
        self, body: Sequence[ast.stmt], owner: DataClassReader | None, waiting: list[DataClassReader]
    ) -> None:
        prefix = f"{owner.name}." if owner else ""
        for statement, is_conditional in walk_statements(body):
            if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
                self._add_function(statement, owner, is_conditional=is_conditional)
            elif isinstance(statement, ast.ClassDef):
                waiting.append(self._add_class(statement, prefix, is_conditional=is_conditional))
            else:
                self._fills_itself = self._fills_itself or (owner is None and fills_itself(statement))
                for definition in self._list_assigned(statement, prefix, is_conditional=is_conditional):
                    self._define(definition)
                    if owner and isinstance(statement, ast.AnnAssign):
                        owner.add_field(definition, statement)
                reading = self._code.read_code(list_own_expressions(statement), owner.name if owner else "")
                self._calls += reading.calls

    def _define(self, definition: Definition) -> None:
        """Add a definition. A later one replaces it, unless it is what a condition falls back to."""
        if not definition.is_conditional or definition.name not in self._definitions:
            self._definitions[definition.name] = definition

    def _add_function(self, node: FunctionNode, owner: DataClassReader | None, *, is_conditional: bool) -> None:
        if owner:
            owner.add_method(node.name)
        elif node.name == _GETATTR:
            self._getattr = node
        line = min(each.lineno for each in [*node.decorator_list, node])
        text = self._source.get_lines(line, node.end_lineno or line).encode(errors="surrogatepass")
        digest, decorators = hashlib.blake2b(text, digest_size=16).digest(), tuple(self._list_decorators(node))
        key = digest, owner.name if owner else "", decorators, is_conditional
        reading = self._known.get(key)
        if reading is None:
            reading = self._known[key] = self._read_function(node, line, *key[1:])
        shift = line - reading.line
        self._calls += (_move_call(each, shift) for each in reading.code.calls) if shift else reading.code.calls
        for attribute in reading.code.attributes:
            is_constructor = node.name in _CONSTRUCTORS
            if attribute.name not in (self._settled if is_constructor else self._attributes):
                self._attributes[attribute.name] = _move(attribute, shift)
                if is_constructor:
                    self._settled.add(attribute.name)
        if reading.definition:
            self._define(_move(reading.definition, shift))

    def _read_function(
        self,
        node: FunctionNode,
        line: int,
        owner: str,
        decorators: tuple[str, ...],
        is_conditional: bool,  # noqa: FBT001 (a part of the key)
    ) -> _FunctionReading:
        name = f"{owner}.{node.name}" if owner else node.name
        signature = read_signature(node, decorators, self._source)
        outside = self._code.read_code([*node.decorator_list, *_list_defaults(node.args)], owner)
        first = signature.parameters[0].name if owner and signature.parameters and not signature.is_static else ""
        code = self._code.read_method(drop_docstring(node.body), name, owner, first)
        ends = {each.rpartition(".")[2] for each in decorators}
        # a setter stands beside its property; ``_`` is what functions are called that a decorator registers
        is_accessor = node.name == "_" or f"{node.name}.setter" in decorators or not ends.isdisjoint(_ACCESSORS)
        definition = Definition(
            name,
            DefinitionKind.METHOD if owner else DefinitionKind.FUNCTION,
            node.lineno,
            node.end_lineno or node.lineno,
            signature=signature,
            decorators=decorators,
            body=code.body,
            is_abstract=not ends.isdisjoint(_ABSTRACT),
            is_conditional=is_conditional,
        )
        code = replace(code, calls=(*outside.calls, *code.calls))
        return _FunctionReading(line, None if is_accessor else definition, code)

    def _add_class(self, node: ast.ClassDef, prefix: str, *, is_conditional: bool) -> DataClassReader:
        name = f"{prefix}{node.name}"
        bases = tuple(filter(None, (self._resolve(get_head(each)) for each in node.bases)))
        decorators = tuple(self._list_decorators(node))
        self._calls += self._code.read_code([*node.decorator_list, *node.bases, *node.keywords], name).calls
        metaclasses = {self._resolve(each.value).rpartition(".")[2] for each in node.keywords}
        ends = {each.rpartition(".")[2] for each in bases} | metaclasses
        self._define(
            Definition(
                name,
                DefinitionKind.CLASS,
                node.lineno,
                node.end_lineno or node.lineno,
                bases=bases,
                decorators=decorators,
                is_abstract=not ends.isdisjoint(_ABSTRACT_BASES),
                is_conditional=is_conditional,
            )
        )
        inherited = [self._data_bases[base] for base in bases if base in self._data_bases]
        kind = choose_field_kind(node, bases, decorators) or next(iter(inherited), None)
        if inherited or choose_field_kind(node, bases, ()):
            self._data_bases[f"{self._module}.{name}"] = kind or ParameterKind.POSITIONAL
        return DataClassReader(node, name, kind)

    def _list_assigned(self, statement: ast.stmt, prefix: str, *, is_conditional: bool) -> Iterator[Definition]:
        if isinstance(statement, ast.AnnAssign):
            targets: list[ast.expr] = [statement.target]
            value, annotation = statement.value, statement.annotation
        elif isinstance(statement, ast.Assign):
            targets, value, annotation = statement.targets, statement.value, None
        else:
            return
        text = read_default(value, self._source) if prefix else self._source.get_text(value) if value else ""
        for target in targets:
            if isinstance(target, ast.Name) and not self._is_stand_in(target.id, value, prefix):
                if value and not prefix:
                    self._tables[target.id] = value
                yield Definition(
                    f"{prefix}{target.id}",
                    DefinitionKind.FIELD if prefix else DefinitionKind.CONSTANT,
                    statement.lineno,
                    statement.end_lineno or statement.lineno,
                    value=text,
                    annotation=self._source.get_text(annotation) if annotation else "",
                    is_conditional=is_conditional,
                )

    def _is_stand_in(self, name: str, value: ast.expr | None, prefix: str) -> bool:
        """Return whether a name is bound to ``None`` only so that it exists where type checkers see an import."""
        is_none = isinstance(value, ast.Constant) and value.value is None
        return is_none and not prefix and name in self._names.typing_only

    def _list_decorators(self, node: FunctionNode | ast.ClassDef) -> Iterator[str]:
        for each in node.decorator_list:
            name = self._resolve(get_head(each))
            if name:
                yield name

    def _resolve(self, node: ast.expr) -> str:
        name = join_name(node)
        return self._names.resolve(name) if name else ""


def _move(definition: Definition, shift: int) -> Definition:
    if not shift:
        return definition
    return replace(definition, line=definition.line + shift, end_line=definition.end_line + shift)


def _move_call(call: CallSite, shift: int) -> CallSite:
    return CallSite(call.name, call.shape, call.line + shift, call.scope)


def _list_defaults(args: ast.arguments) -> list[ast.AST]:
    return [*args.defaults, *(each for each in args.kw_defaults if each)]
