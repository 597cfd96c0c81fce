"""The words of a message: what stands on one line is counted as a reader sees it."""

from bot.platform.slack.blocks import (
    count_words,
    make_block,
    make_bullets,
    make_context,
    make_header,
    make_link,
    make_section,
    make_text,
)


def test_words_are_counted_in_every_kind_of_block() -> None:
    url = "https://github.com/octo/engine/pull/5"
    blocks = [
        make_header("Engine · 2 merged"),
        make_block(
            make_section([make_text("Set "), make_text("the", bold=True), make_text(" flag")]),
            make_bullets([[make_link(url, "#5 Count once"), make_text(" — it may stall")], [make_text("(")]]),
        ),
        make_context("2 of 2 read"),
        {
            "type": "actions",
            "elements": [{"type": "button", "text": {"type": "plain_text", "text": "Ask about this"}}],
        },
    ]
    assert [count_words([block]) for block in blocks] == [4, 3 + 7 + 1, 4, 0]
    assert count_words(blocks) == 19


def test_elements_without_a_blank_between_them_are_one_word() -> None:
    assert count_words([make_block(make_section([make_text("("), make_text("#5"), make_text(")")]))]) == 1
