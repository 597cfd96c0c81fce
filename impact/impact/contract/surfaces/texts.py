"""Facts of files that are no Python: dependencies, entry points, Dockerfiles, CMake, C++ and protobuf."""

from __future__ import annotations

import ast
import configparser
import re
import tomllib
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import PurePosixPath
from typing import Any

from impact.contract.models import ContractClass
from impact.contract.surfaces.facts import (
    Fact,
    PythonFile,
    find_argument,
    list_elements,
    make_entry_point,
    make_op,
    make_variable,
    shorten_text,
)
from impact.contract.surfaces.registrations import OP_NAME

# dots in one line of TOML, and characters of it in which lines are looked for: each search reads all of them
_MAX_DOTS, _MAX_SEARCHED = 1_000, 20_000
_CPP = frozenset((".cpp", ".cc", ".cxx", ".cu", ".cuh", ".h", ".hpp", ".hip", ".mm"))


def is_requirements(path: str) -> bool:
    place = PurePosixPath(path)
    is_listing = "requirements" in place.name or "constraints" in place.name or place.parent.name == "requirements"
    return place.suffix in {".txt", ".in"} and is_listing


def is_dockerfile(path: str) -> bool:
    name = PurePosixPath(path).name
    return name.startswith(("Dockerfile", "Containerfile")) or name.endswith((".Dockerfile", ".dockerfile"))


def list_text_facts(path: str, text: str) -> Iterable[Fact] | None:
    """Return what a file states that is no Python and no list of requirements; None if it can't be parsed."""
    place = PurePosixPath(path)
    if place.name == "pyproject.toml":
        # the parser takes the square of the parts of a key
        if any(line.count(".") > _MAX_DOTS for line in text.split("\n")):
            return None
        try:
            return _list_project_facts(text, tomllib.loads(text))
        except (ValueError, RecursionError):
            return None
    if place.suffix in _CPP:
        return chain(_list_cpp_ops(path, text), _list_cpp_variables(text))
    if is_dockerfile(path):
        return _list_dockerfile_facts(text)
    if place.suffix == ".cmake" or place.name == "CMakeLists.txt":
        return _list_cmake_facts(text)
    if place.suffix == ".proto":
        return _list_messages(text)
    return _list_setup_cfg_entry_points(text) if place.name == "setup.cfg" else ()


# --- dependencies

_REQUIREMENT = re.compile(
    r"\s*(?P<name>[A-Za-z0-9][A-Za-z0-9._-]{0,100})\s*(?P<extras>\[[^\]]{0,200}\])?\s*(?P<rest>[^#]{0,500})", re.A
)
_SEPARATORS = re.compile(r"[-_.]{1,100}")
_HASH = re.compile(r"\s--hash=\S{1,200}")
_URL = re.compile(r"(?:git\+)?(?:https?|ssh|file)://\S{1,500}")
_EGG = re.compile(r"#egg=([A-Za-z0-9._-]{1,100})", re.A)


def list_requirements(text: str) -> Iterator[Fact]:
    return chain.from_iterable(_list_requirement(line, number) for number, line in enumerate(text.split("\n"), 1))


def _list_requirement(line: str, number: int) -> Iterator[Fact]:
    """Yield the requirement of a line; nothing for an option, a comment or what is none."""
    line = line[:1000].strip().rstrip("\\").strip()
    if not line or line.startswith(("#", "-")):
        return
    if _URL.match(line):
        # one without a name has the last part of its address
        address = line.split(" ", 1)[0]
        egg = _EGG.search(line)
        last = address.split("#")[0].rstrip("/").rsplit("/", 1)[-1].split("@")[0].removesuffix(".git")
        name = egg[1] if egg else last
        name = name.split("-", 1)[0] if name.endswith((".whl", ".tar.gz", ".zip")) else name
        yield _make_dependency(name or address, f" @ {address}", number)
        return
    match = _REQUIREMENT.match(_HASH.sub("", line))
    rest = match["rest"].strip() if match else ""
    if match and rest[:1] in ("", *"=<>!~;@(,"):
        constraint, mark, marker = rest.partition(";")
        # blanks mean nothing: ``== 2.9.1`` is ``==2.9.1``
        plain = "".join(constraint.split()).strip("()") + (f"; {' '.join(marker.split())}" if mark else "")
        plain = f" {rest}" if rest.startswith("@") else plain
        yield _make_dependency(match["name"], f"{match['extras'] or ''}{plain}", number)


def _make_dependency(name: str, constraint: str, line: int) -> Fact:
    name = _SEPARATORS.sub("-", name).lower()
    return _make_pin(name, line, shorten_text(f"{name}{constraint}"), constraint)


def _make_pin(name: str, line: int, text: str, version: str) -> Fact:
    return Fact(ContractClass.DEPENDENCY, name, line, text, version, is_local=True)


def list_setup_dependencies(file: PythonFile) -> Iterator[Fact]:
    """Yield the literal dependencies of ``setup(…)``."""
    for call, _ in file.list_calls("setup".__eq__):
        python = find_argument(call, "python_requires")
        constraint = file.read_string(python)
        if python is not None and constraint:
            yield _make_dependency("python", constraint, python.lineno)
        for name in ("install_requires", "extras_require"):
            value = file.resolve_name(find_argument(call, name))
            groups = value.values if isinstance(value, ast.Dict) else [value]
            for item in chain.from_iterable(map(list_elements, groups)):
                yield from _list_requirement(file.read_string(item), item.lineno)


# --- pyproject.toml and setup.cfg


def _list_project_facts(text: str, project: dict[str, Any]) -> Iterator[Fact]:
    """Yield the dependencies of a project, the versions of Python that it runs on, and its entry points."""
    table = _read_table(project, "project")
    python = table.get("requires-python")
    if isinstance(python, str):
        yield _make_dependency("python", python, _find_line(text, "requires-python"))
    lists = [table.get("dependencies"), _read_table(project, "build-system").get("requires")]
    lists += _read_table(table, "optional-dependencies").values()
    lists += _read_table(project, "dependency-groups").values()
    for item in chain.from_iterable(each for each in lists if isinstance(each, list)):
        if isinstance(item, str):
            yield from (replace(fact, line=_find_line(text, item)) for fact in _list_requirement(item, 1))
    plugins = _read_table(table, "entry-points")
    groups = {"console_scripts": _read_table(table, "scripts"), "gui_scripts": _read_table(table, "gui-scripts")}
    groups |= {name: _read_table(plugins, name) for name in plugins}
    for group, entries in groups.items():
        for name, target in entries.items():
            if isinstance(target, str):
                yield make_entry_point(group, name, target, _find_line(text, name, target))


def _read_table(table: dict[str, Any], key: str) -> dict[str, Any]:
    """Return a table within a table; an empty one if it is missing or something else."""
    inner = table.get(key)
    return inner if isinstance(inner, dict) else {}


def _find_line(text: str, *words: str) -> int:
    """Return the first line with all the words, or 1: the parser keeps none."""
    lines = enumerate(text[:_MAX_SEARCHED].split("\n"), 1)
    return next((number for number, line in lines if all(word in line for word in words)), 1)


def _list_setup_cfg_entry_points(text: str) -> Iterator[Fact]:
    parser = configparser.RawConfigParser(strict=False, delimiters=("=",))
    try:
        parser.read_string(text)
    except configparser.Error:
        return
    section = "options.entry_points"
    for group, lines in parser.items(section) if parser.has_section(section) else ():
        for line in lines.split("\n"):
            name, mark, target = (part.strip() for part in line.partition("="))
            if mark:
                yield make_entry_point(group, name, target, _find_line(text, name, target))


# --- Dockerfiles and CMake

_ASSIGNMENT = re.compile(r"([A-Za-z_]\w{0,100})=(\"(?:[^\"\\]|\\.){0,500}\"|'[^']{0,500}'|\S{0,500})", re.A)
_BARE = re.compile(r"[A-Za-z_]\w{1,100}", re.A)
_VERSION_NAME = re.compile(
    r"(?:_VERSIONS?|_VER|_REF|_COMMIT|_BRANCH|_TAG|_REVISION|_SHA)(?:_[A-Z0-9]{1,20})?$|_IMAGE$", re.A | re.I
)
_PINNED = re.compile(
    r"[\"']?(?<![A-Za-z0-9])[A-Za-z0-9][A-Za-z0-9._-]{1,80}(?:\[[a-z0-9,_-]{1,80}\])?"
    r"(?:==|~=|>=|<=|<|>|!=)[^\s\"'\\&;]{1,80}",
    re.A,
)
# how each image finds programs and libraries
_PATHS = frozenset(("PATH", "DEBIAN_FRONTEND", "LD_LIBRARY_PATH", "PYTHONPATH"))
_SET = re.compile(r"\bset\s*\(\s*(?P<name>\w{1,100})\s+\"?(?P<value>[^\s\")]{1,200})\"?[^)]{0,300}\)", re.A | re.I)
_DECLARE = re.compile(
    r"\bFetchContent_Declare\s*\(\s*(?P<name>[\w-]{1,100}+)(?P<body>[^)]{0,2000}+)\)", re.A | re.I
)
_TAG = re.compile(r"\bGIT_TAG\s+\"?([^\s\")]{1,200})", re.A)
_CMAKE_COMMENT = re.compile(r"#[^\n]*")


def _list_dockerfile_facts(text: str) -> Iterator[Fact]:
    """Yield the arguments and variables of a Dockerfile, its base images, and what it installs at a version."""
    bare: dict[str, int] = {}
    valued: set[str] = set()
    for line, instruction in _join_lines(text):
        word, _, rest = map(str.strip, instruction.partition(" "))
        word = word.upper()
        if word in {"ARG", "ENV"}:
            for fact in _read_variables(word, rest, line):
                valued.add(fact.name)
                yield fact
            names = rest.split() if word == "ARG" else ()
            bare = {name: line for name in names if _BARE.fullmatch(name)} | bare
        elif word == "FROM":
            image = next((each for each in rest.split() if not each.startswith("--")), "")
            name, mark, tag = image.rpartition(":")
            # a stage or an argument is described where it is defined
            if mark and "$" not in image:
                yield _make_pin(name, line, image[:200], tag)
        elif word == "RUN" and "install" in rest:
            for match in _PINNED.finditer(rest):
                yield from _list_requirement(match[0].strip("\"'"), line)
    # an argument without a value is declared again in each stage that uses it
    for name, line in bare.items():
        if name not in valued:
            yield replace(make_variable(name, line), is_local=True)


def _join_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the instructions, each as one line, with the number of their first one."""
    start, parts = 0, list[str]()
    for number, line in enumerate(text.split("\n"), 1):
        plain = line.strip()
        if plain.startswith("#") or (not plain and parts):
            continue
        start = start if parts else number
        parts.append(plain.removesuffix("\\").strip())
        if not plain.endswith("\\"):
            yield start, " ".join(parts)
            parts = []
    if parts:
        yield start, " ".join(parts)


def _read_variables(word: str, rest: str, line: int) -> Iterator[Fact]:
    first, _, value = rest.partition(" ")
    is_plain = word == "ENV" and "=" not in first
    for name, written in [(first, value.strip())] if is_plain else _ASSIGNMENT.findall(rest):
        plain = written.strip("\"'")
        if plain in {f"${name}", f"${{{name}}}"}:
            continue
        if _VERSION_NAME.search(name) and plain:
            yield _make_pin(name, line, f"{name}={plain}"[:200], plain)
        elif name not in _PATHS:
            yield replace(make_variable(name, line, plain), is_local=True)


def _list_cmake_facts(text: str) -> Iterator[Fact]:
    """Yield the versions that a CMake file sets and the commits of the projects that it builds in."""
    clean = _CMAKE_COMMENT.sub("", text)
    starts = _list_starts(clean)
    for match in _SET.finditer(clean):
        name, value = match["name"], match["value"]
        if _VERSION_NAME.search(name) and "$" not in value:
            yield _make_pin(name, bisect_right(starts, match.start()), f"{name} {value}", value)
    for match in _DECLARE.finditer(clean):
        tag = _TAG.search(clean, *match.span("body"))
        if tag and "$" not in tag[1]:
            yield _make_dependency(match["name"], f"@{tag[1]}", bisect_right(starts, tag.start()))


def _list_starts(text: str) -> list[int]:
    """Return where each line begins."""
    return [0, *(match.end() for match in re.finditer("\n", text))]


# --- C++ and CUDA

# what begins with a quote and has no end goes to the end of its line
_TOKEN = re.compile(r"""//[^\n]*|/\*.*?(?:\*/|\Z)|"(?:[^"\\\n]|\\.)*+"?|'(?:[^'\\\n]|\\[^\n]{1,8})'""", re.S)
_NOT_BREAK = re.compile(r"[^\n]")
_LIBRARY = re.compile(
    r"\b(?:STABLE_)?TORCH_LIBRARY(?P<kind>_FRAGMENT|_IMPL)?(?:_EXPAND)?\s*\(\s*(?P<space>(?:CONCAT\s*\([^()]{1,200}\)|\w{1,100}))"
    r"\s*,\s*(?P<rest>[^(){}]{1,200})\)\s*\{",
    re.A,
)
_DEF = re.compile(r"\b(?P<library>\w{1,60})\s*\.\s*def\s*\(\s*(?=\"|R\")", re.A)
_LITERAL = re.compile(r'\s*"((?:[^"\\\n]|\\.)*)"')
_EXTENSION = "TORCH_EXTENSION_NAME"
_CPP_READ = re.compile(r"\bgetenv\(\s*\"([A-Z][A-Z0-9_]{2,79})\"\s*\)", re.A)
# variables of others, which code may read anywhere
_FOREIGN = frozenset(
    ("CUDA", "NCCL", "RCCL", "HIP", "ROCR", "OMP", "KMP", "PYTORCH", "TORCH", "HOME", "PATH", "LD", "USER")
)
_MAX_SCHEMA_PIECES = 200


def _list_cpp_ops(path: str, text: str) -> Iterator[Fact]:
    """Yield the ops that ``TORCH_LIBRARY`` blocks define, by the namespace of the block."""
    if "TORCH_LIBRARY" not in text:
        return
    clean = _strip_comments(text)
    starts = _list_starts(clean)
    blocks = list(_LIBRARY.finditer(clean))
    places = [block.start() for block in blocks]
    is_other_device = "cpu" in PurePosixPath(path).parts
    for match in _DEF.finditer(clean):
        index = bisect_right(places, match.start()) - 1
        block = blocks[index] if index >= 0 else None
        library = block["rest"].rsplit(",", 1)[-1].strip() if block and block["kind"] != "_IMPL" else ""
        if block is None or library != match["library"]:
            continue
        pieces, end = list[str](), match.end()
        while len(pieces) < _MAX_SCHEMA_PIECES and (piece := _LITERAL.match(clean, end)):
            pieces.append(piece[1])
            end = piece.end()
        schema = "".join(pieces)
        if name := OP_NAME.match(schema):
            line = bisect_right(starts, match.start())
            fact = make_op(f"{_name_space(path, block['space'])}.{name[1]}", line, schema)
            # the build for another device defines the same names: whether it still does is unknown
            yield replace(fact, is_loose=is_other_device)


def _name_space(path: str, written: str) -> str:
    """Return the namespace as Python sees it; an extension is called by its folder: ``_C``, ``_moe_C``."""
    if _EXTENSION not in written:
        return written
    folders = PurePosixPath(path).parts[:-1]
    is_own = "csrc" in folders and folders[-1] not in {"csrc", "cpu"}
    suffix = written.split(",", 1)[1].strip(" )") if "," in written else ""
    return f"{f'_{folders[-1]}_C' if is_own else '_C'}{suffix}"


def _list_cpp_variables(text: str) -> Iterator[Fact]:
    for number, line in enumerate(text.split("\n"), 1):
        if "getenv" in line and not line.lstrip().startswith("//"):
            for name in _CPP_READ.findall(line[:1000]):
                if name.split("_", 1)[0] not in _FOREIGN:
                    yield make_variable(name, number, is_loose=True)


def _strip_comments(text: str) -> str:
    """Replace comments by blanks, so that offsets and line numbers stay; what is in strings stays."""
    return _TOKEN.sub(lambda match: _NOT_BREAK.sub(" ", match[0]) if match[0][0] == "/" else match[0], text)


# --- protobuf

_OPEN = re.compile(r"\s*(message|enum|service|oneof|extend)\s+([A-Za-z_][\w.]{0,200})\s*$", re.A)
_FIELD = re.compile(
    r"\s*(?P<type>(?:(?:optional|repeated|required)\s+)?(?:map\s*<[^<>]{1,200}>|[A-Za-z_.][\w.]{0,200}))"
    r"\s+(?P<name>[A-Za-z_]\w{0,200})\s*=\s*(?P<number>\d{1,10})",
    re.A,
)
_VALUE = re.compile(r"\s*(?P<name>[A-Za-z_]\w{0,200})\s*=\s*(?P<number>-?(?:0x)?[0-9a-fA-F]{1,10})", re.A)
_RPC = re.compile(r"\s*rpc\s+(?P<name>[A-Za-z_]\w{0,200})\s*(?P<types>\(.*)", re.A | re.S)
_END = re.compile(r"([{};])")
_DEPRECATED = re.compile(r"\bdeprecated\s*=\s*true\b")


def _list_messages(text: str) -> Iterator[Fact]:
    """Yield the fields of messages with their numbers, the values of enums and the calls of services."""
    stack: list[tuple[str, str]] = []
    line = 1
    parts = _END.split(_strip_comments(text))
    for whole, end in zip(parts[::2], parts[1::2], strict=False):
        start = line + whole[: len(whole) - len(whole.lstrip())].count("\n")
        line += whole.count("\n")
        if end == "}":
            stack = stack[:-1]
            continue
        piece, kind = whole[:2000], stack[-1][0] if stack else ""
        if named := _read_piece(piece, kind):
            name, shape = named[0], shorten_text(named[1])
            owner = ".".join(name for _, name in stack if name)
            fact = Fact(ContractClass.WIRE, f"{owner}.{name}", start, shape, shape=shape, owner=owner)
            yield replace(fact, is_deprecated=bool(_DEPRECATED.search(piece)))
        if end == "{":
            opened = _OPEN.match(piece)
            if opened and opened[1] != "oneof":
                stack.append((opened[1], opened[2]))
                name = ".".join(part for _, part in stack if part)
                yield Fact(ContractClass.WIRE, name, start, f"{opened[1]} {name}", shape=opened[1])
            else:
                # the fields of a oneof belong to the message
                stack.append((kind if opened else "", ""))
            if len(stack) > 50:
                return


def _read_piece(piece: str, kind: str) -> tuple[str, str] | None:
    """Return the name and the text of a field, value or call in a block of some kind."""
    if kind in {"message", "extend"} and (match := _FIELD.match(piece)):
        return match["name"], f"{' '.join(match['type'].split())} {match['name']} = {match['number']}"
    if kind == "enum" and (match := _VALUE.match(piece)) and not piece.lstrip().startswith("option"):
        return match["name"], f"{match['name']} = {match['number']}"
    if kind == "service" and (match := _RPC.match(piece)):
        return match["name"], f"rpc {match['name']}{match['types']}"
    return None
