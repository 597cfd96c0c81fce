"""The limits of Slack messages."""

from __future__ import annotations

from collections.abc import Iterable

from bot.render.blocks.rich_text import Block, count_characters

# Slack refuses messages above about 13,200 characters and has been seen to refuse 11,300 with many rich blocks
MAX_CHARACTERS = 9_000
MAX_BLOCKS = 45
# for a row of buttons, its menu, and the name of the user
_RESERVED_CHARACTERS = 1_000


def choose_fitting_blocks(versions: Iterable[list[Block]]) -> list[Block]:
    """Return the first version that leaves room for buttons, else the last.

    Each is built only when it is needed.
    """
    blocks: list[Block] = []
    for blocks in versions:
        if count_characters(blocks) <= MAX_CHARACTERS - _RESERVED_CHARACTERS:
            break
    return blocks
