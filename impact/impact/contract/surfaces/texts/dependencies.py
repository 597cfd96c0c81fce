"""Dependencies and their pins: requirements, ``pyproject.toml``, ``setup.py``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from impact.contract.models import ContractClass
from impact.contract.surfaces.code.python_file import PythonFile, find_argument, get_last_name, read_string
from impact.contract.surfaces.facts import Fact, shorten_text
from impact.contract.surfaces.texts.toml_text import Table, find_key_line, read_strings, read_table

_REQUIREMENT = re.compile(
    r"\s*(?P<name>[A-Za-z0-9][A-Za-z0-9._-]{0,100})\s*(?P<extras>\[[^\]]{0,200}\])?\s*(?P<rest>[^#]{0,500})", re.A
)
_SEPARATORS = re.compile(r"[-_.]{1,100}")
_HASH = re.compile(r"\s--hash=\S{1,200}")
_URL = re.compile(r"(?:git\+)?(?:https?|ssh|file)://\S{1,500}")
_EGG = re.compile(r"#egg=([A-Za-z0-9._-]{1,100})", re.A)


def list_requirements(text: str) -> Iterator[Fact]:
    for number, line in enumerate(text.split("\n"), 1):
        fact = read_requirement(line, number)
        if fact is not None:
            yield fact


def read_requirement(line: str, number: int) -> Fact | None:
    """Describe a requirement; None for an option, a comment or what is none."""
    line = line[:1000].strip().rstrip("\\").strip()
    if not line or line.startswith(("#", "-")):
        return None
    if _URL.match(line):
        return _read_url(line, number)
    match = _REQUIREMENT.match(_HASH.sub("", line))
    if match is None:
        return None
    rest = match["rest"].strip()
    if rest and rest[0] not in "=<>!~;@(,":
        return None
    return make_dependency(match["name"], f"{match['extras'] or ''}{_normalize(rest)}", number)


def _read_url(line: str, number: int) -> Fact:
    """Describe a requirement without a name by the last part of its address."""
    address = line.split(" ", 1)[0]
    egg = _EGG.search(line)
    name = (
        egg[1] if egg else address.split("#")[0].rstrip("/").rsplit("/", 1)[-1].split("@")[0].removesuffix(".git")
    )
    if name.endswith((".whl", ".tar.gz", ".zip")):
        name = name.split("-", 1)[0]
    return make_dependency(name or address, f" @ {address}", number)


def _normalize(rest: str) -> str:
    """Write a constraint without blanks that mean nothing: ``== 2.9.1`` is ``==2.9.1``."""
    if rest.startswith("@"):
        return f" {rest}"
    constraint, mark, marker = rest.partition(";")
    constraint = "".join(constraint.split()).strip("()")
    return f"{constraint}; {' '.join(marker.split())}" if mark else constraint


def make_dependency(name: str, constraint: str, line: int) -> Fact:
    name = _SEPARATORS.sub("-", name).lower()
    text = shorten_text(f"{name}{constraint}")
    return Fact(ContractClass.DEPENDENCY, name, line, text=text, default=constraint)


def list_project_dependencies(text: str, project: Table) -> Iterator[Fact]:
    """Yield the dependencies of a ``pyproject.toml``, and the versions of Python that it runs on."""
    table = read_table(project, "project")
    python = table.get("requires-python")
    if isinstance(python, str):
        yield make_dependency("python", python, find_key_line(text, "requires-python"))
    groups: list[object] = [table.get("dependencies"), read_table(project, "build-system").get("requires")]
    groups += read_table(table, "optional-dependencies").values()
    groups += read_table(project, "dependency-groups").values()
    for group in groups:
        for item in read_strings(group):
            fact = read_requirement(item, 1)
            if fact is not None:
                yield make_dependency(fact.name, fact.default, find_key_line(text, item))


def list_setup_dependencies(file: PythonFile) -> Iterator[Fact]:
    """Yield the literal dependencies of ``setup(…)``."""
    for call, _ in file.calls:
        if get_last_name(call.func) != "setup":
            continue
        python = find_argument(call, "python_requires")
        constraint = read_string(file, python)
        if python is not None and constraint:
            yield make_dependency("python", constraint, python.lineno)
        for value in (find_argument(call, "install_requires"), find_argument(call, "extras_require")):
            yield from _read_requirements(file, value)


def _read_requirements(file: PythonFile, value: ast.expr | None) -> Iterator[Fact]:
    if isinstance(value, ast.Name):
        value = file.constants.get(value.id)
    groups = value.values if isinstance(value, ast.Dict) else [value]
    for group in groups:
        if not isinstance(group, ast.List | ast.Tuple):
            continue
        for item in group.elts:
            fact = read_requirement(read_string(file, item) or "", item.lineno)
            if fact is not None:
                yield fact
