"""The only links there are: to addresses that a browser asks for or writes to, and that run nothing."""

from __future__ import annotations

import re

from markupsafe import Markup

_SAFE = re.compile(r"(?:https?://|mailto:)[^\s\x00-\x1f\x7f]+", re.I)
_LINK = Markup('<a class="bk-link" href="{}" target="_blank" rel="noopener noreferrer">{}</a>')


def get_safe_address(url: object) -> str:
    """Return the address if it may be linked, else nothing."""
    return url if isinstance(url, str) and _SAFE.fullmatch(url) else ""


def render_link(url: object, label: str) -> Markup:
    """Return the label as a link; as itself where the address may not be one."""
    address = get_safe_address(url)
    return _LINK.format(address, label) if address else Markup("{}").format(label)
