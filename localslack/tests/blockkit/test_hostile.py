"""No text of anybody's makes a tag, an attribute or an address, in any place, and it reads as written."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.blockkit.gallery import literal, make_marked_blocks, shown_kinds
from tests.blockkit.shown import message, modal
from tests.hostile import texts

URL = "https://a.example/?a=1&b=2"
ESCAPES = (
    "</p><script>alert(1)</script>",
    "\"><img src=x onerror='x'>",
    "' onclick='x",
    "{{ 7 * 7 }}",
    "]]>--><!--",
    "&lt;b&gt;",
)
ADDRESSES = (
    "javascript:alert(1)",
    "JavaScript:alert(1)",
    " https://a.example",
    "java\nscript:x",
    "data:text/html,x",
    "vbscript:x",
    "//a.example",
    "/files/F1",
    "#x",
    "https://a.example\n",
    'https://a.example/"onclick="x',
    "https://a.example/<b>",
    "blob:https://a.example",
    "",
)
hostile = texts(120) | st.sampled_from(ESCAPES) | st.sampled_from(ESCAPES).map(lambda text: text * 3)
KNOWN = message(*literal("x", URL)).skeleton


def test_the_gallery_has_every_kind_of_block() -> None:
    assert {block["type"] for block in (*literal("x", URL), *make_marked_blocks("x"))} | {
        "task_card"
    } == shown_kinds()


@settings(max_examples=25)
@given(hostile)
def test_literal_text_never_changes_what_is_there(text: str) -> None:
    document = message(*literal(f"x{text}", URL))
    assert document.skeleton == KNOWN
    assert document.text.count(f"x{text}") >= 20


@settings(max_examples=15)
@given(hostile)
def test_the_same_of_forms(text: str) -> None:
    modal(*literal(text, URL), block0={text: {"value": text}})


@settings(max_examples=25)
@given(hostile)
def test_markup_makes_only_what_markup_may(text: str) -> None:
    message(*make_marked_blocks(text))


@pytest.mark.parametrize("url", ADDRESSES, ids=ascii)
def test_an_address_that_is_none_leads_nowhere(url: str) -> None:
    message(
        *literal("x", url), attachments=[{"title": "x", "title_link": url, "author_name": "x", "author_link": url}]
    )
    message(*make_marked_blocks(f"<{url}|x> [x]({url}) ![x]({url}) <{url}> {url}"))


@settings(max_examples=25)
@given(hostile)
def test_texts_of_messages_files_and_attachments_are_literal_too(text: str) -> None:
    file = {"id": text.replace("/", "") or "F1", "name": text, "title": text, "size": 1}
    attachment = dict.fromkeys(("pretext", "author_name", "title", "text", "footer", "fallback", "color"), text)
    message(text=text, files=[file], attachments=[attachment, {"fields": [{"title": text, "value": text}]}])


@settings(max_examples=25)
@given(hostile)
def test_a_type_that_nobody_knows_is_only_a_word(text: str) -> None:
    kind = f"x{text}"
    parts = [{"type": kind}]
    document = message(*parts, {"type": "actions", "elements": parts}, {"type": "rich_text", "elements": parts})
    assert {tag.name for tag in document.tags} <= {"div", "p", "span"}
