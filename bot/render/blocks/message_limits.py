"""What fits into a message of Slack's."""

from __future__ import annotations

from collections.abc import Iterable

from bot.render.blocks.rich_text import Block, characters

# Slack refuses messages above about 13,200 characters and has been seen to refuse 11,300 with many rich blocks
MOST_CHARACTERS = 9_000
MOST_BLOCKS = 45
# a row of buttons, its menu, and who asked
_BELOW = 1_000


def first_that_fits(versions: Iterable[list[Block]]) -> list[Block]:
    """The first version that leaves room for buttons below it, else the last. Each is made when it is needed."""
    chosen: list[Block] = []
    for chosen in versions:
        if characters(chosen) <= MOST_CHARACTERS - _BELOW:
            break
    return chosen
