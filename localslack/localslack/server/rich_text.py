"""Typed text as Slack stores it beside the plain text: a block of rich text, as in every person's message."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

Json = dict[str, Any]

_FENCE = re.compile(r"```\n?(.*?)\n?```", re.S)
_INLINE = re.compile(
    r"<@(?P<user>[UW][A-Z0-9]+)(?:\|[^<>]*)?>"
    r"|<#(?P<channel>[CDG][A-Z0-9]+)(?:\|[^<>]*)?>"
    r"|<!subteam\^(?P<usergroup>[A-Z0-9]+)(?:\|[^<>]*)?>"
    r"|<!(?P<broadcast>here|channel|everyone)(?:\|[^<>]*)?>"
    r"|<(?P<url>(?:https?://|mailto:)[^<>|\s]+)(?:\|(?P<label>[^<>]*))?>"
    r"|(?P<bare>https?://[^\s<>|`]+)"
    r"|:(?P<emoji>[a-z0-9_+'-]+):"
    r"|`(?P<code>[^`\n]+)`"
    r"|(?<![\w*])\*(?P<bold>[^\s*](?:[^*\n]*[^\s*])?)\*(?![\w*])"
    r"|(?<!\w)_(?P<italic>[^\s_](?:[^_\n]*[^\s_])?)_(?!\w)"
    r"|(?<![\w~])~(?P<strike>[^\s~](?:[^~\n]*[^\s~])?)~(?![\w~])"
)
_STYLES = ("code", "bold", "italic", "strike")
_NAME_ELEMENTS = {
    "user": ("user", "user_id"),
    "channel": ("channel", "channel_id"),
    "usergroup": ("usergroup", "usergroup_id"),
    "broadcast": ("broadcast", "range"),
    "emoji": ("emoji", "name"),
    "bare": ("link", "url"),
}


def compose_rich_text(text: str) -> list[Json]:
    """Return the blocks of a message with that text; an empty list for an empty text."""
    parts = _FENCE.split(text)
    elements = [
        _make_preformatted(part) if number % 2 else _make_section(part)
        for number, part in enumerate(parts)
        if part
    ]
    return [{"type": "rich_text", "block_id": "typed", "elements": elements}] if elements else []


def _make_preformatted(text: str) -> Json:
    return {"type": "rich_text_preformatted", "elements": [_make_text(text)], "border": 0}


def _make_section(text: str) -> Json:
    elements, at = [], 0
    for match in _INLINE.finditer(text):
        elements += [_make_text(text[at : match.start()]), _make_inline(match)]
        at = match.end()
    elements.append(_make_text(text[at:]))
    return {"type": "rich_text_section", "elements": [each for each in elements if each.get("text") != ""]}


def _make_inline(match: re.Match[str]) -> Json:
    kind = str(match.lastgroup)
    if match["url"]:
        label = {"text": unescape(match["label"])} if match["label"] else {}
        return {"type": "link", "url": unescape(match["url"]), **label}
    if kind in _STYLES:
        return {**_make_text(match[kind]), "style": {kind: True}}
    name, key = _NAME_ELEMENTS[kind]
    return {"type": name, key: unescape(match[kind])}


def _make_text(text: str) -> Json:
    return {"type": "text", "text": unescape(text)}
