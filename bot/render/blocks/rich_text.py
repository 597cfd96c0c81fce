"""Builds ``rich_text``, the kind of block in which text is only text: no mention, link or markup comes alive.

Links are made here alone, from addresses that code built, and nothing that passes here holds a credential.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from bot.domain.text.issue_numbers import NUMBER, number_of
from bot.domain.text.redaction import without_secrets
from bot.domain.text.strings import one_line, shorten

Element = dict[str, Any]
Block = dict[str, Any]

# of one paragraph; each takes some 60 characters of the request besides its text
_MOST_PIECES = 60
_PIECES = re.compile(r"`(?P<code>[^`]+)`|\*\*(?P<bold>[^*]+)\*\*|" + NUMBER)


def text(content: str, *, bold: bool = False, italic: bool = False, code: bool = False) -> Element:
    """A piece of literal text."""
    style = {name: True for name, on in (("bold", bold), ("italic", italic), ("code", code)) if on}
    return {"type": "text", "text": without_secrets(content), **({"style": style} if style else {})}


def link(url: str, label: str) -> Element:
    """A link to an address that code built."""
    return {"type": "link", "url": url, "text": without_secrets(label)}


def prose(content: str, addresses: Mapping[int, str], limit: int) -> list[Element]:
    """Prose from outside on one line: code and bold keep their style, ``#N`` links where N has an address.

    Up to ``limit`` characters, and as many again for addresses; what is beyond is plain text.
    """
    line, found, at, room = shorten(without_secrets(one_line(content)), limit), [], 0, limit
    for piece in islice(_PIECES.finditer(line), _MOST_PIECES):
        element = _piece(piece, addresses if room > 0 else {})
        room -= len(element.get("url", ""))
        found += [text(line[at : piece.start()]), element]
        at = piece.end()
    return [element for element in (*found, text(line[at:])) if element["text"]]


def _piece(piece: re.Match[str], addresses: Mapping[int, str]) -> Element:
    if piece["code"]:
        return text(piece["code"], code=True)
    if piece["bold"]:
        return text(piece["bold"], bold=True)
    address = addresses.get(number_of(piece["number"]))
    return link(address, piece[0]) if address else text(piece[0])


def section(elements: Iterable[Element]) -> Element:
    """A paragraph."""
    return {"type": "rich_text_section", "elements": list(elements)}


def bullets(items: Iterable[Iterable[Element]]) -> Element:
    """A list."""
    return {"type": "rich_text_list", "style": "bullet", "elements": [section(item) for item in items]}


def block(*elements: Element) -> Block:
    """A block of paragraphs and lists."""
    return {"type": "rich_text", "elements": list(elements)}


def header(content: str) -> Block:
    """A headline; Slack takes 150 characters of it."""
    return {"type": "header", "text": plain(content, 150)}


def context(content: str) -> Block:
    """Small print, literal; kept far below the 3,000 characters that Slack takes."""
    return {"type": "context", "elements": [plain(content, 2_000)]}


def plain(content: str, limit: int) -> Element:
    """A text without markup, on one line, as headers and buttons have it."""
    return {"type": "plain_text", "text": shorten(without_secrets(one_line(content)), limit), "emoji": False}


def characters(node: Any) -> int:
    """What a block counts against the limit of a message: its texts and addresses."""
    if isinstance(node, dict):
        own = sum(len(node[name]) for name in ("text", "url") if isinstance(node.get(name), str))
        return own + sum(characters(value) for value in node.values() if isinstance(value, dict | list))
    return sum(map(characters, node)) if isinstance(node, list) else 0
