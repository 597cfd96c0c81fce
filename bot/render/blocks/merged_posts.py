"""Several messages as few."""

from __future__ import annotations

from collections.abc import Sequence

from bot.ports import Post
from bot.render.blocks.message_limits import MAX_BLOCKS, MAX_CHARACTERS
from bot.render.blocks.rich_text import Block, count_characters

_DIVIDER: Block = {"type": "divider"}
# the heading and the key points
_BEGINNING = 2


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
