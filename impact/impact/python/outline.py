"""The outline of a Python file, from its text alone."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from impact.errors import attempt
from impact.python.code_reader import ANY, CodeReader, SourceText, drop_docstring
from impact.python.data_classes import DataClassReader, FieldStyle, choose_style, read_default
from impact.python.models import CallSite, Definition, DefinitionKind, ModuleOutline
from impact.python.module_names import (
    GETATTR,
    fills_itself,
    get_filled_name,
    gives_only_known,
    list_attached,
    list_dynamic_names,
    name_module,
    read_names,
)
from impact.python.signatures import ABSTRACT, join_forms, read_signature, read_value_signature
from impact.python.syntax import (
    Bound,
    DefinitionNode,
    FunctionNode,
    Run,
    get_head,
    is_none,
    join_name,
    list_bound,
    list_own_expressions,
    list_unbound,
    parse_source,
    walk_statements,
)

_ACCESSORS = frozenset({"setter", "deleter", "getter"})

_ABSTRACT_BASES = frozenset({"ABC", "Protocol", "ABCMeta"})

# decorators of functions that are one of several forms under one name
_FORMS = frozenset({"dispatch", "overload", "register"})
_CONSTRUCTORS = frozenset({"__init__", "__post_init__", "__new__", "model_post_init"})


@dataclass(frozen=True, slots=True)
class _FunctionReading:
    """What was read of a function that stands at a line; an accessor has no definition."""

    line: int
    definition: Definition | None
    calls: Sequence[CallSite]
    attributes: Sequence[Definition]
    globals: Sequence[str]


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

        self._definitions: dict[str, Definition] = {}
        self._calls: list[CallSite] = []
        self._attributes: dict[str, Definition] = {}
        # those that a constructor sets
        self._settled: set[str] = set()
        self._tables: dict[str, ast.expr] = {}
        self._getattr: FunctionNode | None = None
        # names by which ``__getattr__`` was bound without a function, and what may give any name
        self._attached: frozenset[str] | None = None
        self._fills_itself = False
        # functions with the names that they bind in the module
        self._globals: list[tuple[str, str]] = []
        # names that only type checkers see, and classes whose objects may have any attribute
        self._typing_only: set[str] = set()
        self._open: set[str] = set()
        # classes of this module that make their subclasses data classes too
        self._styles: dict[str, FieldStyle] = {}

    def build(self) -> ModuleOutline:
        """Read the module, then each class that is met, outer ones first."""
        waiting: list[DataClassReader] = []
        self._read_body(self._tree.body, None, waiting)
        while waiting:
            owner = waiting.pop(0)
            self._read_body(owner.node.body, owner, waiting)
            definition = self._definitions.get(owner.name)
            if definition and owner.style and definition.line == owner.node.lineno:
                self._definitions[owner.name] = replace(
                    definition, is_data=owner.is_data, signature=owner.signature
                )
        for name, attribute in self._attributes.items():
            if name.endswith(f".{ANY}"):
                self._open.add(name)
            else:
                self._definitions.setdefault(name, attribute)
        return self._make_outline()

    def _make_outline(self) -> ModuleOutline:
        names = self._names
        called = {each.name for each in self._calls if not each.scope}
        for function, name in self._globals:
            if function in called and name not in self._definitions:
                line = self._definitions[function].line if function in self._definitions else 1
                self._definitions[name] = Definition(name, DefinitionKind.CONSTANT, line, line)
        has_getattr = self._fills_itself or GETATTR in names.imports
        dynamic = self._attached or frozenset()
        if self._getattr:
            dynamic |= list_dynamic_names(self._getattr, self._tables)
            has_getattr = has_getattr or not gives_only_known(self._getattr)
        elif GETATTR in self._definitions:
            has_getattr = has_getattr or not self._attached
        # what only type checkers see stands for what the module gives when it is asked
        shown = dynamic if not has_getattr else names.own
        return ModuleOutline(
            self._module,
            self._is_package,
            self._definitions,
            {name: each for name, each in names.imports.items() if name not in names.deleted},
            tuple(dict.fromkeys(names.stars)),
            dynamic,
            has_getattr,
            tuple(self._calls),
            frozenset((names.typing_only - shown) | self._typing_only),
            names.exported,
            frozenset(self._open),
        )

    def _read_body(
        self, body: Sequence[ast.stmt], owner: DataClassReader | None, waiting: list[DataClassReader]
    ) -> None:
        prefix = f"{owner.name}." if owner else ""
        for statement, run in walk_statements(body):
            if isinstance(statement, FunctionNode):
                self._add_function(statement, owner, run)
            elif isinstance(statement, ast.ClassDef):
                waiting.append(self._add_class(statement, prefix, run))
            else:
                code = CodeReader(list_own_expressions(statement), self._source, owner.name if owner else "")
                self._calls += code.calls
                self._add_bound(statement, [*list_bound(statement), *code.named], owner, run)
                for name in list_unbound(statement) if run is Run.ALWAYS else ():
                    self._definitions.pop(f"{prefix}{name}", None)

    def _define(self, definition: Definition, run: Run) -> None:
        """Add a definition. A later one replaces it, unless it is what a condition falls back to."""
        name = definition.name
        before = self._definitions.get(name)
        if run is Run.NEVER:
            if before is None and "." in name:
                self._typing_only.add(name)
        elif before is None or name in self._typing_only:
            self._typing_only.discard(name)
        elif before.signature and definition.signature and _are_forms(before, definition, run):
            # of several forms under one name, or in several branches, each takes calls
            definition = replace(before, signature=join_forms(before.signature, definition.signature))
        elif run is Run.MAYBE:
            return
        if run is not Run.NEVER or before is None:
            self._definitions[name] = definition

    def _add_function(self, node: FunctionNode, owner: DataClassReader | None, run: Run) -> None:
        if owner:
            owner.has_constructor = owner.has_constructor or node.name == "__init__"
        elif node.name == GETATTR and run is not Run.NEVER:
            self._getattr = node
        line = min(each.lineno for each in [*node.decorator_list, node])
        text = self._source.get_lines(line, node.end_lineno or line).encode(errors="surrogatepass")
        digest, decorators = hashlib.blake2b(text, digest_size=16).digest(), tuple(self._list_decorators(node))
        key = digest, owner.name if owner else "", decorators, run is not Run.ALWAYS
        reading = self._known.get(key)
        if reading is None:
            reading = self._known[key] = self._read_function(node, line, *key[1:])
        shift = line - reading.line
        self._calls += (CallSite(each.name, each.shape, each.line + shift, each.scope) for each in reading.calls)
        self._globals += ((node.name, each) for each in reading.globals if not owner)
        for attribute in reading.attributes:
            is_constructor = node.name in _CONSTRUCTORS
            if attribute.name.endswith(f".{ANY}") and not is_constructor:
                # other methods set what is there
                continue
            if attribute.name not in (self._settled if is_constructor else self._attributes):
                self._attributes[attribute.name] = _move(attribute, shift)
                if is_constructor:
                    self._settled.add(attribute.name)
        getter = self._definitions.get(f"{owner.name}.{node.name}" if owner else node.name)
        if f"{node.name}.setter" in decorators and getter and getter.signature:
            self._definitions[getter.name] = replace(getter, signature=replace(getter.signature, is_settable=True))
        if reading.definition:
            self._define(_move(reading.definition, shift), run)

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
        defaults = [*node.args.defaults, *filter(None, node.args.kw_defaults)]
        outside = CodeReader([*node.decorator_list, *defaults], self._source, owner)
        first = signature.parameters[0].name if owner and signature.parameters and not signature.is_static else ""
        # it has the class, and calls the object that it makes so
        first = "self" if first and node.name == "__new__" else first
        code = CodeReader(drop_docstring(node.body), self._source, name, owner, first)
        ends = {each.rpartition(".")[2] for each in decorators}
        # a setter stands beside its property; ``_`` is what functions are called that a decorator registers
        is_accessor = node.name == "_" or f"{node.name}.setter" in decorators or not ends.isdisjoint(_ACCESSORS)
        definition = Definition(
            name,
            DefinitionKind.METHOD if owner else DefinitionKind.FUNCTION,
            node.lineno,
            node.end_lineno or node.lineno,
            signature=replace(signature, is_generator=code.is_generator),
            decorators=decorators,
            body=code.body,
            is_abstract=not ends.isdisjoint(ABSTRACT),
            is_conditional=is_conditional,
        )
        calls, attributes = [*outside.calls, *code.calls], [*code.attributes.values()]
        return _FunctionReading(line, None if is_accessor else definition, calls, attributes, code.globals)

    def _add_class(self, node: ast.ClassDef, prefix: str, run: Run) -> DataClassReader:
        name = f"{prefix}{node.name}"
        bases = tuple(filter(None, (self._resolve(get_head(each)) for each in node.bases)))
        decorators = tuple(self._list_decorators(node))
        self._calls += CodeReader([*node.decorator_list, *node.bases, *node.keywords], self._source, name).calls
        metaclasses = tuple(self._resolve(each.value) for each in node.keywords if each.arg == "metaclass")
        ends = {each.rpartition(".")[2] for each in (*bases, *metaclasses)}
        definition = Definition(
            name,
            DefinitionKind.CLASS,
            node.lineno,
            node.end_lineno or node.lineno,
            bases=bases,
            # what else makes objects of it otherwise than others
            decorators=(*decorators, *(each for each in metaclasses if each.rpartition(".")[2] != "ABCMeta")),
            is_abstract=not ends.isdisjoint(_ABSTRACT_BASES),
            is_conditional=run is not Run.ALWAYS,
        )
        self._define(definition, run)
        style = choose_style(node, bases, decorators, self._styles)
        if style and style.is_inherited:
            self._styles[f"{self._module}.{name}"] = style
        return DataClassReader(node, name, style)

    def _add_bound(
        self, statement: ast.stmt, bound: Sequence[Bound], owner: DataClassReader | None, run: Run
    ) -> None:
        """Add what a statement binds that is neither a function nor a class."""
        if fills_itself(statement):
            self._fills_itself = self._fills_itself or owner is None
            self._open.update([owner.name] if owner else [])
        if setting := get_filled_name(statement):
            self._open.add(setting)
        prefix = f"{owner.name}." if owner else ""
        annotation = statement.annotation if isinstance(statement, ast.AnnAssign) else None
        for name, value in bound:
            head, dot, _ = name.partition(".")
            target = self._definitions.get(head) if dot and not owner else None
            # None, so that a name is there where type checkers see an import, is no definition
            is_stand_in = is_none(value) and not prefix and name in self._names.typing_only
            if (dot and not (target and target.kind is DefinitionKind.CLASS)) or is_stand_in:
                continue
            if name == "__slots__" and owner and value:
                self._add_slots(owner.name, value, statement)
            if not owner and not dot:
                if annotation and not value:
                    # an annotation alone binds nothing
                    continue
                if value:
                    self._tables[name] = value
                if name == GETATTR and isinstance(statement, ast.Assign):
                    self._attached = list_attached(statement.value)
            definition = Definition(
                f"{prefix}{name}",
                DefinitionKind.FIELD if prefix or dot else DefinitionKind.CONSTANT,
                statement.lineno,
                statement.end_lineno or statement.lineno,
                signature=read_value_signature(value, self._definitions, self._source) if not prefix else None,
                value=read_default(value, annotation, self._source) if prefix else self._source.get_text(value),
                annotation=self._source.get_text(annotation),
                is_conditional=run is not Run.ALWAYS,
            )
            self._define(definition, Run.ALWAYS if prefix and run is Run.NEVER and not value else run)
            if owner and run is not Run.NEVER:
                owner.add_field(definition, statement)

    def _add_slots(self, owner: str, value: ast.expr, statement: ast.stmt) -> None:
        for node in ast.walk(value):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                name = f"{owner}.{node.value}"
                attribute = Definition(name, DefinitionKind.ATTRIBUTE, statement.lineno, node.end_lineno or 0)
                self._attributes.setdefault(name, attribute)

    def _list_decorators(self, node: DefinitionNode) -> Iterator[str]:
        return filter(None, (self._resolve(get_head(each)) for each in node.decorator_list))

    def _resolve(self, node: ast.expr) -> str:
        name = join_name(node)
        return self._names.resolve(name) if name else ""


def _are_forms(first: Definition, second: Definition, run: Run) -> bool:
    ends = [{each.rpartition(".")[2] for each in definition.decorators} for definition in (first, second)]
    is_branch = run is Run.MAYBE and first.is_conditional and first.kind is second.kind
    return is_branch or not any(map(_FORMS.isdisjoint, ends))


def _move(definition: Definition, shift: int) -> Definition:
    if not shift:
        return definition
    return replace(definition, line=definition.line + shift, end_line=definition.end_line + shift)
