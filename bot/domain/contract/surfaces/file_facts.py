"""All facts of one version of a file."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import PurePosixPath

from bot.domain.contract.models import ContractClass
from bot.domain.contract.surfaces.code.deprecations import list_deprecations
from bot.domain.contract.surfaces.code.endpoints import list_endpoints
from bot.domain.contract.surfaces.code.entry_points import (
    list_plugin_groups,
    list_project_entry_points,
    list_setup_cfg_entry_points,
    list_setup_entry_points,
)
from bot.domain.contract.surfaces.code.environment import list_python_variables
from bot.domain.contract.surfaces.code.fields import FieldClass, list_field_classes, make_field_fact
from bot.domain.contract.surfaces.code.flags import list_flags, show_flag
from bot.domain.contract.surfaces.code.metrics import list_metrics
from bot.domain.contract.surfaces.code.ops import list_python_ops
from bot.domain.contract.surfaces.code.python_file import build_python_file
from bot.domain.contract.surfaces.facts import Fact
from bot.domain.contract.surfaces.scope import (
    is_cmake,
    is_cpp,
    is_dockerfile,
    is_outside,
    is_python,
    is_requirements,
)
from bot.domain.contract.surfaces.texts.build_files import list_cmake_facts, list_dockerfile_facts
from bot.domain.contract.surfaces.texts.cpp_ops import list_cpp_ops, list_cpp_variables
from bot.domain.contract.surfaces.texts.dependencies import (
    list_project_dependencies,
    list_requirements,
    list_setup_dependencies,
)
from bot.domain.contract.surfaces.texts.protobuf import list_messages
from bot.domain.contract.surfaces.texts.toml_text import parse_toml
from bot.domain.source.models import SourceFile

# a file without any of these words states nothing that the surfaces look for
_HINT = re.compile(
    r"environ|getenv|add_argument|[oO]ption\(|Config\b|Args\b|Settings\b|BaseModel|Struct\b|TypedDict|route"
    r"|\.(?:get|post)\(|_cls\(|Gauge|Counter|Histogram|custom_op|\.define\(|triton_op|entry_points"
    r"|plugins_by_group|deprecat"
)


@dataclass(frozen=True, slots=True)
class FileFacts:
    """The facts of a file. ``classes`` are those whose fields are among them; ``notices`` are deprecations."""

    path: str
    facts: tuple[Fact, ...] = ()
    classes: tuple[FieldClass, ...] = ()
    notices: tuple[Fact, ...] = ()
    # a file that is broken in one version says nothing of what it stated
    is_read: bool = True


def read_file_facts(file: SourceFile | None) -> FileFacts:
    """List what a version of a file states; it is empty where there is no file."""
    if file is None:
        return FileFacts("")
    if file.problem is not None:
        return FileFacts(file.path, is_read=False)
    if is_requirements(file.path):
        return FileFacts(file.path, _make_local(list_requirements(file.text)))
    if is_outside(file.path):
        return FileFacts(file.path)
    if is_python(file.path):
        return _read_python(file)
    return _read_other(file)


def _make_local(facts: Iterator[Fact]) -> tuple[Fact, ...]:
    return tuple(replace(fact, is_local=True) for fact in facts)


def _read_python(file: SourceFile) -> FileFacts:
    if not _HINT.search(file.text) and not file.path.endswith("setup.py"):
        return FileFacts(file.path)
    try:
        tree = ast.parse(file.text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return FileFacts(file.path, is_read=False)
    python = build_python_file(file.path, file.text, tree)
    classes = tuple(list_field_classes(python))
    fields = [
        make_field_fact(owner, field, place) for owner in classes for place, field in enumerate(owner.fields)
    ]
    facts = chain(
        list_python_variables(python),
        list_flags(python),
        list_endpoints(python),
        list_metrics(python),
        list_python_ops(python),
        list_plugin_groups(python),
        fields,
    )
    setup = chain(list_setup_entry_points(python), _make_local(list_setup_dependencies(python)))
    own = tuple(chain(facts, setup)) if PurePosixPath(file.path).name == "setup.py" else tuple(facts)
    words = {fact.name.rsplit(".", 1)[-1]: fact for fact in fields}
    return FileFacts(file.path, own, classes, tuple(list_deprecations(python, words)))


def _read_other(file: SourceFile) -> FileFacts:
    if PurePosixPath(file.path).name == "pyproject.toml":
        return _read_project(file)
    facts: tuple[Fact, ...] = ()
    if is_cpp(file.path):
        facts = (*list_cpp_ops(file.path, file.text), *list_cpp_variables(file.text))
    elif is_dockerfile(file.path):
        facts = _make_local(list_dockerfile_facts(file.text))
    elif is_cmake(file.path):
        facts = _make_local(list_cmake_facts(file.text))
    elif file.path.endswith(".proto"):
        facts = tuple(list_messages(file.text))
    elif PurePosixPath(file.path).name == "setup.cfg":
        facts = tuple(list_setup_cfg_entry_points(file.text))
    return FileFacts(file.path, facts)


def _read_project(file: SourceFile) -> FileFacts:
    project = parse_toml(file.text)
    if project is None:
        return FileFacts(file.path, is_read=False)
    dependencies = _make_local(list_project_dependencies(file.text, project))
    return FileFacts(file.path, (*dependencies, *list_project_entry_points(file.text, project)))


def resolve_references(files: list[FileFacts]) -> list[FileFacts]:
    """Fill in the defaults of flags that are those of a configuration field, as far as it is among the files."""
    fields = {
        fact.name: fact for file in files for fact in file.facts if fact.subject is ContractClass.CONFIGURATION
    }
    return [replace(file, facts=tuple(_resolve(fact, fields) for fact in file.facts)) for file in files]


def _resolve(fact: Fact, fields: dict[str, Fact]) -> Fact:
    if not fact.reference:
        return fact
    field = fields.get(fact.reference)
    if field is None:
        return fact
    default = "" if field.default == "None" else field.default
    return replace(fact, default=default, text=show_flag(fact.name, default), is_default_known=True)
