"""Classes whose fields are their constructor: dataclasses, pydantic models, msgspec structs, named tuples."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from impact.python.expressions import SourceText, get_head, join_name
from impact.python.models import Definition, Parameter, ParameterKind, Signature

# the last parts of names; ``config`` is how repositories call a dataclass decorator of their own
DECORATORS = frozenset({"dataclass", "define", "frozen", "mutable", "attrs", "pydantic_dataclass", "config"})
MODEL_BASES = ("BaseModel", "BaseSettings", "RootModel")
_POSITIONAL_BASES, _KEYWORD_BASES = ("NamedTuple", "Struct"), (*MODEL_BASES, "TypedDict")
_ATTRS = frozenset({"define", "frozen", "mutable", "attrs"})
_FIELD_CALLS = frozenset({"field", "Field", "attrib", "ib"})
# what is in a class without being one of its fields
_NO_FIELDS = frozenset({"ClassVar", "PrivateAttr"})
_OPTIONAL = "NotRequired"
_BY_NAME = ("populate_by_name", "validate_by_name", "allow_population_by_field_name")
_CONSTRUCTOR = "__init__"


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


# of a class whose bases are not known: one of those may be a model
_GUESS = FieldStyle(ParameterKind.KEYWORD_ONLY, makes=False, is_model=True)


@dataclass(slots=True)
class DataClassReader:
    """What is known of a class while its body is read. ``fields`` are those that its constructor takes."""

    node: ast.ClassDef
    name: str
    style: FieldStyle | None
    source: SourceText
    fields: list[Parameter] = field(default_factory=list)
    has_constructor: bool = False
    _by_name_alone: bool = False

    def __post_init__(self) -> None:
        self.style = self.style or (_GUESS if self.node.bases else None)

    def add_method(self, name: str) -> None:
        """Note a method: a class with a constructor of its own takes what that takes."""
        self.has_constructor = self.has_constructor or name == _CONSTRUCTOR

    def add_field(self, definition: Definition, statement: ast.stmt) -> None:
        """Note a name, if the constructor takes it: an annotated one, or one with a call of attrs that says so."""
        if self.style is None:
            return
        value = getattr(statement, "value", None)
        call = find_field_call(value, getattr(statement, "annotation", None))
        if isinstance(statement, ast.AnnAssign):
            if definition.annotation.rpartition(".")[2] == "KW_ONLY":
                self._by_name_alone = True
            elif not _is_left_out(definition, statement, call):
                self._add(definition, statement, call)
        elif self.style.is_attrs and call is not None:
            self._add(definition, statement, call)

    def _add(self, definition: Definition, statement: ast.stmt, call: ast.Call | None) -> None:
        style = self.style or _GUESS
        name, default = definition.name.rpartition(".")[2], definition.value or None
        kind = ParameterKind.KEYWORD_ONLY if self._by_name_alone else style.kind
        keywords = {each.arg: each.value for each in call.keywords} if call else {}
        if style.is_model and name.startswith("_"):
            return
        if "kw_only" in keywords:
            is_named = getattr(keywords["kw_only"], "value", False) is True
            kind = ParameterKind.KEYWORD_ONLY if is_named else ParameterKind.POSITIONAL
        if _is_optional(definition.annotation, style):
            default = default or "..."
        name = name.lstrip("_") if style.is_attrs else name
        aliases = [keywords[each] for each in ("validation_alias", "alias") if each in keywords]
        alias = next((each.value for each in aliases if isinstance(each, ast.Constant)), None)
        if isinstance(alias, str) and (style.is_model or style.is_attrs):
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
    """Return how a class makes a constructor of its fields; None for any other class."""
    ends = [name.rpartition(".")[2] for name in bases]
    marks = [name for name in decorators if name.rpartition(".")[2] in DECORATORS]
    keywords = {each.arg: each.value for each in _list_keywords(node)}
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
        is_optional = getattr(keywords.get("total"), "value", True) is False
        is_model = any(end.endswith(MODEL_BASES) for end in ends)
        kind = ParameterKind.KEYWORD_ONLY
        return FieldStyle(
            kind, is_inherited=True, is_model=is_model, is_optional=is_optional, by_name=_takes_names(node)
        )
    if any(end.endswith(_POSITIONAL_BASES) for end in ends):
        return FieldStyle(kind, is_inherited="NamedTuple" not in ends)
    return None


def read_default(value: ast.expr | None, annotation: ast.expr | None, source: SourceText) -> str:
    """Return the text of a field's default, also that in ``field(default=…)``; empty if it has none."""
    call = find_field_call(value, annotation)
    if call is None or (value is not None and call is not value):
        return source.get_text(value) if value else ""
    keywords = {each.arg: each.value for each in call.keywords}
    for name, suffix in (("default", ""), ("default_factory", "()"), ("factory", "()")):
        if name in keywords:
            return _get_default_text(keywords[name], source, suffix)
    return _get_default_text(call.args[0], source, "") if call.args else ""


def find_field_call(value: ast.expr | None, annotation: ast.expr | None) -> ast.Call | None:
    """Return the call that describes a field: its value, or ``Field`` of pydantic in ``Annotated``."""
    if isinstance(value, ast.Call) and join_name(value.func).rpartition(".")[2] in _FIELD_CALLS:
        return value
    if not isinstance(annotation, ast.Subscript) or _get_end(annotation) != "Annotated":
        return None
    parts = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else []
    return next((part for part in parts if isinstance(part, ast.Call) and _get_end(part) == "Field"), None)


def _get_end(node: ast.expr) -> str:
    return join_name(get_head(node)).rpartition(".")[2]


def _get_default_text(value: ast.expr, source: SourceText, suffix: str) -> str:
    is_ellipsis = isinstance(value, ast.Constant) and value.value is ...
    return "" if is_ellipsis else source.get_text(value) + suffix


def _list_keywords(node: ast.ClassDef) -> list[ast.keyword]:
    calls = [each for each in node.decorator_list if isinstance(each, ast.Call)]
    return [*node.keywords, *(keyword for call in calls for keyword in call.keywords)]


def _takes_names(node: ast.ClassDef) -> bool:
    """Return whether a model takes its fields by their own names, too, where they have others."""
    for statement in node.body:
        name = getattr(statement, "name", "") or join_name(getattr(statement, "targets", [node])[0])
        if name in {"model_config", "Config"}:
            return any(word in ast.dump(statement) for word in _BY_NAME)
    return False


def _is_optional(annotation: str, style: FieldStyle) -> bool:
    """Return whether a key of a typed dictionary need not be there."""
    head = annotation.partition("[")[0].rpartition(".")[2]
    return head == _OPTIONAL or (style.is_optional and head != "Required")


def _is_left_out(definition: Definition, statement: ast.AnnAssign, call: ast.Call | None) -> bool:
    text = definition.annotation.strip("'\"").partition("[")[0].rpartition(".")[2]
    if text in _NO_FIELDS or _get_end(statement.annotation) in _NO_FIELDS:
        return True
    if isinstance(statement.value, ast.Call) and _get_end(statement.value) in _NO_FIELDS:
        return True
    keywords = call.keywords if call else []
    return any(each.arg == "init" and getattr(each.value, "value", True) is False for each in keywords)
