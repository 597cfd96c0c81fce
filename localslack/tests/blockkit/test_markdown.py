"""Markdown: of blocks, in which Slack resolves names, and of documents. None loads or runs anything."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localslack.blockkit import render_document, render_markdown
from localslack.testing.html import ParsedHtml, parse_html
from tests.blockkit.shown import NAMES
from tests.hostile import TOKENS


def block(text: str) -> ParsedHtml:
    return parse_html(render_markdown(text, NAMES))


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("**a** *b* ~~c~~ `d`", "p strong em s code"),
        ("# a\n## b", "h4 h4"),
        ("a\nb", "p br"),
        ("a\n\nb", "p p"),
        ("- a\n  - b\n1. c", "ul li ul li ol li"),
        ("> a", "blockquote p"),
        ("```py\na\n```", "pre code"),
        ("    a", "pre code"),
        ("---", "hr"),
        ("[a](https://a.example 'title')", "p a"),
        ("<https://a.example>", "p a"),
        ("<https://a.example|a>", "p a"),
        ("https://a.example", "p a"),
        ("![a](https://a.example/a.png)", "p a"),
        ("[![a](https://a.example/a.png)](https://b.example)", "p a"),
        ("[<https://a.example>](https://b.example)", "p a"),
        ("[https://a.example](https://b.example)", "p a"),
        ("![a](javascript:x)", "p"),
        ("[a](javascript:x)", "p"),
        ("[a](data:text/html,x)", "p"),
        ("[a](/files/F1)", "p"),
        ("[a]()", "p"),
        ("<b>a</b><script>b</script>", "p"),
        ("<!-- a -->", "p"),
        ("<@U0BOB> <#C0OPEN> <!here>", "p span span span"),
        ("<!date^0^{date}|then>", "p time"),
        ("`<@U0BOB>`", "p code"),
        ("\\<@U0BOB>", "p"),
    ],
    ids=ascii,
)
def test_it_has_these_tags(text: str, tags: str) -> None:
    assert [tag.name for tag in block(text).tags[1:]] == tags.split()


def test_a_table_scrolls_in_a_box_of_its_own_and_keeps_its_sides_without_style() -> None:
    document = block("|a|b|c|\n|:-|:-:|-:|\n|1|2|3|")
    assert [tag["class"] for tag in document.find_all("td")] == [
        "bk-align-left",
        "bk-align-center",
        "bk-align-right",
    ]
    assert document.find_by_class("bk-scroll")[0]["tabindex"] == "0"


def test_names_and_emoji_are_resolved() -> None:
    assert block("<@U0BOB>: :tada: in <#C0OPEN>").text.strip() == "@bob: 🎉 in #open"


@pytest.mark.parametrize(
    ("text", "href"), [("![a](https://a.example)", "https://a.example"), ("<a@b.example>", "mailto:a@b.example")]
)
def test_links_lead_to_where_they_say(text: str, href: str) -> None:  # fmt: skip
    assert block(text).find_one("a")["href"] == href


def test_a_document_has_its_own_headings_and_no_names() -> None:
    document = parse_html(render_document("# a\n\n### b\n\n<@U0BOB> [c](https://c.example) :tada:\n"))
    assert [tag.name for tag in document.tags] == ["article", "h1", "h3", "p", "a"]
    assert "<@U0BOB> c :tada:" in document.text


MARKS = [
    *"*_~`<>|&:!@#[]() \n\\-1.a",
    *("```", "](", "![", "<!--", "<script>", "[x]: https://a.example\n", "|-|-|\n", "\n\n", "    ", "javascript:"),
    *TOKENS,
]


@given(st.lists(st.sampled_from(MARKS) | st.text(max_size=4), max_size=30).map("".join))
def test_no_text_makes_html_that_was_not_meant(text: str) -> None:
    block(text)
    parse_html(render_document(text))


@pytest.mark.parametrize("piece", ["![", "<", "*a _b", "`", "[a](", "<@U1", "https://"])
def test_long_texts_take_no_longer_than_they_are_long(piece: str) -> None:
    start = time.process_time()
    block((piece * 12_000)[:12_000])  # the longest that Slack takes
    assert time.process_time() - start < 2
