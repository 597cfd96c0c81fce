from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping
from typing import Any

from bot.platform.slack.blocks import Post, replace_tables

_LINE_START = re.compile(r" *(?:[•*-] )?")
_MIN_WIDTH = 20


def format_message(post: Post) -> str:
    """Format a message as people would read it: links as their labels, no buttons."""
    blocks = replace_tables(post.blocks)
    return "\n\n".join(_format_block(block) for block in blocks if block["type"] != "actions")


def wrap_text(text: str, width: int) -> str:
    """Wrap the lines of a text at blanks to ``width`` columns; what follows stands below the text of a bullet."""
    return "\n".join(_wrap_line(line, width) for line in text.split("\n"))


def _wrap_line(line: str, width: int) -> str:
    match = _LINE_START.match(line)
    start = match[0] if match else ""
    wrapper = textwrap.TextWrapper(
        max(width, _MIN_WIDTH), start, " " * len(start), break_long_words=False, break_on_hyphens=False
    )
    return wrapper.fill(line.removeprefix(start)) or line


def _format_block(block: Mapping[str, Any]) -> str:
    if block["type"] == "header":
        return f"{block['text']['text']}\n{'=' * len(block['text']['text'])}"
    if block["type"] == "context":
        return "\n".join(element["text"] for element in block["elements"])
    return "\n".join(_format_rich_text(element) for element in block["elements"])


def _format_rich_text(element: Mapping[str, Any]) -> str:
    if element["type"] == "rich_text_list":
        start = "  " * (element.get("indent", 0) + 1)
        return "\n".join(f"{start}• {_format_rich_text(item)}" for item in element["elements"])
    return "".join(map(_format_piece, element["elements"]))


def _format_piece(piece: Mapping[str, Any]) -> str:
    """Format one element. Dates, channels and users have no text: Slack shows them to each reader in their way."""
    if piece["type"] == "channel":
        return f"#{piece['channel_id']}"
    if piece["type"] == "user":
        return f"@{piece['user_id']}"
    return str(piece["fallback"] if piece["type"] == "date" else piece["text"])
