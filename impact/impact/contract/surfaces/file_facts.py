from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import PurePosixPath

from impact.contract.models import ContractClass
from impact.contract.surfaces.code.deprecations import list_deprecations
from impact.contract.surfaces.code.endpoints import list_endpoints
from impact.contract.surfaces.code.entry_points import (
    list_plugin_groups,
    list_project_entry_points,
    list_setup_cfg_entry_points,
    list_setup_entry_points,
)
from impact.contract.surfaces.code.environment import list_python_variables
from impact.contract.surfaces.code.fields import FieldClass, list_field_classes, make_field_fact
from impact.contract.surfaces.code.flags import (
    FlagOverride,
    list_flag_classes,
    list_flag_overrides,
    list_flags,
    make_field_flags,
    replace_default,
)
from impact.contract.surfaces.code.metrics import list_metrics
from impact.contract.surfaces.code.ops import list_python_ops
from impact.contract.surfaces.code.python_file import build_python_file
from impact.contract.surfaces.facts import Fact
from impact.contract.surfaces.scope import is_cmake, is_cpp, is_dockerfile, is_outside, is_requirements
from impact.contract.surfaces.texts.build_files import list_cmake_facts, list_dockerfile_facts
from impact.contract.surfaces.texts.cpp_ops import list_cpp_ops, list_cpp_variables
from impact.contract.surfaces.texts.dependencies import (
    list_project_dependencies,
    list_requirements,
    list_setup_dependencies,
)
from impact.contract.surfaces.texts.protobuf import list_messages
from impact.contract.surfaces.texts.toml_text import parse_toml
from impact.python.module_names import is_python
from impact.python.parsing import parse_source
from impact.source.models import SourceFile

# a file without any of these words states nothing that the surfaces look for
# each is looked for on its own: a pattern that begins with plain text is found ten times as fast
_HINT_WORDS = (
    "environ getenv add_argument option( Option( BaseModel TypedDict Request) Response) deprecat"
    " plugins_by_group entry_points custom_op .define( triton_op"
).split()
_HINTS = tuple(
    map(
        re.compile,
        (
            r"class \w{0,100}(?:Config|Args|Settings)\b",
            r"Struct\b",
            r"_GROUP\b",
            r"@\w{1,40}\.(?:get|post|put|delete|patch|head|options|websocket|route|api_route)\(",
            r"\.add_(?:get|post|put|delete|patch|api_route|route|url_rule|api_websocket_route)\(",
            *(
                rf"{name}\w{{0,20}}\("
                for word in ("gauge", "counter", "histogram", "summary")
                for name in (word, word.capitalize())
            ),
        ),
    )
)
_MAX_LEVELS = 3
# folders in which every data class is configuration
_CONFIGURATION_FILE = re.compile(r"(?:^|/)config(?:/|\.py$)")


@dataclass(frozen=True, slots=True)
class FileFacts:
    """The facts of a file. ``classes`` are those whose fields are among them; ``notices`` are deprecations.

    ``flag_classes`` are those whose fields become flags, and ``overrides`` what code changes of such flags.
    """

    path: str
    facts: tuple[Fact, ...] = ()
    classes: tuple[FieldClass, ...] = ()
    notices: tuple[Fact, ...] = ()
    flag_classes: frozenset[str] = frozenset()
    overrides: Mapping[str, FlagOverride] = field(default_factory=dict)
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


def _has_hint(text: str) -> bool:
    return any(word in text for word in _HINT_WORDS) or any(hint.search(text) for hint in _HINTS)


def _read_python(file: SourceFile) -> FileFacts:
    if not (file.path.endswith("setup.py") or _CONFIGURATION_FILE.search(file.path) or _has_hint(file.text)):
        return FileFacts(file.path)
    tree = parse_source(file.text)
    if tree is None:
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
    notices = tuple(list_deprecations(python, words))
    return FileFacts(
        file.path,
        own,
        classes,
        notices,
        flag_classes=list_flag_classes(python),
        overrides=list_flag_overrides(python),
    )


def _read_other(file: SourceFile) -> FileFacts:
    if PurePosixPath(file.path).name == "pyproject.toml":
        project = parse_toml(file.text)
        if project is None:
            return FileFacts(file.path, is_read=False)
        dependencies = _make_local(list_project_dependencies(file.text, project))
        return FileFacts(file.path, (*dependencies, *list_project_entry_points(file.text, project)))
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


def join_files(files: list[FileFacts]) -> list[FileFacts]:
    """Add what only all files of a version together say: flags made of inherited fields, and their defaults."""
    files = [
        replace(file, facts=(*file.facts, *facts))
        for file, facts in zip(files, _list_field_flags(files), strict=True)
    ]
    fields = {
        fact.name: fact for file in files for fact in file.facts if fact.subject is ContractClass.CONFIGURATION
    }
    return [replace(file, facts=tuple(_resolve(fact, fields) for fact in file.facts)) for file in files]


def _list_field_flags(files: list[FileFacts]) -> Iterator[list[Fact]]:
    known = {name for file in files for name in file.flag_classes}
    classes = [item for file in files for item in file.classes] if known else []
    # a class below a class below one that is known: more levels are not seen
    for _ in range(_MAX_LEVELS):
        known |= {item.name for item in classes if known.intersection(item.bases)}
    for file in files:
        owners = [item for item in file.classes if item.name in known]
        settable = [item for owner in owners for item in owner.fields if item.is_settable]
        yield [fact for item in settable for fact in make_field_flags(item, file.overrides.get(item.name))]


def _resolve(fact: Fact, fields: dict[str, Fact]) -> Fact:
    source = fields.get(fact.reference) if fact.reference else None
    if source is None or (source.reference and not source.is_default_known):
        return fact
    if fact.subject is not ContractClass.FLAG:
        text = fact.text.replace(fact.default, source.default, 1)
        return replace(fact, default=source.default, text=text, is_default_known=True)
    default = "" if source.default == "None" else source.default
    is_switch = "bool" in source.shape.split()
    return replace(replace_default(fact, default, is_switch=is_switch), is_default_known=True)
