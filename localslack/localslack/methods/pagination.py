"""Listings in pages, and the windows of time that they are asked for."""

from __future__ import annotations

import base64
from collections.abc import Callable

from localslack.errors import SlackError
from localslack.state.channel import parse_ts
from localslack.state.workspace import Json

PAGE = 1_000  # the most that any of the listing methods takes


def paginate(found: list[Json], arguments: Json, *, key: str, default: int) -> tuple[list[Json], str]:
    """Return one page in the given order, and the cursor of the next one ("" after the last)."""
    limit = parse_limit(arguments.get("limit") or default)
    if cursor := arguments.get("cursor"):
        keys = [encode_cursor(item[key]) for item in found]
        if cursor not in keys:
            raise SlackError("invalid_cursor")
        found = found[keys.index(cursor) + 1 :]
    return found[:limit], encode_cursor(found[limit - 1][key]) if len(found) > limit else ""


def parse_limit(value: object) -> int:
    text = str(value)
    if not text.isdecimal() or not 1 <= int(text) <= PAGE:
        raise SlackError("invalid_limit")
    return int(text)


def encode_cursor(key: str) -> str:
    return base64.b64encode(f"next:{key}".encode()).decode()


def make_time_filter(arguments: Json) -> Callable[[Json], bool]:
    """Return a check for ``oldest`` < ts < ``latest``; the ends count only when ``inclusive``."""
    oldest = parse_ts(arguments.get("oldest") or 0, "invalid_ts_oldest")
    latest = parse_ts(arguments.get("latest") or "9" * 12, "invalid_ts_latest")
    if parse_flag(arguments.get("inclusive")):
        return lambda message: oldest <= parse_ts(message["ts"]) <= latest
    return lambda message: oldest < parse_ts(message["ts"]) < latest


def parse_flag(value: object) -> bool:
    """Parse a boolean as JSON or as a form has it."""
    return str(value).lower() in {"1", "true"}
