"""Links to addresses that are safe in a browser: web pages and mail, nothing that runs code."""

from __future__ import annotations

import re

from markupsafe import Markup

_SAFE = re.compile(r"(?:https?://|mailto:)[^\s\x00-\x1f\x7f]+", re.I)
_LINK = Markup('<a class="bk-link" href="{}" target="_blank" rel="noopener noreferrer">{}</a>')


def get_safe_address(url: object) -> str:
    """Return the address if a link may lead to it, else an empty string."""
    return url if isinstance(url, str) and _SAFE.fullmatch(url) else ""


def render_link(url: object, label: str) -> Markup:
    """Render the label as a link, or as plain text where the address is not safe."""
    address = get_safe_address(url)
    return _LINK.format(address, label) if address else Markup("{}").format(label)
