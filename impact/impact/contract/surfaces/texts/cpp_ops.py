"""Ops that C++ and CUDA code registers with PyTorch, and the variables that it reads."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePosixPath

from impact.contract.models import ContractClass
from impact.contract.surfaces.facts import Fact, make_op, show_default_change
from impact.contract.surfaces.texts.cpp_text import strip_comments

_LIBRARY = re.compile(
    r"\b(?:STABLE_)?TORCH_LIBRARY(?P<kind>_FRAGMENT|_IMPL)?(?:_EXPAND)?\s*\(\s*(?P<space>(?:CONCAT\s*\([^()]{1,200}\)|\w{1,100}))"
    r"\s*,\s*(?P<rest>[^(){}]{1,200})\)\s*\{",
    re.A,
)
_DEF = re.compile(r"\b(?P<library>\w{1,60})\s*\.\s*def\s*\(\s*(?=\"|R\")", re.A)
_LITERAL = re.compile(r'\s*"((?:[^"\\\n]|\\.)*)"')
_NAME = re.compile(r"\s*(?:\w{1,80}::)?(\w{1,120})", re.A)
_EXTENSION = "TORCH_EXTENSION_NAME"
_CPP_READ = re.compile(r"\bgetenv\(\s*\"([A-Za-z][A-Za-z0-9_]{2,79})\"\s*\)", re.A)
# variables of others, which code may read anywhere
_FOREIGN = frozenset(
    ("CUDA", "NCCL", "RCCL", "HIP", "ROCR", "OMP", "KMP", "PYTORCH", "TORCH", "HOME", "PATH", "LD", "USER")
)
_MAX_SCHEMA_PIECES = 200


def list_cpp_ops(path: str, text: str) -> Iterator[Fact]:
    """Yield the ops that ``TORCH_LIBRARY`` blocks define, by the namespace of the block."""
    if "TORCH_LIBRARY" not in text:
        return
    clean = strip_comments(text)
    starts = [0, *(match.end() for match in re.finditer("\n", clean))]
    blocks = [
        (match.start(), match["rest"].rsplit(",", 1)[-1].strip(), _name_space(path, match["space"]), match["kind"])
        for match in _LIBRARY.finditer(clean)
    ]
    is_other_device = "cpu" in PurePosixPath(path).parts
    places = [block[0] for block in blocks]
    for match in _DEF.finditer(clean):
        index = bisect_right(places, match.start()) - 1
        if index < 0 or blocks[index][1] != match["library"] or blocks[index][3] == "_IMPL":
            continue
        schema = _join_literals(clean, match.end())
        name = _NAME.match(schema)
        if name:
            line = bisect_right(starts, match.start())
            # the build for another device defines the same names: whether it still does is unknown
            yield replace(make_op(f"{blocks[index][2]}.{name[1]}", line, schema), is_loose=is_other_device)


def _name_space(path: str, written: str) -> str:
    """Return the namespace as Python sees it; an extension is called by its folder: ``_C``, ``_moe_C``."""
    if _EXTENSION not in written:
        return written
    parent = PurePosixPath(path).parent.name
    extension = (
        "_C" if parent in {"csrc", "cpu", ""} or "csrc" not in PurePosixPath(path).parts else f"_{parent}_C"
    )
    suffix = written.split(",", 1)[1].strip(" )") if "," in written else ""
    return f"{extension}{suffix}"


def _join_literals(text: str, start: int) -> str:
    pieces: list[str] = []
    while len(pieces) < _MAX_SCHEMA_PIECES and (match := _LITERAL.match(text, start)):
        pieces.append(match[1])
        start = match.end()
    return "".join(pieces)


def list_cpp_variables(text: str) -> Iterator[Fact]:
    for number, line in enumerate(text.split("\n"), 1):
        if "getenv" not in line or line.lstrip().startswith("//"):
            continue
        for match in _CPP_READ.finditer(line[:1000]):
            name = match[1]
            if name.split("_", 1)[0] not in _FOREIGN and name == name.upper():
                yield Fact(
                    ContractClass.ENVIRONMENT, name, number, text=show_default_change(name, ""), is_loose=True
                )
