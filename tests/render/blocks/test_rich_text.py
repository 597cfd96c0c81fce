"""Pieces of rich text: literal, styled, and linked only to addresses that code built."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from localslack.rules.messages import check_message, find_links, find_mentions

from bot.domain.text.strings import one_line, shorten
from bot.ports import Post
from bot.render.blocks.rich_text import block, bullets, characters, context, header, link, prose, section, text
from tests.render.hostile_days import texts

URL = "https://github.com/octo/engine/pull/1"
ADDRESSES = {1: URL, 12: f"{URL}2"}


@pytest.mark.parametrize(
    ("content", "elements"),
    [
        ("plain", [text("plain")]),
        ("", []),
        (" \n\u200b", []),
        ("a `code` b", [text("a "), text("code", code=True), text(" b")]),
        ("**bold** end", [text("bold", bold=True), text(" end")]),
        ("see #1.", [text("see "), link(URL, "#1"), text(".")]),
        ("see #2.", [text("see "), text("#2"), text(".")]),
        ("#12 not #1", [link(f"{URL}2", "#12"), text(" not "), link(URL, "#1")]),
        ("#12x", [text("#12x")]),
        ("`#1`", [text("#1", code=True)]),
        ("**#1**", [text("#1", bold=True)]),
        ("two\nlines", [text("two lines")]),
        ("``` not closed `", [text("``"), text(" not closed ", code=True)]),
        ("a ** b * c", [text("a ** b * c")]),
        ("[click](https://evil.example)", [text("[click](https://evil.example)")]),
        ("<https://evil.example|click>", [text("<https://evil.example|click>")]),
    ],
    ids=ascii,
)
def test_prose_keeps_code_bold_and_known_numbers(content: str, elements: list[dict[str, Any]]) -> None:
    assert prose(content, ADDRESSES, 300) == elements


@pytest.mark.parametrize("content", ["needs pytorch/pytorch#1", "see acme/web#12", "gh#1", "cutlass#1"])
def test_a_number_of_another_repository_is_no_link(content: str) -> None:
    assert "".join(element["text"] for element in prose(content, ADDRESSES, 300)) == content
    assert all(element["type"] == "text" for element in prose(content, ADDRESSES, 300))


def message(*blocks: dict[str, Any]) -> dict[str, Any]:
    return Post("text", blocks).payload()


@given(texts(900), st.integers(1, 700))
def test_prose_is_accepted_and_links_only_where_it_may(content: str, limit: int) -> None:
    found = message(block(section(prose(content, ADDRESSES, limit)), bullets([prose(content, ADDRESSES, limit)])))
    assert check_message(found) is None
    assert find_mentions(found) == []
    assert set(find_links(found)) <= set(ADDRESSES.values())


@given(texts(900), st.integers(1, 700))
def test_prose_loses_nothing_but_the_marks_of_its_style(content: str, limit: int) -> None:
    said = "".join(element["text"] for element in prose(content, ADDRESSES, limit))
    line = shorten(one_line(content), limit)
    assert said.replace("`", "").replace("*", "") == line.replace("`", "").replace("*", "")
    assert len(said) <= limit


@given(texts(400))
def test_a_headline_of_any_length_is_accepted(content: str) -> None:
    found = message(header(f"x{content}"))
    assert check_message(found) is None
    assert (find_mentions(found), find_links(found)) == ([], [])


@given(texts(400), st.integers(1, 40))
def test_small_print_of_any_length_is_accepted(content: str, times: int) -> None:
    found = message(context(f"x{content}" * times))
    assert check_message(found) is None
    assert (find_mentions(found), find_links(found)) == ([], [])


def test_style_is_set_only_where_asked() -> None:
    assert text("a") == {"type": "text", "text": "a"}
    assert text("a", bold=True, code=True)["style"] == {"bold": True, "code": True}
    assert text("a", italic=True)["style"] == {"italic": True}


def test_texts_and_addresses_count_as_characters() -> None:
    assert (
        characters(block(section([text("four")]), bullets([[link("https://x", "#1")], [text("ab")]])))
        == 4 + 9 + 2 + 2
    )
    found = block(section([text("four")]), bullets([[link("https://x", "#1")], [text("ab")]]))
    assert characters(found) == 4 + 9 + 2 + 2
    assert characters([header("12345"), context("123")]) == 8
    assert characters([]) == 0
