"""Classes whose fields are their constructor: dataclasses, pydantic models, msgspec structs, named tuples."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from impact.python.code_reader import SourceText
from impact.python.models import Definition, Parameter, ParameterKind, Signature
from impact.python.syntax import get_keywords, get_last_name, get_string, join_name

# the last parts of names; ``config`` is how repositories call a dataclass decorator of their own
DECORATORS = frozenset({"dataclass", "define", "frozen", "mutable", "attrs", "pydantic_dataclass", "config"})
MODEL_BASES = ("BaseModel", "BaseSettings", "RootModel")
_POSITIONAL_BASES, _KEYWORD_BASES = ("NamedTuple", "Struct"), (*MODEL_BASES, "TypedDict")
_ATTRS = frozenset({"define", "frozen", "mutable", "attrs"})
_FIELD_CALLS = frozenset({"field", "Field", "attrib", "ib"})
# what is in a class without being one of its fields
_NO_FIELDS = frozenset({"ClassVar", "PrivateAttr"})
_BY_NAME = ("populate_by_name", "validate_by_name", "allow_population_by_field_name")


@dataclass(frozen=True, slots=True)
class FieldStyle:
    """How a class makes a constructor of its fields, if it ``makes`` one. Subclasses of some do the same."""

    kind: ParameterKind
    makes: bool = True
    is_inherited: bool = False
    is_model: bool = False
    is_attrs: bool = False
    is_optional: bool = False
    by_name: bool = False


@dataclass(slots=True)
class DataClassReader:
    """What is known of a class while its body is read. ``fields`` are those that its constructor takes.

    A class with a constructor of its own takes what that takes.
    """

    node: ast.ClassDef
    name: str
    style: FieldStyle | None
    fields: list[Parameter] = field(default_factory=list)
    has_constructor: bool = False
    _by_name_alone: bool = False

    def add_field(self, definition: Definition, statement: ast.stmt) -> None:
        """Note a name, if the constructor takes it: an annotated one, or one with a call of attrs that says so."""
        style = self.style
        call = find_field_call(getattr(statement, "value", None), getattr(statement, "annotation", None))
        if style is None or not (isinstance(statement, ast.AnnAssign) or (style.is_attrs and call)):
            return
        if isinstance(statement, ast.AnnAssign):
            if definition.annotation.rpartition(".")[2] == "KW_ONLY":
                self._by_name_alone = True
                return
            if _is_left_out(definition, statement, call):
                return
        name, default = definition.name.rpartition(".")[2], definition.value or None
        kind = ParameterKind.KEYWORD_ONLY if self._by_name_alone else style.kind
        keywords = get_keywords(call)
        if style.is_model and name.startswith("_"):
            return
        if "kw_only" in keywords:
            is_named = getattr(keywords["kw_only"], "value", False) is True
            kind = ParameterKind.KEYWORD_ONLY if is_named else ParameterKind.POSITIONAL
        # a key of a typed dictionary need not be there
        head = definition.annotation.partition("[")[0].rpartition(".")[2]
        if head == "NotRequired" or (style.is_optional and head != "Required"):
            default = default or "..."
        name = name.lstrip("_") if style.is_attrs else name
        alias = get_string(keywords.get("validation_alias")) or get_string(keywords.get("alias"))
        if alias and (style.is_model or style.is_attrs):
            if style.by_name:
                # either name will do
                default = default or "..."
                self.fields.append(Parameter(name, kind, default, definition.annotation))
            name = alias
        self.fields.append(Parameter(name, kind, default, definition.annotation))

    @property
    def is_data(self) -> bool:
        return self.style is not None and self.style.makes and not self.has_constructor

    @property
    def signature(self) -> Signature | None:
        """The signature of the constructor that its own fields make, without those of its bases."""
        return Signature((Parameter("self"), *self.fields)) if self.style else None


def choose_style(
    node: ast.ClassDef, bases: Sequence[str], decorators: Sequence[str], known: Mapping[str, FieldStyle]
) -> FieldStyle | None:
    """Return how a class makes a constructor of its fields; None for a class that surely makes none."""
    ends = [name.rpartition(".")[2] for name in bases]
    marks = [name for name in decorators if name.rpartition(".")[2] in DECORATORS]
    calls = [each for each in node.decorator_list if isinstance(each, ast.Call)]
    keywords = {each.arg: each.value for each in node.keywords}
    for call in calls:
        keywords |= get_keywords(call)
    inherited = next((known[base] for base in bases if base in known), None)
    is_keyword = getattr(keywords.get("kw_only"), "value", False) is True
    kind = ParameterKind.KEYWORD_ONLY if is_keyword else ParameterKind.POSITIONAL
    if marks:
        is_attrs = marks[0].startswith("attr") or marks[0].rpartition(".")[2] in _ATTRS
        makes = getattr(keywords.get("init"), "value", True) is not False
        return FieldStyle(kind, makes, is_attrs=is_attrs)
    if inherited:
        return replace(inherited, by_name=inherited.by_name or _takes_names(node))
    if any(end.endswith(_KEYWORD_BASES) for end in ends):
        return FieldStyle(
            ParameterKind.KEYWORD_ONLY,
            is_inherited=True,
            is_model=any(end.endswith(MODEL_BASES) for end in ends),
            is_optional=getattr(keywords.get("total"), "value", True) is False,
            by_name=_takes_names(node),
        )
    if any(end.endswith(_POSITIONAL_BASES) for end in ends):
        return FieldStyle(kind, is_inherited="NamedTuple" not in ends)
    # one of the bases may be a model
    return FieldStyle(ParameterKind.KEYWORD_ONLY, makes=False, is_model=True) if node.bases else None


def _takes_names(node: ast.ClassDef) -> bool:
    """Return whether a model takes its fields by their own names, too, where they have others."""
    for statement in node.body:
        name = getattr(statement, "name", "") or join_name(getattr(statement, "targets", [node])[0])
        if name in {"model_config", "Config"}:
            return any(word in ast.dump(statement) for word in _BY_NAME)
    return False


def _is_left_out(definition: Definition, statement: ast.AnnAssign, call: ast.Call | None) -> bool:
    text = definition.annotation.strip("'\"").partition("[")[0].rpartition(".")[2]
    ends = {text, get_last_name(statement.annotation)}
    if isinstance(statement.value, ast.Call):
        ends.add(get_last_name(statement.value))
    return not ends.isdisjoint(_NO_FIELDS) or getattr(get_keywords(call).get("init"), "value", True) is False


def read_default(value: ast.expr | None, annotation: ast.expr | None, source: SourceText) -> str:
    """Return the text of a field's default, also that in ``field(default=…)``; empty if it has none."""
    call = find_field_call(value, annotation)
    if call is None or (value is not None and call is not value):
        return source.get_text(value)
    keywords = get_keywords(call)
    for name, suffix in (("default", ""), ("default_factory", "()"), ("factory", "()")):
        if name in keywords:
            return _get_default_text(keywords[name], source, suffix)
    return _get_default_text(call.args[0], source, "") if call.args else ""


def _get_default_text(value: ast.expr, source: SourceText, suffix: str) -> str:
    is_ellipsis = isinstance(value, ast.Constant) and value.value is ...
    return "" if is_ellipsis else source.get_text(value) + suffix


def find_field_call(value: ast.expr | None, annotation: ast.expr | None) -> ast.Call | None:
    """Return the call that describes a field: its value, or ``Field`` of pydantic in ``Annotated``."""
    if isinstance(value, ast.Call) and get_last_name(value.func) in _FIELD_CALLS:
        return value
    if not isinstance(annotation, ast.Subscript) or get_last_name(annotation) != "Annotated":
        return None
    parts = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else []
    return next((part for part in parts if isinstance(part, ast.Call) and get_last_name(part) == "Field"), None)
