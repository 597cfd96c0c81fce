"""Fields of classes that others fill: configuration, requests and responses, messages between processes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from impact.contract.models import ContractClass
from impact.contract.surfaces.facts import Fact, read_notice, shorten_text
from impact.contract.surfaces.python_file import (
    PythonFile,
    find_argument,
    get_last_name,
    name_expression,
    read_comment,
    read_string,
    shorten_long,
    show_annotation,
    show_expression,
)
from impact.python.code_reader import is_text
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
_EMPTY = {"list": "[]", "dict": "{}", "set": "set()", "tuple": "()"}


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
    # whether a struct is sent as an array, in which the place of a field counts
    structs: dict[str, bool] = {}
    field_classes: dict[str, FieldClass] = {}
    for node, scope in file.list_nodes(ast.ClassDef):
        heads = [base.value if isinstance(base, ast.Subscript) else base for base in node.bases]
        bases = tuple(filter(None, map(get_last_name, heads)))
        names = [name_expression(base) for base in node.bases]
        if any(name in {"msgspec.Struct", "Struct"} or name in structs for name in names):
            marks = [each.value for each in node.keywords if each.arg == "array_like"]
            mark = marks[0] if marks else None
            is_inherited = any(structs.get(base, False) for base in bases)
            structs[node.name] = mark.value is True if isinstance(mark, ast.Constant) else is_inherited
        elif any(base.endswith(("BaseModel", "BaseSettings")) or base in models for base in bases):
            models.add(node.name)
        is_struct = node.name in structs
        subject = _choose_subject(file.path, node, bases, is_struct=is_struct, is_model=node.name in models)
        if subject is not None and not scope.startswith("_"):
            fields = tuple(field for field in _list_class_fields(file, node) if not field.name.startswith("_"))
            made = FieldClass(node.name, subject, bases, structs.get(node.name, False), fields)
            field_classes[node.name] = made
            yield made
    for name, value in file.constants.items():
        target = field_classes.get(value.id) if isinstance(value, ast.Name) else None
        # a second name is a class that adds nothing: one of its own may take its place
        if target and name not in field_classes:
            yield replace(target, name=name, bases=(target.name,), fields=())


def _choose_subject(
    path: str, node: ast.ClassDef, bases: tuple[str, ...], *, is_struct: bool, is_model: bool
) -> ContractClass | None:
    if is_struct:
        return ContractClass.WIRE
    *folders, file = PurePosixPath(path).parts
    is_api = "entrypoints" in folders or "protocol" in file
    is_typed = any(base == "TypedDict" or base.endswith(("Request", "Response")) for base in bases)
    if is_api and (is_model or is_typed):
        return ContractClass.API_FIELD
    decorators = [item.func if isinstance(item, ast.Call) else item for item in node.decorator_list]
    is_data = is_model or any(get_last_name(item) in _DATA_DECORATORS for item in decorators)
    if is_data and (_CONFIGURATION.search(node.name) or "config" in folders or file == "config.py"):
        return ContractClass.CONFIGURATION
    return ContractClass.WIRE if is_model and _BETWEEN_PROCESSES.intersection((*folders, file)) else None


def _list_class_fields(file: PythonFile, node: ast.ClassDef) -> Iterator[ClassField]:
    for statement, after in zip(node.body, [*node.body[1:], None], strict=True):
        if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name):
            continue
        annotation = show_annotation(statement.annotation)
        if annotation.startswith(("ClassVar", "typing.ClassVar")) or statement.target.id == "model_config":
            continue
        # a text after a field is its documentation
        text = getattr(getattr(after, "value", None), "value", "") if after and is_text(after) else ""
        description = f"{shorten_long(text)} {read_comment(file, statement.lineno)}".strip()
        yield _read_field(file, statement, statement.target.id, annotation, description)


def _read_field(
    file: PythonFile, statement: ast.AnnAssign, name: str, annotation: str, description: str
) -> ClassField:
    value = statement.value
    call = find_field_call(value, statement.annotation)
    if call is None:
        default = show_expression(value)
        return ClassField(name, statement.lineno, annotation, default, description, is_required=value is None)
    if value is not None and value is not call:
        default, is_required = show_expression(value), False
    else:
        default, is_required = _read_field_default(call)
    deprecated, init = find_argument(call, "deprecated"), find_argument(call, "init")
    notes = [read_string(file, find_argument(call, key)) or "" for key in ("description", "deprecated")]
    alias = find_argument(call, "validation_alias") or find_argument(call, "alias")
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
    """Return the default that the call of a field names, and whether there is none."""
    default = find_argument(call, "default", 0 if get_last_name(call.func) == "Field" else None)
    if default is not None and not (isinstance(default, ast.Constant) and default.value is ...):
        return show_expression(default), False
    factory = find_argument(call, "default_factory")
    if isinstance(factory, ast.Lambda):
        return show_expression(factory.body), False
    name = show_expression(factory)
    return (_EMPTY.get(name, f"{name}()"), False) if factory is not None else ("", True)


def read_reference(value: str) -> str:
    """Return the field that a default names, ``ModelConfig.dtype``; empty if it is a value of its own."""
    match = _REFERENCE.fullmatch(value)
    return f"{match['owner'] or match['class']}.{match['field'] or match['name']}" if match else ""


def make_field_fact(owner: FieldClass, field: ClassField, place: int) -> Fact:
    """Describe a field as a fact; of one that is sent in an array the text names its place."""
    alias = f" as {field.alias}" if field.alias else ""
    position = f" (position {place + 1})" if owner.is_positional else ""
    value = f" = {field.default}" if field.default else ""
    fact = Fact(
        owner.subject,
        f"{owner.name}.{field.name}",
        field.line,
        text=shorten_text(f"{field.name}: {field.annotation}{value}{alias}{position}"),
        default="required" if field.is_required else field.default,
        shape=f"{field.annotation}{alias}",
        help=field.description,
        reference=read_reference(field.default),
    )
    return read_notice(fact, field.description, is_deprecated=field.is_deprecated)
