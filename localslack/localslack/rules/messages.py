"""Slack's rules for messages. Pure functions: arguments in, an error code out.

Limits are from Slack's documentation unless a comment beside them says otherwise. Those of single blocks are in
:mod:`localslack.rules.blocks`; mentions and links are found by :mod:`localslack.rules.live_text`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from localslack.rules.blocks import BLOCK, MARKDOWN_TEXT, TABLES, TEXT, Json, count_characters, parse_blocks
from localslack.rules.live_text import find_links, find_mentions
from localslack.rules.schema import Fault, find_fault, has_unique_values, shape, string

__all__ = ["METADATA_BYTES", "UPDATE_TEXT", "check_message", "find_blocks_fault", "find_links", "find_mentions"]

MESSAGE_BLOCKS = 50
ATTACHMENTS = 100
UPDATE_TEXT = 4_000
BLOCKS_TEXT = 13_200  # undocumented; measured by others, lower still with many headers or rich text
METADATA_BYTES = 8_000  # the error is documented and its threshold is not: a cautious guess


def check_message(arguments: Json, *, text_limit: int = TEXT) -> str | None:
    """Return Slack's error code for the arguments of a post, or None if it accepts them."""
    try:
        blocks = parse_blocks(arguments.get("blocks"))
    except ValueError:
        return "invalid_blocks_format"
    return (
        _check_text(arguments, blocks, text_limit)
        or check_blocks(blocks)
        or check_metadata(arguments.get("metadata"))
    )


def find_blocks_fault(arguments: Json) -> Fault | None:
    """Return what is wrong with the blocks of a post, and where; None if nothing is or it can't be said."""
    try:
        blocks = parse_blocks(arguments.get("blocks"))
    except ValueError:
        return None
    if len(blocks) > MESSAGE_BLOCKS:
        return Fault("/blocks", f"must have at most {MESSAGE_BLOCKS} items")
    faults = (find_fault(BLOCK, block, f"/blocks/{place}") for place, block in enumerate(blocks))
    fault = next(filter(None, faults), None)
    return fault or (None if has_unique_values("block_id", blocks) else Fault("/blocks", "repeats a block_id"))


def check_metadata(metadata: object) -> str | None:
    """Return Slack's error code for the metadata of a message, or None if it accepts them."""
    if metadata is None or metadata == "":
        return None
    try:
        parsed = json.loads(metadata) if isinstance(metadata, str) else metadata
    except ValueError:
        return "invalid_metadata_format"
    if not shape({"event_type": string(), "event_payload": lambda v: isinstance(v, dict)})(parsed):
        return "invalid_metadata_schema"
    return "metadata_too_large" if len(json.dumps(parsed).encode()) > METADATA_BYTES else None


def _check_text(arguments: Json, blocks: list[Any], text_limit: int) -> str | None:
    text, markdown = str(arguments.get("text") or ""), str(arguments.get("markdown_text") or "")
    if markdown and (text or blocks):
        return "markdown_text_conflict"
    # not documented for white space alone: the stricter reading
    if not (text.strip() or markdown.strip() or blocks or arguments.get("attachments")):
        return "no_text"
    if len(text) > text_limit or len(markdown) > MARKDOWN_TEXT:
        return "msg_too_long"
    attachments = arguments.get("attachments")
    return "too_many_attachments" if isinstance(attachments, list) and len(attachments) > ATTACHMENTS else None


def check_blocks(blocks: list[Any], above: Sequence[Json] = ()) -> str | None:
    """Return Slack's error code for the blocks, or None if it accepts them.

    The blocks in ``above`` are in the message already: they count towards its length, not its number of blocks.
    """
    everything = [*above, *blocks]
    if (
        len(blocks) > MESSAGE_BLOCKS
        or not all(map(BLOCK, blocks))
        or not has_unique_values("block_id", everything)
    ):
        return "invalid_blocks"
    kinds = [block["type"] for block in everything]
    if sum(kind in TABLES for kind in kinds) > 1:
        return "only_one_table_allowed"
    markdown = sum(len(block["text"]) for block in everything if block["type"] == "markdown")
    # a data_table may be longer than a whole message, so its cells can't count
    total = count_characters([block for block in everything if block["type"] != "data_table"])
    return "msg_blocks_too_long" if markdown > MARKDOWN_TEXT or total > BLOCKS_TEXT else None
