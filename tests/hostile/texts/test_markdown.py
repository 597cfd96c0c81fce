import re
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from bot.features.digest.rules import Digest
from bot.features.digest.view import render_report
from bot.features.merges.summary import build_fallback_summary
from bot.features.merges.view import Entry
from bot.platform.models.packing import Coverage
from tests.features.digest.hostile_days import digests
from tests.helpers.builders import changed_file, digest, entry, failed, pull, summary
from tests.helpers.tables import check_rows
from tests.hostile.tables.markdown import LINES, PATHS, TEXTS

pytestmark = pytest.mark.slow

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
# what makes a link of a word without any markup, in GitHub's Markdown and in Slack
BARE = re.compile(r"https?://|www\.", re.I)
PARTS = {"heading_open", "hr", "fence", "html_block", "blockquote_open", "table_open"}


def three(middle: Entry) -> Digest:
    """The entry between two others: whether it hurts those behind it is seen."""
    return digest(entry(3), middle, entry(1))


def flat(tokens: Iterable[Token]) -> Iterable[Token]:
    for token in tokens:
        yield token
        yield from flat(token.children or ())


@lru_cache(4)
def parse_tokens(text: str) -> tuple[Token, ...]:
    """All tokens, from top to bottom; nobody changes them."""
    return tuple(flat(PARSER.parse(text)))


def parts(text: str) -> list[tuple[str, str]]:
    return [(token.type, token.tag) for token in parse_tokens(text) if token.type in PARTS]


def addresses(text: str) -> list[str]:
    return [str(token.attrs.get("href")) for token in parse_tokens(text) if token.type == "link_open"]


def code(text: str) -> list[str]:
    return [token.content for token in parse_tokens(text) if token.type == "code_inline"]


def require_harmless(text: str, like: str) -> None:
    tokens = parse_tokens(text)
    assert parts(text) == parts(like)
    assert addresses(text) == addresses(like)
    assert not {token.type for token in tokens} & {"image", "html_inline", "html_block", "fence"}
    shown = "\n".join(token.content for token in tokens if token.type == "text")
    assert not BARE.search(shown)
    assert not [char for char in text if char != "\n" and not char.isprintable() and char not in "\u200c\u200d"]
    assert re.findall(r"^## .*|^- \*\*PR Number.*|^---$", text, re.M) != []
    assert len(re.findall(r"^[ \d.)+*-]*\*\*PR Number:", text, re.M)) == 3


HARMLESS = render_report(three(entry(2)))


@check_rows(LINES)
def test_no_title_forges_the_report(title: str) -> None:
    require_harmless(render_report(three(entry(2, title=title))), HARMLESS)


@check_rows(TEXTS)
def test_no_word_of_the_model_forges_the_report(text: str) -> None:
    told = summary(what_changed_and_why=text, technical_impact=text, potential_risks=text, key_insights=text)
    require_harmless(render_report(three(entry(2, entry_summary=told))), HARMLESS)


@check_rows(PATHS)
def test_no_name_of_a_file_forges_the_report(path: str) -> None:
    text = render_report(three(entry(2, files=[changed_file(path), changed_file("b.py")])))
    require_harmless(text, render_report(three(entry(2, files=[changed_file("a.py"), changed_file("b.py")]))))
    assert len(code(text)) == len(code(HARMLESS)) + 1


@check_rows(LINES)
def test_what_stands_in_for_the_model_forges_nothing(title: str) -> None:
    made = pull(2, title=title, body=f"{title}\n\n{title}", files=[changed_file("a`b](c).py")])
    told = replace(
        entry(2), pull=made, summary=build_fallback_summary(made, failed(title or "away"), Coverage.FULL)
    )
    like = replace(told, pull=replace(made, title="x"), summary=summary())
    require_harmless(render_report(three(told)), render_report(three(like)))


@check_rows(LINES)
def test_no_name_of_a_digest_forges_the_report(name: str) -> None:
    require_harmless(render_report(replace(three(entry(2)), name=name)), HARMLESS)


signs = st.lists(st.sampled_from([*"[]()`<>!#*_-=~|:\\ \n\tax1.", "](", "```", "://", "\n\n", "- "]), max_size=24)


@given(signs.map("".join), signs.map("".join))
def test_whatever_the_signs_nothing_is_forged(title: str, text: str) -> None:
    told = summary(what_changed_and_why=text, technical_impact=text, potential_risks=text, key_insights=text)
    require_harmless(render_report(three(entry(2, title=title, entry_summary=told))), HARMLESS)


@given(digests())
def test_whatever_the_texts_every_link_is_one_of_the_bot(day_digest: Digest) -> None:
    text = render_report(day_digest)
    assert {urlsplit(address).netloc for address in addresses(text)} <= {"github.com"}
    assert [tag for kind, tag in parts(text) if kind == "heading_open"] == [
        "h1",
        *["h2", "h3", "h3"] * len(day_digest.entries),
    ]


def test_a_harmless_text_stays_as_it_is() -> None:
    text = "**Bold**, `a[0](b)`, a < b, a_b, (see) [0].\n\n1. One -> two\n   - Three `--flag`\n\n#12 by @ada"
    assert text in render_report(three(entry(2, entry_summary=summary(what_changed_and_why=text))))
