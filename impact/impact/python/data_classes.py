"""Classes whose fields are their constructor: dataclasses, pydantic models, msgspec structs, named tuples."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field

from impact.python.expressions import SourceText, get_head, join_name
from impact.python.models import Definition, ParameterKind, Signature
from impact.python.signatures import make_constructor

# the last parts of names; ``config`` is how repositories call a dataclass decorator of their own
_DECORATORS = frozenset({"dataclass", "define", "frozen", "mutable", "attrs", "pydantic_dataclass", "config"})
_POSITIONAL_BASES = ("NamedTuple", "Struct")
_KEYWORD_BASES = ("BaseModel", "BaseSettings", "RootModel", "TypedDict")
_FIELD_CALLS = frozenset({"field", "Field", "attrib", "ib"})
_CONSTRUCTOR = "__init__"


@dataclass(slots=True)
class DataClassReader:
    """What is known of a class while its body is read. ``fields`` are those that its constructor takes."""

    node: ast.ClassDef
    name: str
    kind: ParameterKind | None
    fields: list[tuple[Definition, ParameterKind]] = field(default_factory=list)
    has_constructor: bool = False

    def add_method(self, name: str) -> None:
        """Note a method: a class with a constructor of its own takes what that takes."""
        self.has_constructor = self.has_constructor or name == _CONSTRUCTOR

    def add_field(self, definition: Definition, statement: ast.AnnAssign) -> None:
        """Note an annotated name, if the constructor takes it."""
        if self.kind is None:
            return
        if definition.annotation.rpartition(".")[2] == "KW_ONLY":
            self.kind = ParameterKind.KEYWORD_ONLY
        elif not _is_left_out(definition, statement):
            self.fields.append((definition, self.kind))

    @property
    def is_data(self) -> bool:
        return self.kind is not None and not self.has_constructor

    @property
    def signature(self) -> Signature | None:
        """The signature of the constructor that its own fields make, without those of its bases."""
        if not self.is_data:
            return None
        parameters = [make_constructor([definition], kind).parameters[1] for definition, kind in self.fields]
        return Signature((*make_constructor([], ParameterKind.POSITIONAL).parameters, *parameters))


def choose_field_kind(node: ast.ClassDef, bases: Sequence[str], decorators: Sequence[str]) -> ParameterKind | None:
    """Return how the constructor of a data class takes its fields; None for any other class."""
    base_ends = [name.rpartition(".")[2] for name in bases]
    is_decorated = any(name.rpartition(".")[2] in _DECORATORS for name in decorators)
    if any(end.endswith(_KEYWORD_BASES) for end in base_ends):
        return ParameterKind.KEYWORD_ONLY
    if not is_decorated and not any(end.endswith(_POSITIONAL_BASES) for end in base_ends):
        return None
    return ParameterKind.KEYWORD_ONLY if _is_keyword_only(node) else ParameterKind.POSITIONAL


def read_default(value: ast.expr | None, source: SourceText) -> str:
    """Return the text of a field's default, also that in ``field(default=…)``; empty if it has none."""
    if value is None:
        return ""
    if not isinstance(value, ast.Call) or join_name(value.func).rpartition(".")[2] not in _FIELD_CALLS:
        return source.get_text(value)
    keywords = {each.arg: each.value for each in value.keywords}
    for name, suffix in (("default", ""), ("default_factory", "()"), ("factory", "()")):
        if name in keywords:
            return _get_default_text(keywords[name], source, suffix)
    return _get_default_text(value.args[0], source, "") if value.args else ""


def _get_default_text(value: ast.expr, source: SourceText, suffix: str) -> str:
    is_ellipsis = isinstance(value, ast.Constant) and value.value is ...
    return "" if is_ellipsis else source.get_text(value) + suffix


def _is_keyword_only(node: ast.ClassDef) -> bool:
    calls = [each for each in node.decorator_list if isinstance(each, ast.Call)]
    keywords = [*node.keywords, *(keyword for call in calls for keyword in call.keywords)]
    return any(each.arg == "kw_only" and getattr(each.value, "value", False) is True for each in keywords)


def _is_left_out(definition: Definition, statement: ast.AnnAssign) -> bool:
    if join_name(get_head(statement.annotation)).rpartition(".")[2] == "ClassVar":
        return True
    if definition.annotation.strip("'\"").startswith(("ClassVar", "typing.ClassVar")):
        return True
    keywords = statement.value.keywords if isinstance(statement.value, ast.Call) else []
    return any(each.arg == "init" and getattr(each.value, "value", True) is False for each in keywords)
