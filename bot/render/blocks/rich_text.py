"""Builders of ``rich_text``, the kind of block in which text is only text: Slack interprets no markup in it.

Links are created here alone, from addresses that code built, and no text that passes here holds a credential.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from itertools import islice
from typing import Any

from bot.domain.text.issue_numbers import NUMBER_PATTERN, parse_digits
from bot.domain.text.redaction import redact_text
from bot.domain.text.strings import collapse_lines, truncate_text

Element = dict[str, Any]
Block = dict[str, Any]

# of one paragraph; each takes some 60 characters of the request besides its text
_MAX_PIECES = 60
_COUNTED_KEYS = frozenset({"text", "url"})
_PIECES = re.compile(r"`(?P<code>[^`]+)`|\*\*(?P<bold>[^*]+)\*\*|" + NUMBER_PATTERN)


def make_text(content: str, *, bold: bool = False, italic: bool = False, code: bool = False) -> Element:
    style = {name: True for name, on in (("bold", bold), ("italic", italic), ("code", code)) if on}
    return {"type": "text", "text": redact_text(content), **({"style": style} if style else {})}


def make_link(url: str, label: str, *, bold: bool = False) -> Element:
    """Return a link to an address that code built."""
    return {"type": "link", "url": url, "text": redact_text(label), **({"style": {"bold": True}} if bold else {})}


def make_instant(instant: datetime, lead: str = "", tail: str = "") -> Element:
    """Return an instant in the time zone and the language of each reader.

    ``lead`` are the words before it in a sentence: without them Slack begins it with a capital letter. ``tail``
    are words behind it that hold for the reader's zone; where Slack can't show that, it is in UTC without them.
    """
    return {
        "type": "date",
        "timestamp": int(instant.timestamp()),
        "format": f"{lead}{{date_short_pretty}} at {{time}}{tail}",
        "fallback": f"{lead}{instant:%Y-%m-%d %H:%M} UTC",
    }


def make_prose(content: str, addresses: Mapping[int, str], limit: int) -> list[Element]:
    """Return external prose on one line: code and bold keep their style, ``#N`` links if N has an address.

    It has up to ``limit`` characters, and as many again for addresses; beyond that it is plain text.
    """
    line, elements, at, room = truncate_text(redact_text(collapse_lines(content)), limit), [], 0, limit
    for piece in islice(_PIECES.finditer(line), _MAX_PIECES):
        element = _make_piece(piece, addresses if room > 0 else {})
        room -= len(element.get("url", ""))
        elements += [make_text(line[at : piece.start()]), element]
        at = piece.end()
    return [element for element in (*elements, make_text(line[at:])) if element["text"]]


def _make_piece(piece: re.Match[str], addresses: Mapping[int, str]) -> Element:
    if piece["code"]:
        return make_text(piece["code"], code=True)
    if piece["bold"]:
        return make_text(piece["bold"], bold=True)
    address = addresses.get(parse_digits(piece["number"]))
    return make_link(address, piece[0]) if address else make_text(piece[0])


def make_section(elements: Iterable[Element]) -> Element:
    return {"type": "rich_text_section", "elements": list(elements)}


def make_bullets(items: Iterable[Iterable[Element]], *, indent: int = 0) -> Element:
    """Return a list; ``indent`` is how deep it stands in others, which follow one another in a block."""
    depth = {"indent": indent} if indent else {}
    sections = [make_section(item) for item in items]
    return {"type": "rich_text_list", "style": "bullet", **depth, "elements": sections}


def make_preformatted(content: str) -> Element:
    """Return lines as code, in which Slack interprets nothing."""
    return {"type": "rich_text_preformatted", "elements": [make_text(content)]}


def make_block(*elements: Element) -> Block:
    return {"type": "rich_text", "elements": list(elements)}


def make_header(content: str) -> Block:
    """Return a headline; Slack allows 150 characters."""
    return {"type": "header", "text": make_plain_text(content, 150)}


def make_context(content: str) -> Block:
    """Return small print, literal and far below the 3,000 characters that Slack allows."""
    return {"type": "context", "elements": [make_plain_text(content, 2_000)]}


def make_plain_text(content: str, limit: int) -> Element:
    """Return a text without markup, on one line, for headers and buttons."""
    text = truncate_text(redact_text(collapse_lines(content)), limit)
    return {"type": "plain_text", "text": text, "emoji": False}


def count_characters(node: Any) -> int:
    """Count what a block adds to the limit of a message: its texts and addresses."""
    count, pending = 0, [node]
    while pending:
        current = pending.pop()
        if isinstance(current, dict):
            count += sum(len(current[name]) for name in _COUNTED_KEYS if isinstance(current.get(name), str))
            pending += [each for each in current.values() if isinstance(each, (dict, list))]
        elif isinstance(current, list):
            pending += current
    return count
