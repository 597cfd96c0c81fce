"""What a version of a file states, whatever kind of file it is, and which files define what others depend on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import PurePosixPath

from impact.contract.models import ContractClass
from impact.contract.surfaces.endpoints import list_endpoints
from impact.contract.surfaces.facts import Fact
from impact.contract.surfaces.fields import FieldClass, list_field_classes, make_field_fact
from impact.contract.surfaces.flags import (
    FlagOverride,
    list_flag_classes,
    list_flag_overrides,
    list_flags,
    make_field_flags,
    replace_default,
)
from impact.contract.surfaces.python_file import build_python_file
from impact.contract.surfaces.registrations import (
    list_metrics,
    list_plugin_groups,
    list_python_ops,
    list_setup_entry_points,
)
from impact.contract.surfaces.texts import (
    list_cmake_facts,
    list_cpp_ops,
    list_cpp_variables,
    list_dockerfile_facts,
    list_messages,
    list_project_dependencies,
    list_project_entry_points,
    list_requirements,
    list_setup_cfg_entry_points,
    list_setup_dependencies,
    parse_toml,
)
from impact.contract.surfaces.variables import list_python_variables, list_warnings
from impact.python.module_names import is_python
from impact.python.syntax import parse_source
from impact.source.models import SourceFile

# upstream's own tests and samples use the contract; they don't define it
_OUTSIDE = frozenset(("tests", "test", ".buildkite", ".github"))
_OUTSIDE_AT_TOP = frozenset(("benchmarks", "tools", "doc", "docs", "testing", "examples"))
_DEVELOPMENT = frozenset(("test", "tests", "dev", "lint", "docs", "benchmarks", "examples"))
_WORD = re.compile(r"[a-z0-9]+")
_CPP = frozenset((".cpp", ".cc", ".cxx", ".cu", ".cuh", ".h", ".hpp", ".hip", ".mm"))
# a file without any of these words states nothing that the surfaces look for
# each is looked for on its own: a pattern that begins with plain text is found ten times as fast
_HINT_WORDS = (
    "environ getenv add_argument option( Option( BaseModel TypedDict Request) Response) deprecat"
    " plugins_by_group entry_points custom_op .define( triton_op"
).split()
_METRICS = [name for word in ("gauge", "counter", "histogram", "summary") for name in (word, word.capitalize())]
_HINTS = [
    re.compile(pattern)
    for pattern in (
        r"class \w{0,100}(?:Config|Args|Settings)\b",
        r"Struct\b",
        r"_GROUP\b",
        r"@\w{1,40}\.(?:get|post|put|delete|patch|head|options|websocket|route|api_route)\(",
        r"\.add_(?:get|post|put|delete|patch|api_route|route|url_rule|api_websocket_route)\(",
        *(rf"{name}\w{{0,20}}\(" for name in _METRICS),
    )
]
_PYTHON_READERS = (
    list_python_variables,
    list_flags,
    list_endpoints,
    list_metrics,
    list_python_ops,
    list_plugin_groups,
)
_MAX_LEVELS = 3
# folders in which every data class is configuration
_CONFIGURATION_FILE = re.compile(r"(?:^|/)config(?:/|\.py$)")


def is_outside(path: str) -> bool:
    """Return whether a file is a test, a sample or documentation, which define no contract."""
    folders = PurePosixPath(path).parts[:-1]
    return not _OUTSIDE.isdisjoint(folders) or not _OUTSIDE_AT_TOP.isdisjoint(folders[:1])


def is_dockerfile(path: str) -> bool:
    name = PurePosixPath(path).name
    return name.startswith(("Dockerfile", "Containerfile")) or name.endswith((".Dockerfile", ".dockerfile"))


def is_for_development(path: str) -> bool:
    """Return whether a list of requirements is one of tests, documentation or tools, by its path."""
    return not _DEVELOPMENT.isdisjoint(_WORD.findall(path.lower()))


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
    path = PurePosixPath(file.path)
    is_listing = "requirements" in path.name or "constraints" in path.name or path.parent.name == "requirements"
    if path.suffix in {".txt", ".in"} and is_listing:
        return FileFacts(file.path, _make_local(list_requirements(file.text)))
    if is_outside(file.path):
        return FileFacts(file.path)
    return _read_python(file) if is_python(file.path) else _read_other(file)


def _make_local(facts: Iterable[Fact]) -> tuple[Fact, ...]:
    return tuple(replace(fact, is_local=True) for fact in facts)


def _read_python(file: SourceFile) -> FileFacts:
    text = file.text
    is_sure = file.path.endswith("setup.py") or _CONFIGURATION_FILE.search(file.path)
    if (
        not is_sure
        and not any(word in text for word in _HINT_WORDS)
        and not any(each.search(text) for each in _HINTS)
    ):
        return FileFacts(file.path)
    tree = parse_source(text)
    if tree is None:
        return FileFacts(file.path, is_read=False)
    python = build_python_file(file.path, text, tree)
    classes = tuple(list_field_classes(python))
    fields = [
        make_field_fact(owner, field, place) for owner in classes for place, field in enumerate(owner.fields)
    ]
    facts = [*chain.from_iterable(read(python) for read in _PYTHON_READERS), *fields]
    if PurePosixPath(file.path).name == "setup.py":
        facts += [*list_setup_entry_points(python), *_make_local(list_setup_dependencies(python))]
    return FileFacts(
        file.path,
        tuple(facts),
        classes,
        tuple(list_warnings(python, {fact.name.rpartition(".")[2]: fact for fact in fields})),
        list_flag_classes(python),
        list_flag_overrides(python),
    )


def _read_other(file: SourceFile) -> FileFacts:
    path, text = PurePosixPath(file.path), file.text
    facts: Iterable[Fact] = ()
    if path.name == "pyproject.toml":
        project = parse_toml(text)
        if project is None:
            return FileFacts(file.path, is_read=False)
        dependencies = _make_local(list_project_dependencies(text, project))
        facts = chain(dependencies, list_project_entry_points(text, project))
    elif path.suffix in _CPP:
        facts = chain(list_cpp_ops(file.path, text), list_cpp_variables(text))
    elif is_dockerfile(file.path):
        facts = _make_local(list_dockerfile_facts(text))
    elif path.suffix == ".cmake" or path.name == "CMakeLists.txt":
        facts = _make_local(list_cmake_facts(text))
    elif path.suffix == ".proto":
        facts = list_messages(text)
    elif path.name == "setup.cfg":
        facts = list_setup_cfg_entry_points(text)
    return FileFacts(file.path, tuple(facts))


def join_files(files: list[FileFacts]) -> list[FileFacts]:
    """Add what only all files of a version together say: flags made of inherited fields, and their defaults."""
    known = {name for file in files for name in file.flag_classes}
    classes = [item for file in files for item in file.classes] if known else []
    # a class below a class below one that is known: more levels are not seen
    for _ in range(_MAX_LEVELS):
        known |= {item.name for item in classes if known.intersection(item.bases)}
    files = [replace(file, facts=(*file.facts, *_list_field_flags(file, known))) for file in files]
    fields = {
        fact.name: fact for file in files for fact in file.facts if fact.subject is ContractClass.CONFIGURATION
    }
    return [replace(file, facts=tuple(_resolve(fact, fields) for fact in file.facts)) for file in files]


def _list_field_flags(file: FileFacts, owners: set[str]) -> Iterator[Fact]:
    for member in chain.from_iterable(each.fields for each in file.classes if each.name in owners):
        if member.is_settable:
            yield from make_field_flags(member, file.overrides.get(member.name, FlagOverride()))


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
