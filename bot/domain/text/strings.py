"""Helpers for text: one line, limited length, singular and plural."""

from __future__ import annotations

from datetime import timedelta

from impact.text.strings import collapse_lines, quote_input, remove_comments, remove_invisible, truncate_text

__all__ = [
    "collapse_lines",
    "format_count",
    "format_duration",
    "quote_input",
    "remove_comments",
    "remove_invisible",
    "truncate_text",
]


def format_count(count: int, singular: str, many: str = "") -> str:
    """Format a number with its noun: ``1 file``, ``2 files``, ``1,234 files``."""
    return f"{count:,} {singular if count == 1 else many or singular + 's'}"


def format_duration(time: timedelta) -> str:
    """Format a duration for people: ``40 s``, ``5 min``, ``3 h``, ``2 days``."""
    seconds = max(0, round(time.total_seconds()))
    for size, unit in ((86_400, "days"), (3_600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"
