"""Tokens between angle brackets in Slack's texts: names, links and dates."""

from __future__ import annotations

import re

from markupsafe import Markup, escape

from localslack.blockkit.dates import render_date
from localslack.blockkit.links import get_safe_address, render_link
from localslack.blockkit.names import Names

# an address takes 3,000 characters and its label some more
TOKEN = re.compile(r"<([^<>\n]{1,4000})>")
BROADCASTS = ("here", "channel", "everyone")
_MENTION = Markup('<span class="bk-mention{}">{}</span>')
_USER = re.compile(r"@([UWB][A-Z0-9]+)")
_CHANNEL = re.compile(r"#([CDG][A-Z0-9]+)")
_GROUP = re.compile(r"!subteam\^([A-Z0-9]+)")
_DATE = re.compile(r"!date\^(-?\d{1,15})\^([^^]+)(?:\^(.+))?")
_ENTITY = re.compile(r"&(amp|lt|gt);")
_SIGNS = {"amp": "&", "lt": "<", "gt": ">"}


def decode_entities(text: str) -> str:
    """Return the text with Slack's three entities decoded; Slack has no others."""
    return _ENTITY.sub(lambda match: _SIGNS[match[1]], text)


def render_token(body: str, names: Names) -> Markup | None:
    """Render the token, or return None if it is not one."""
    target, _, label = body.partition("|")
    label = decode_entities(label)
    if target.startswith(("@", "#")):
        return _render_name(target, label, names)
    if target.startswith("!"):
        return _render_command(target, label, names)
    address = get_safe_address(decode_entities(target))
    return render_link(address, label or address.removeprefix("mailto:")) if address else None


def render_user(user_id: str, names: Names, label: str = "") -> Markup:
    """Render a user by name; a mention of the reader is highlighted."""
    mine = " bk-mention-me" if user_id and user_id == names.reader else ""
    return _MENTION.format(mine, f"@{names.users.get(user_id) or label or user_id}")


def render_channel(channel_id: str, names: Names, label: str = "") -> Markup:
    """Render a channel by name."""
    return _MENTION.format(" bk-channel", f"#{names.channels.get(channel_id) or label or channel_id}")


def render_group(name: str) -> Markup:
    """Render a user group."""
    return _MENTION.format(" bk-broadcast", f"@{name.removeprefix('@')}")


def _render_name(target: str, label: str, names: Names) -> Markup | None:
    if match := _USER.fullmatch(target):
        return render_user(match[1], names, label)
    match = _CHANNEL.fullmatch(target)
    return render_channel(match[1], names, label) if match else None


def _render_command(target: str, label: str, names: Names) -> Markup | None:
    if target[1:].lower() in BROADCASTS:
        return render_group(target[1:].lower())
    if match := _GROUP.fullmatch(target):
        return render_group(label or match[1])
    if match := _DATE.fullmatch(target):
        return render_date(match[1], decode_entities(match[2]), names, decode_entities(match[3] or ""), label)
    return escape(label) if label else None
