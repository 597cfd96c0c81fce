"""Pages of listings, and their time ranges."""

from __future__ import annotations

import base64
from collections.abc import Callable

from localslack.errors import SlackError
from localslack.state.channel import parse_ts
from localslack.state.workspace import Json

PAGE = 1_000  # the limit of all listing methods


def paginate(items: list[Json], arguments: Json, *, key: str, default: int) -> tuple[list[Json], str]:
    """Return one page in the order of the items, and the cursor of the next page ("" after the last)."""
    limit = parse_limit(arguments.get("limit") or default)
    if cursor := arguments.get("cursor"):
        keys = [encode_cursor(item[key]) for item in items]
        if cursor not in keys:
            raise SlackError("invalid_cursor")
        items = items[keys.index(cursor) + 1 :]
    return items[:limit], encode_cursor(items[limit - 1][key]) if len(items) > limit else ""


def parse_limit(value: object) -> int:
    """Parse the size of a page. Raises SlackError if it is not between 1 and 1,000."""
    text = str(value)
    if not text.isdecimal() or not 1 <= int(text) <= PAGE:
        raise SlackError("invalid_limit")
    return int(text)


def encode_cursor(key: str) -> str:
    """Return the cursor of the page after the item with this key."""
    return base64.b64encode(f"next:{key}".encode()).decode()


def make_time_filter(arguments: Json) -> Callable[[Json], bool]:
    """Return a check for ``oldest`` < ts < ``latest``; ``inclusive`` includes both ends."""
    oldest = parse_ts(arguments.get("oldest") or 0, "invalid_ts_oldest")
    latest = parse_ts(arguments.get("latest") or "9" * 12, "invalid_ts_latest")
    if parse_flag(arguments.get("inclusive")):
        return lambda message: oldest <= parse_ts(message["ts"]) <= latest
    return lambda message: oldest < parse_ts(message["ts"]) < latest


def parse_flag(value: object) -> bool:
    """Parse a boolean from JSON or from a form."""
    return str(value).lower() in {"1", "true"}
