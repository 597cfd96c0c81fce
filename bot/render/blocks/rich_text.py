"""Builders of ``rich_text``, the kind of block in which text is only text: Slack interprets no markup in it.

Links are created here alone, from addresses that code built, and no text that passes here holds a credential.
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
    """Return a piece of literal text."""
    style = {name: True for name, on in (("bold", bold), ("italic", italic), ("code", code)) if on}
    return {"type": "text", "text": without_secrets(content), **({"style": style} if style else {})}


def link(url: str, label: str) -> Element:
    """Return a link to an address that code built."""
    return {"type": "link", "url": url, "text": without_secrets(label)}


def prose(content: str, addresses: Mapping[int, str], limit: int) -> list[Element]:
    """Return external prose on one line: code and bold keep their style, ``#N`` links if N has an address.

    It has up to ``limit`` characters, and as many again for addresses; beyond that it is plain text.
    """
    line, elements, at, room = shorten(without_secrets(one_line(content)), limit), [], 0, limit
    for piece in islice(_PIECES.finditer(line), _MOST_PIECES):
        element = _piece(piece, addresses if room > 0 else {})
        room -= len(element.get("url", ""))
        elements += [text(line[at : piece.start()]), element]
        at = piece.end()
    return [element for element in (*elements, text(line[at:])) if element["text"]]


def _piece(piece: re.Match[str], addresses: Mapping[int, str]) -> Element:
    """Return the element of a match of ``_PIECES``."""
    if piece["code"]:
        return text(piece["code"], code=True)
    if piece["bold"]:
        return text(piece["bold"], bold=True)
    address = addresses.get(number_of(piece["number"]))
    return link(address, piece[0]) if address else text(piece[0])


def section(elements: Iterable[Element]) -> Element:
    """Return a paragraph."""
    return {"type": "rich_text_section", "elements": list(elements)}


def bullets(items: Iterable[Iterable[Element]]) -> Element:
    """Return a list."""
    return {"type": "rich_text_list", "style": "bullet", "elements": [section(item) for item in items]}


def block(*elements: Element) -> Block:
    """Return a block of paragraphs and lists."""
    return {"type": "rich_text", "elements": list(elements)}


def header(content: str) -> Block:
    """Return a headline; Slack allows 150 characters."""
    return {"type": "header", "text": plain(content, 150)}


def context(content: str) -> Block:
    """Return small print, literal and far below the 3,000 characters that Slack allows."""
    return {"type": "context", "elements": [plain(content, 2_000)]}


def plain(content: str, limit: int) -> Element:
    """Return a text without markup, on one line, for headers and buttons."""
    return {"type": "plain_text", "text": shorten(without_secrets(one_line(content)), limit), "emoji": False}


def characters(node: Any) -> int:
    """Count what a block adds to the limit of a message: its texts and addresses."""
    if isinstance(node, dict):
        own = sum(len(node[name]) for name in ("text", "url") if isinstance(node.get(name), str))
        return own + sum(characters(value) for value in node.values() if isinstance(value, dict | list))
    return sum(map(characters, node)) if isinstance(node, list) else 0
