"""What a version of a file states, whatever kind of file it is, and which files define what others depend on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import PurePosixPath

from impact.contract.models import ContractClass
from impact.contract.surfaces.facts import Fact, FileFacts
from impact.contract.surfaces.fields import (
    list_field_classes,
    list_flag_classes,
    list_flag_overrides,
    list_flags,
    make_field_flags,
    replace_default,
)
from impact.contract.surfaces.python_file import build_python_file
from impact.contract.surfaces.registrations import (
    list_endpoints,
    list_metrics,
    list_plugin_groups,
    list_python_ops,
    list_python_variables,
    list_setup_entry_points,
    list_warnings,
)
from impact.contract.surfaces.texts import (
    is_requirements,
    list_requirements,
    list_setup_dependencies,
    list_text_facts,
)
from impact.python.module_names import is_python
from impact.python.syntax import parse_source
from impact.source.models import SourceFile

# upstream's own tests and samples use the contract; they don't define it
_OUTSIDE = frozenset(("tests", "test", ".buildkite", ".github"))
_OUTSIDE_AT_TOP = frozenset(("benchmarks", "tools", "doc", "docs", "testing", "examples"))
_DEVELOPMENT = frozenset(("test", "tests", "dev", "lint", "docs", "benchmarks", "examples"))
_WORD = re.compile(r"[a-z0-9]+")
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


def is_for_development(path: str) -> bool:
    """Return whether a list of requirements is one of tests, documentation or tools, by its path."""
    return not _DEVELOPMENT.isdisjoint(_WORD.findall(path.lower()))


def read_file_facts(file: SourceFile | None) -> FileFacts:
    """List what a version of a file states; it is empty where there is no file."""
    if file is None:
        return FileFacts("")
    path = file.path
    facts: Iterable[Fact] | None = None
    if file.problem is None:
        if is_requirements(path):
            facts = list_requirements(file.text)
        elif is_outside(path):
            facts = ()
        elif is_python(path):
            return _read_python(path, file.text)
        else:
            facts = list_text_facts(path, file.text)
    return FileFacts(path, is_read=False) if facts is None else FileFacts(path, tuple(facts))


def _read_python(path: str, text: str) -> FileFacts:
    is_sure = path.endswith("setup.py") or _CONFIGURATION_FILE.search(path)
    if not (is_sure or any(word in text for word in _HINT_WORDS) or any(each.search(text) for each in _HINTS)):
        return FileFacts(path)
    tree = parse_source(text)
    if tree is None:
        return FileFacts(path, is_read=False)
    python = build_python_file(path, text, tree)
    classes = tuple(list_field_classes(python))
    fields = [field for owner in classes for field in owner.fields]
    facts = [*chain.from_iterable(read(python) for read in _PYTHON_READERS), *fields]
    if PurePosixPath(path).name == "setup.py":
        facts += [*list_setup_entry_points(python), *list_setup_dependencies(python)]
    notices = tuple(list_warnings(python, {field.last_name: field for field in fields}))
    flag_classes, overrides = list_flag_classes(python), list_flag_overrides(python)
    return FileFacts(path, tuple(facts), classes, notices, flag_classes, overrides)


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
    for owner in (each for each in file.classes if each.name in owners):
        for field in owner.fields:
            if field.last_name not in owner.fixed:
                yield from make_field_flags(field, file.overrides.get(field.last_name, {}))


def _resolve(fact: Fact, fields: dict[str, Fact]) -> Fact:
    source = fields.get(fact.reference) if fact.reference else None
    if source is None or (source.reference and not source.is_default_known):
        return fact
    if fact.subject is not ContractClass.FLAG:
        text = fact.text.replace(fact.default, source.default, 1)
        return replace(fact, default=source.default, text=text, is_default_known=True)
    default = "" if source.default == "None" else source.default
    return replace(replace_default(fact, default, is_switch="bool" in source.shape.split()), is_default_known=True)
