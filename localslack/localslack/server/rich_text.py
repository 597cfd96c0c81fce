"""What somebody typed as Slack keeps it beside the text: a block of rich text, as in every message of a person."""

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
    """Return the blocks of a message with that text; none where there is no text."""
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
    for found in _INLINE.finditer(text):
        elements += [_make_text(text[at : found.start()]), _make_inline(found)]
        at = found.end()
    elements.append(_make_text(text[at:]))
    return {"type": "rich_text_section", "elements": [each for each in elements if each.get("text") != ""]}


def _make_inline(found: re.Match[str]) -> Json:
    kind = str(found.lastgroup)
    if found["url"]:
        label = {"text": unescape(found["label"])} if found["label"] else {}
        return {"type": "link", "url": unescape(found["url"]), **label}
    if kind in _STYLES:
        return {**_make_text(found[kind]), "style": {kind: True}}
    name, key = _NAME_ELEMENTS[kind]
    return {"type": name, key: unescape(found[kind])}


def _make_text(text: str) -> Json:
    return {"type": "text", "text": unescape(text)}
