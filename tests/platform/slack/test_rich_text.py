from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from localslack.rules.messages import check_message, find_links, find_mentions

from bot.platform.slack.blocks import (
    Element,
    Post,
    count_characters,
    make_block,
    make_bullets,
    make_context,
    make_header,
    make_link,
    make_plain_text,
    make_prose,
    make_section,
    make_text,
)
from bot.redaction import redact_text
from impact.text.strings import collapse_lines, truncate_text
from tests.features.digest.hostile_days import texts

URL = "https://github.com/octo/engine/pull/1"
ADDRESSES = {1: URL, 12: f"{URL}2"}


@pytest.mark.parametrize(
    ("content", "elements"),
    [
        ("plain", [make_text("plain")]),
        ("", []),
        (" \n\u200b", []),
        ("a `code` b", [make_text("a "), make_text("code", code=True), make_text(" b")]),
        ("**bold** end", [make_text("bold", bold=True), make_text(" end")]),
        ("see #1.", [make_text("see "), make_link(URL, "#1"), make_text(".")]),
        ("see #2.", [make_text("see "), make_text("#2"), make_text(".")]),
        ("#12 not #1", [make_link(f"{URL}2", "#12"), make_text(" not "), make_link(URL, "#1")]),
        ("#12x", [make_text("#12x")]),
        ("`#1`", [make_text("#1", code=True)]),
        ("**#1**", [make_text("#1", bold=True)]),
        ("two\nlines", [make_text("two lines")]),
        ("``` not closed `", [make_text("``"), make_text(" not closed ", code=True)]),
        ("a ** b * c", [make_text("a ** b * c")]),
        ("[click](https://evil.example)", [make_text("[click](https://evil.example)")]),
        ("<https://evil.example|click>", [make_text("<https://evil.example|click>")]),
    ],
    ids=ascii,
)
def test_prose_keeps_code_bold_and_known_numbers(content: str, elements: list[dict[str, Any]]) -> None:
    assert make_prose(content, ADDRESSES, 300) == elements


@pytest.mark.parametrize("content", ["needs pytorch/pytorch#1", "see acme/web#12", "gh#1", "cutlass#1"])
def test_a_number_of_another_repository_is_no_link(content: str) -> None:
    assert "".join(element["text"] for element in make_prose(content, ADDRESSES, 300)) == content
    assert all(element["type"] == "text" for element in make_prose(content, ADDRESSES, 300))


def message(*blocks: dict[str, Any]) -> dict[str, Any]:
    return Post("text", blocks).build_payload()


@given(texts(900), st.integers(1, 700))
def test_prose_is_accepted_and_links_only_where_it_may(content: str, limit: int) -> None:
    payload = message(
        make_block(
            make_section(make_prose(content, ADDRESSES, limit)),
            make_bullets([make_prose(content, ADDRESSES, limit)]),
        )
    )
    assert check_message(payload) is None
    assert find_mentions(payload) == []
    assert set(find_links(payload)) <= set(ADDRESSES.values())


@given(texts(900), st.integers(1, 700))
def test_prose_loses_nothing_but_the_marks_of_its_style(content: str, limit: int) -> None:
    shown_text = "".join(element["text"] for element in make_prose(content, ADDRESSES, limit))
    line = truncate_text(redact_text(collapse_lines(content)), limit)
    assert shown_text.replace("`", "").replace("*", "") == line.replace("`", "").replace("*", "")
    assert len(shown_text) <= limit


@given(texts(400))
def test_a_headline_of_any_length_is_accepted(content: str) -> None:
    payload = message(make_header(f"x{content}"))
    assert check_message(payload) is None
    assert (find_mentions(payload), find_links(payload)) == ([], [])


@given(texts(400), st.integers(1, 40))
def test_small_print_of_any_length_is_accepted(content: str, times: int) -> None:
    payload = message(make_context(f"x{content}" * times))
    assert check_message(payload) is None
    assert (find_mentions(payload), find_links(payload)) == ([], [])


def test_style_is_set_only_where_asked() -> None:
    assert make_text("a") == {"type": "text", "text": "a"}
    assert make_text("a", bold=True, code=True)["style"] == {"bold": True, "code": True}
    assert make_text("a", italic=True)["style"] == {"italic": True}


def test_texts_and_addresses_count_as_characters() -> None:
    assert (
        count_characters(
            make_block(
                make_section([make_text("four")]),
                make_bullets([[make_link("https://x", "#1")], [make_text("ab")]]),
            )
        )
        == 4 + 9 + 2 + 2
    )
    blocks = make_block(
        make_section([make_text("four")]), make_bullets([[make_link("https://x", "#1")], [make_text("ab")]])
    )
    assert count_characters(blocks) == 4 + 9 + 2 + 2
    assert count_characters([make_header("12345"), make_context("123")]) == 8
    assert count_characters([]) == 0


@pytest.mark.parametrize("make", [make_header, make_context, partial(make_plain_text, limit=75)])
def test_plain_text_shows_no_backticks_which_slack_would_not_render(make: Callable[[str], Element]) -> None:
    assert "run prdigest env first" in str(make("run `prdigest env` first"))
