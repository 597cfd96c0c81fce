"""What Dockerfiles and CMake files fix: build arguments, variables of the image, versions of what is built in."""

from __future__ import annotations

import re
from collections.abc import Iterator

from impact.contract.models import ContractClass
from impact.contract.surfaces.facts import Fact, show_default_change
from impact.contract.surfaces.texts.dependencies import make_dependency, read_requirement

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
_SET = re.compile(r"\bset\s*\(\s*(?P<name>\w{1,100})\s+\"?(?P<value>[^\s\")]{1,200})\"?[^)]{0,300}\)", re.A | re.I)
_DECLARE = re.compile(
    r"\bFetchContent_Declare\s*\(\s*(?P<name>[\w-]{1,100}+)(?P<body>[^)]{0,2000}+)\)", re.A | re.I
)
_TAG = re.compile(r"\bGIT_TAG\s+\"?([^\s\")]{1,200})", re.A)
_CMAKE_COMMENT = re.compile(r"#[^\n]*")


def list_dockerfile_facts(text: str) -> Iterator[Fact]:
    """Yield the arguments and variables of a Dockerfile, its base images, and what it installs at a version."""
    bare: dict[str, int] = {}
    valued: set[str] = set()
    for line, instruction in _join_lines(text):
        word, _, rest = instruction.partition(" ")
        if word.upper() in {"ARG", "ENV"}:
            facts = list(_read_variables(word.upper(), rest.strip(), line))
            yield from facts
            valued |= {fact.name for fact in facts}
            names = rest.split() if word.upper() == "ARG" else []
            bare = {name: line for name in names if _BARE.fullmatch(name)} | bare
        elif word.upper() == "FROM":
            yield from _read_image(rest.strip(), line)
        elif word.upper() == "RUN" and "install" in rest:
            yield from _read_installs(rest, line)
    # an argument without a value is declared again in each stage that uses it
    for name, line in bare.items():
        if name not in valued:
            yield Fact(ContractClass.ENVIRONMENT, name, line, text=show_default_change(name, ""))


def _read_installs(rest: str, line: int) -> Iterator[Fact]:
    for match in _PINNED.finditer(rest):
        fact = read_requirement(match[0].strip("\"'"), line)
        if fact is not None:
            yield fact


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
    pairs = [(match[1], match[2]) for match in _ASSIGNMENT.finditer(rest)]
    if word == "ENV" and "=" not in first:
        pairs = [(first, value.strip())]
    for name, written in pairs:
        plain = written.strip("\"'")
        if plain in {f"${name}", f"${{{name}}}"}:
            continue
        if _VERSION_NAME.search(name) and plain:
            yield Fact(ContractClass.DEPENDENCY, name, line, text=f"{name}={plain}"[:200], default=plain)
        elif name not in {"PATH", "DEBIAN_FRONTEND", "LD_LIBRARY_PATH", "PYTHONPATH"}:
            yield Fact(ContractClass.ENVIRONMENT, name, line, text=show_default_change(name, plain), default=plain)


def _read_image(rest: str, line: int) -> Iterator[Fact]:
    words = [word for word in rest.split() if not word.startswith("--")]
    image = words[0] if words else ""
    # a stage or an argument is described where it is defined
    if ":" not in image or "$" in image:
        return
    name, _, tag = image.rpartition(":")
    yield Fact(ContractClass.DEPENDENCY, name, line, text=image[:200], default=tag)


def list_cmake_facts(text: str) -> Iterator[Fact]:
    """Yield the versions that a CMake file sets and the commits of the projects that it builds in."""
    clean = _CMAKE_COMMENT.sub("", text)
    line, place = 1, 0
    for match in _SET.finditer(clean):
        line, place = line + clean.count("\n", place, match.start()), match.start()
        if _VERSION_NAME.search(match["name"]) and "$" not in match["value"]:
            text_of = f"{match['name']} {match['value']}"
            yield Fact(ContractClass.DEPENDENCY, match["name"], line, text=text_of, default=match["value"])
    line, place = 1, 0
    for match in _DECLARE.finditer(clean):
        line, place = line + clean.count("\n", place, match.start()), match.start()
        tag = _TAG.search(match["body"])
        if tag and "$" not in tag[1]:
            tag_line = line + match[0][: match.start("body") - match.start() + tag.start()].count("\n")
            yield make_dependency(match["name"], f"@{tag[1]}", tag_line)
