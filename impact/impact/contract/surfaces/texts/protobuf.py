from __future__ import annotations

import re
from collections.abc import Iterator

from impact.contract.models import ContractClass
from impact.contract.surfaces.facts import Fact, shorten_text
from impact.contract.surfaces.texts.cpp_text import strip_comments

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


def list_messages(text: str) -> Iterator[Fact]:
    """Yield the fields of messages with their numbers, the values of enums and the calls of services."""
    stack: list[tuple[str, str]] = []
    clean = strip_comments(text)
    line = 1
    parts = _END.split(clean)
    for piece, end in zip(parts[::2], parts[1::2], strict=False):
        start = line + piece[: len(piece) - len(piece.lstrip())].count("\n")
        line += piece.count("\n")
        if end == "}":
            stack = stack[:-1]
            continue
        kind = stack[-1][0] if stack else ""
        yield from _read_piece(piece[:2000], start, kind, ".".join(name for _, name in stack if name))
        if end == "{":
            opened = _OPEN.match(piece[:2000])
            # the fields of a oneof belong to the message
            is_block = opened is not None and opened[1] != "oneof"
            stack.append((opened[1], opened[2]) if opened and is_block else (kind if opened else "", ""))
            if opened and is_block:
                name = ".".join(part for _, part in stack if part)
                yield Fact(ContractClass.WIRE, name, start, f"{opened[1]} {name}", shape=opened[1])
            if len(stack) > 50:
                return


def _read_piece(piece: str, line: int, kind: str, owner: str) -> Iterator[Fact]:
    if kind in {"message", "extend"} and (match := _FIELD.match(piece)):
        kind_of = " ".join(match["type"].split())
        yield _make_fact(owner, match["name"], line, f"{kind_of} {match['name']} = {match['number']}", piece)
    elif kind == "enum" and (match := _VALUE.match(piece)) and not piece.lstrip().startswith("option"):
        yield _make_fact(owner, match["name"], line, f"{match['name']} = {match['number']}", piece)
    elif kind == "service" and (match := _RPC.match(piece)):
        yield _make_fact(owner, match["name"], line, f"rpc {match['name']}{match['types']}", piece)


def _make_fact(owner: str, name: str, line: int, text: str, piece: str) -> Fact:
    shape = shorten_text(text)
    is_deprecated = bool(_DEPRECATED.search(piece))
    return Fact(
        ContractClass.WIRE, f"{owner}.{name}", line, shape, shape=shape, owner=owner, is_deprecated=is_deprecated
    )
