"""Fields of classes that others fill: configuration, requests and responses, messages between processes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from impact.contract.models import ContractClass
from impact.contract.surfaces.code.annotations import show_annotation
from impact.contract.surfaces.code.python_file import (
    PythonFile,
    find_argument,
    get_last_name,
    name_expression,
    read_comment,
    read_docstring,
    read_string,
    shorten_long,
    show_expression,
)
from impact.contract.surfaces.deadlines import is_deprecation, read_deadline
from impact.contract.surfaces.facts import Fact, shorten_text
from impact.python.data_classes import find_field_call

_CONFIGURATION = re.compile(r"(?:Config|Args|Settings)$")
_DATA_DECORATORS = frozenset(("dataclass", "config", "define", "attrs", "frozen", "pydantic_dataclass"))
# a default that is the one of another class's field
_REFERENCE = re.compile(
    r"(?P<owner>[A-Z]\w{0,100}(?:Config|Args))\.(?P<field>[a-z_]\w{0,100})"
    r"|get_field\((?P<class>[A-Z]\w{0,100}), ['\"](?P<name>\w{1,100})['\"]\)",
    re.A,
)
# folders of code that processes of one installation use to talk to each other
_BETWEEN_PROCESSES = frozenset(("distributed", "executor", "engine", "ipc", "rpc", "transfer", "grpc"))


@dataclass(frozen=True, slots=True)
class ClassField:
    """A field as a class body declares it. ``description`` is all that the file says about it."""

    name: str
    line: int
    annotation: str
    default: str
    description: str
    alias: str = ""
    is_required: bool = False
    is_settable: bool = True
    is_deprecated: bool = False

    @property
    def is_private(self) -> bool:
        """Whether its name says that others leave it alone."""
        return self.name.startswith("_")


@dataclass(frozen=True, slots=True)
class FieldClass:
    """A class with its own fields and the last parts of its bases' names."""

    name: str
    subject: ContractClass
    bases: tuple[str, ...]
    is_positional: bool
    fields: tuple[ClassField, ...]


def list_field_classes(file: PythonFile) -> Iterator[FieldClass]:
    """Yield the classes of a file whose fields others fill, with those of their bases' kind."""
    models: set[str] = set()
    structs: dict[str, bool] = {}
    field_classes: dict[str, FieldClass] = {}
    for node, scope in file.classes:
        bases = tuple(filter(None, (get_last_name(_strip_subscript(base)) for base in node.bases)))
        is_array = _is_array(node, bases, structs)
        if _is_struct(node, structs):
            structs[node.name] = is_array
        elif any(base.endswith(("BaseModel", "BaseSettings")) or base in models for base in bases):
            models.add(node.name)
        if node.name in structs:
            subject: ContractClass | None = ContractClass.WIRE
        else:
            subject = _choose_subject(file.path, node, bases, is_model=node.name in models)
        if subject is not None and not scope.startswith("_"):
            fields = tuple(field for field in list_class_fields(file, node) if not field.is_private)
            field_classes[node.name] = FieldClass(
                node.name, subject, bases, is_array and node.name in structs, fields
            )
            yield field_classes[node.name]
    for name, value in file.constants.items():
        target = field_classes.get(value.id) if isinstance(value, ast.Name) else None
        # a second name is a class that adds nothing: one of its own may take its place
        if target and name not in field_classes:
            yield replace(target, name=name, bases=(target.name,), fields=())


def _strip_subscript(node: ast.expr) -> ast.expr:
    return node.value if isinstance(node, ast.Subscript) else node


def _is_struct(node: ast.ClassDef, structs: Mapping[str, bool]) -> bool:
    names = [name_expression(base) for base in node.bases]
    return any(name in {"msgspec.Struct", "Struct"} or name in structs for name in names)


def _is_array(node: ast.ClassDef, bases: tuple[str, ...], structs: Mapping[str, bool]) -> bool:
    """Return whether a struct is sent as an array, in which the place of a field counts."""
    for keyword in node.keywords:
        if keyword.arg == "array_like" and isinstance(keyword.value, ast.Constant):
            return keyword.value.value is True
    return any(structs.get(base, False) for base in bases)


def _choose_subject(
    path: str, node: ast.ClassDef, bases: tuple[str, ...], *, is_model: bool
) -> ContractClass | None:
    parts = PurePosixPath(path).parts
    is_api = "entrypoints" in parts or "protocol" in parts[-1]
    if is_api and (
        is_model or any(base == "TypedDict" or base.endswith(("Request", "Response")) for base in bases)
    ):
        return ContractClass.API_FIELD
    if _is_configuration(path, node, is_model=is_model):
        return ContractClass.CONFIGURATION
    return ContractClass.WIRE if is_model and _BETWEEN_PROCESSES.intersection(parts) else None


def _is_configuration(path: str, node: ast.ClassDef, *, is_model: bool) -> bool:
    decorators = [item.func if isinstance(item, ast.Call) else item for item in node.decorator_list]
    if not is_model and not any(get_last_name(item) in _DATA_DECORATORS for item in decorators):
        return False
    file = PurePosixPath(path)
    return bool(_CONFIGURATION.search(node.name)) or "config" in file.parts[:-1] or file.name == "config.py"


def list_class_fields(file: PythonFile, node: ast.ClassDef) -> Iterator[ClassField]:
    for index, statement in enumerate(node.body):
        if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name):
            continue
        annotation = show_annotation(statement.annotation)
        if annotation.startswith(("ClassVar", "typing.ClassVar")) or statement.target.id == "model_config":
            continue
        documentation = read_docstring(node.body, index)
        comment = read_comment(file, statement.lineno)
        yield _read_field(file, statement, annotation, f"{documentation} {comment}".strip())


def _read_field(file: PythonFile, statement: ast.AnnAssign, annotation: str, description: str) -> ClassField:
    name = statement.target.id if isinstance(statement.target, ast.Name) else ""
    call = find_field_call(statement.value, statement.annotation)
    if call is None:
        default = show_expression(statement.value)
        return ClassField(
            name, statement.lineno, annotation, default, description, is_required=statement.value is None
        )
    default, is_required = _read_field_default(call)
    if statement.value is not None and statement.value is not call:
        default, is_required = show_expression(statement.value), False
    deprecated = find_argument(call, "deprecated")
    notes = [read_string(file, find_argument(call, key)) or "" for key in ("description", "deprecated")]
    alias = find_argument(call, "validation_alias") or find_argument(call, "alias")
    init = find_argument(call, "init")
    return ClassField(
        name,
        statement.lineno,
        annotation,
        default,
        shorten_long(" ".join([*notes, description])),
        alias=show_expression(alias),
        is_required=is_required,
        is_settable=not (isinstance(init, ast.Constant) and init.value is False),
        is_deprecated=isinstance(deprecated, ast.Constant) and bool(deprecated.value),
    )


def _read_field_default(call: ast.Call) -> tuple[str, bool]:
    position = 0 if get_last_name(call.func) == "Field" else None
    default = find_argument(call, "default", position)
    if default is not None and not (isinstance(default, ast.Constant) and default.value is ...):
        return show_expression(default), False
    factory = find_argument(call, "default_factory")
    if isinstance(factory, ast.Lambda):
        return show_expression(factory.body), False
    empty = {"list": "[]", "dict": "{}", "set": "set()", "tuple": "()"}
    name = show_expression(factory)
    return (empty.get(name, f"{name}()"), False) if factory is not None else ("", True)


def read_reference(value: str) -> str:
    """Return the field that a default names, ``ModelConfig.dtype``; empty if it is a value of its own."""
    match = _REFERENCE.fullmatch(value)
    return f"{match['owner'] or match['class']}.{match['field'] or match['name']}" if match else ""


def make_field_fact(owner: FieldClass, field: ClassField, place: int) -> Fact:
    """Describe a field as a fact; of one that is sent in an array the text names its place."""
    is_deprecated = field.is_deprecated or is_deprecation(field.description)
    alias = f" as {field.alias}" if field.alias else ""
    position = f" (position {place + 1})" if owner.is_positional else ""
    value = f" = {field.default}" if field.default else ""
    return Fact(
        owner.subject,
        f"{owner.name}.{field.name}",
        field.line,
        text=shorten_text(f"{field.name}: {field.annotation}{value}{alias}{position}"),
        default="required" if field.is_required else field.default,
        shape=f"{field.annotation}{alias}",
        help=field.description,
        reference=read_reference(field.default),
        is_deprecated=is_deprecated,
        deadline=read_deadline(field.description) if is_deprecated else None,
    )
