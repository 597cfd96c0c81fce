"""The limits of messages: characters and blocks, which are Slack's, and words, which are the reader's."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from bot.platform.slack.messages import Post
from bot.render.blocks.rich_text import Block, count_characters

T = TypeVar("T")

# Slack refuses messages above about 13,200 characters and has been seen to refuse 11,300 with many rich blocks
MAX_CHARACTERS = 9_000
MAX_BLOCKS = 45
# of the lead of a day: what a minute on a phone allows
MAX_LEAD_WORDS = 220
# for a row of buttons, its menu, and the name of the user
_RESERVED_CHARACTERS = 1_000
_DIVIDER: Block = {"type": "divider"}
# the heading and the key points
_BEGINNING = 2


def choose_fitting_blocks(versions: Iterable[list[Block]]) -> list[Block]:
    """Return the first version that leaves room for buttons, else the last.

    Each is built only when it is needed.
    """
    blocks: list[Block] = []
    for blocks in versions:
        if count_characters(blocks) <= MAX_CHARACTERS - _RESERVED_CHARACTERS:
            break
    return blocks


def split_groups(
    groups: Iterable[list[T]], most_characters: int, most_items: float = math.inf
) -> Iterator[list[T]]:
    """Yield the items of the groups in parts; those of a group stay together.

    A part takes a further group while it has fewer than ``most_items`` and its characters stay within
    ``most_characters``. A group that is too long by itself is a part of its own.
    """
    current: list[T] = []
    count = 0
    for group in groups:
        own = count_characters(group)
        if current and (count + own > most_characters or len(current) >= most_items):
            yield current
            current, count = [], 0
        current += group
        count += own
    if current:
        yield current


def count_words(blocks: Iterable[Mapping[str, Any]]) -> int:
    """Count the words that a reader sees: whatever blanks separate, in headers, small print and links too.

    Buttons and menus don't count, nor do the points of lists.
    """
    return sum(len(line.split()) for block in blocks for line in _list_lines(block))


def _list_lines(node: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of a block; what stands on one line may be in several elements."""
    kind = node["type"]
    if kind == "header":
        yield node["text"]["text"]
    elif kind == "rich_text_section":
        yield "".join(piece.get("text", "") for piece in node["elements"])
    elif kind == "plain_text":
        yield node["text"]
    elif kind in {"context", "rich_text", "rich_text_list"}:
        for part in node["elements"]:
            yield from _list_lines(part)


# --- several messages as few


def merge_posts(posts: Sequence[Post], most: int) -> list[Post]:
    """Merge messages into as few as Slack's limits allow, in their order.

    If there are more than ``most``, each of them is reduced to its beginning and its buttons first.
    """
    merged = _merge_fitting(posts)
    return merged if len(merged) <= most else _merge_fitting([_reduce_post(post) for post in posts])


def _merge_fitting(posts: Sequence[Post]) -> list[Post]:
    merged: list[Post] = []
    for post in posts:
        both = _join_posts(merged[-1], post) if merged else None
        if both and len(both.blocks) <= MAX_BLOCKS and count_characters(list(both.blocks)) <= MAX_CHARACTERS:
            merged[-1] = both
        else:
            merged.append(post)
    return merged


def _join_posts(first: Post, second: Post) -> Post:
    return Post(f"{first.text}\n{second.text}", (*first.blocks, _DIVIDER, *second.blocks))


def _reduce_post(post: Post) -> Post:
    """Return a message without what stands between its beginning and its buttons."""
    buttons = [block for block in post.blocks[_BEGINNING:] if block["type"] == "actions"]
    return Post(post.text, (*post.blocks[:_BEGINNING], *buttons))
