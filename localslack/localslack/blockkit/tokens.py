"""What stands between angle brackets in Slack's texts: names, links and dates."""

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
    """Return the text with the three signs that Slack has entities for; no other entity is one."""
    return _ENTITY.sub(lambda found: _SIGNS[found[1]], text)


def render_token(body: str, names: Names) -> Markup | None:
    """Return what stands there for the token; None if it is none."""
    said, _, label = body.partition("|")
    label = decode_entities(label)
    if said.startswith(("@", "#")):
        return _render_name(said, label, names)
    if said.startswith("!"):
        return _render_command(said, label, names)
    address = get_safe_address(decode_entities(said))
    return render_link(address, label or address.removeprefix("mailto:")) if address else None


def render_user(known: str, names: Names, label: str = "") -> Markup:
    """Render a user by name. Their own stands out to readers."""
    mine = " bk-mention-me" if known and known == names.reader else ""
    return _MENTION.format(mine, f"@{names.users.get(known) or label or known}")


def render_channel(known: str, names: Names, label: str = "") -> Markup:
    """Render a channel by name."""
    return _MENTION.format(" bk-channel", f"#{names.channels.get(known) or label or known}")


def render_group(name: str) -> Markup:
    """Render a group of users."""
    return _MENTION.format(" bk-broadcast", f"@{name.removeprefix('@')}")


def _render_name(said: str, label: str, names: Names) -> Markup | None:
    if found := _USER.fullmatch(said):
        return render_user(found[1], names, label)
    found = _CHANNEL.fullmatch(said)
    return render_channel(found[1], names, label) if found else None


def _render_command(said: str, label: str, names: Names) -> Markup | None:
    if said[1:].lower() in BROADCASTS:
        return render_group(said[1:].lower())
    if found := _GROUP.fullmatch(said):
        return render_group(label or found[1])
    if found := _DATE.fullmatch(said):
        return render_date(found[1], decode_entities(found[2]), names, decode_entities(found[3] or ""), label)
    return escape(label) if label else None
