"""Several messages as few: nothing is lost that fits, and Slack takes each."""

from hypothesis import given
from hypothesis import strategies as st

from bot.platform.slack.blocks import (
    MAX_BLOCKS,
    MAX_CHARACTERS,
    Block,
    Post,
    count_characters,
    make_block,
    make_section,
    make_text,
    merge_posts,
)

ROW: Block = {"type": "actions", "elements": []}


def paragraph(length: int) -> Block:
    return make_block(make_section([make_text("x" * length)]))


def message(number: int, *lengths: int) -> Post:
    return Post(f"#{number}", (*map(paragraph, lengths), ROW))


# two blocks of a heading and key points, then the sections of a summary
posts = st.lists(st.lists(st.integers(1, 900), min_size=2, max_size=9), min_size=1, max_size=5).map(
    lambda length_lists: [message(number, *lengths) for number, lengths in enumerate(length_lists, 1)]
)


@given(posts)
def test_all_are_there_in_order_and_in_two_messages_at_most(given_posts: list[Post]) -> None:
    merged = merge_posts(given_posts, 2)
    assert len(merged) <= 2
    assert [line for post in merged for line in post.text.split("\n")] == [post.text for post in given_posts]
    for post in merged:
        assert len(post.blocks) <= MAX_BLOCKS
        assert count_characters(list(post.blocks)) <= MAX_CHARACTERS
    blocks = [block for post in merged for block in post.blocks]
    assert sum(block["type"] == "actions" for block in blocks) == len(given_posts)
    assert all(block in blocks for post in given_posts for block in post.blocks[:2])


def test_short_messages_stay_whole_and_are_told_apart() -> None:
    first, second = message(1, 10, 20, 30), message(2, 10)
    [merged] = merge_posts([first, second], 2)
    assert merged.blocks == (*first.blocks, {"type": "divider"}, *second.blocks)


def test_long_messages_keep_their_beginning_and_their_buttons() -> None:
    long = [message(number, 150, 1_500, 2_000, 2_000, 2_000) for number in range(5)]
    merged = merge_posts(long, 2)
    assert [post.text for post in merged] == ["#0\n#1\n#2\n#3\n#4"]
    assert merged[0].blocks[:3] == (paragraph(150), paragraph(1_500), ROW)
