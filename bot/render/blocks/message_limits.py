"""The limits of Slack messages."""

from __future__ import annotations

from collections.abc import Iterable

from bot.render.blocks.rich_text import Block, characters

# Slack refuses messages above about 13,200 characters and has been seen to refuse 11,300 with many rich blocks
MOST_CHARACTERS = 9_000
MOST_BLOCKS = 45
# for a row of buttons, its menu, and the name of the user
_BELOW = 1_000


def first_that_fits(versions: Iterable[list[Block]]) -> list[Block]:
    """Return the first version that leaves room for buttons, else the last.

    Each is built only when it is needed.
    """
    blocks: list[Block] = []
    for blocks in versions:
        if characters(blocks) <= MOST_CHARACTERS - _BELOW:
            break
    return blocks
