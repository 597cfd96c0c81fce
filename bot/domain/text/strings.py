"""Helpers for text: one line, limited length, singular and plural."""

from __future__ import annotations

from impact.text.strings import collapse_lines, quote_input, remove_comments, remove_invisible, truncate_text

__all__ = ["collapse_lines", "format_count", "quote_input", "remove_comments", "remove_invisible", "truncate_text"]


def format_count(count: int, singular: str, many: str = "") -> str:
    """Format a number with its noun: ``1 file``, ``2 files``, ``1,234 files``."""
    return f"{count:,} {singular if count == 1 else many or singular + 's'}"
