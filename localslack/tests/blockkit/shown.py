from datetime import UTC, datetime
from typing import Any

from localslack.blockkit import Names, render_message, render_view
from localslack.testing.html import ParsedHtml, parse_html

Json = dict[str, Any]
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
NAMES = Names(
    {"U0ADA": "ada", "U0BOB": "bob"}, {"C0GENERAL": "general", "C0OPEN": "open"}, UTC, lambda: NOW, "U0ADA"
)


def message(*blocks: Json, names: Names = NAMES, **more: Any) -> ParsedHtml:
    """A message of these blocks."""
    return parse_html(render_message({"ts": "1.0", "blocks": list(blocks), **more}, names))


def modal(*blocks: Json, **values: Json) -> ParsedHtml:
    """A modal of these blocks; ``values`` are the settings of its elements by the names of their blocks."""
    return parse_html(render_view({"id": "V1", "blocks": list(blocks), "state": {"values": values}}, NAMES))
