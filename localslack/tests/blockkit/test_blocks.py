from dataclasses import replace

import pytest

from localslack.blockkit import render_message
from localslack.testing.html import parse_html
from tests.blockkit.shown import NAMES, Json, message
from tests.parts import (
    IMAGE,
    bullets,
    context,
    data_table,
    header,
    inline,
    link,
    markdown,
    mrkdwn,
    part,
    plain,
    rich,
    section,
    table,
    word,
)


def test_a_header_is_a_heading_with_emoji_and_without_markup() -> None:
    assert message(header("*a* :tada: <@U0BOB>")).text == "*a* 🎉 <@U0BOB>"
    assert message(header()).find_one("h3")["class"] == "bk-header"
    literal = {"type": "header", "text": {**plain(":tada:"), "emoji": False}}
    assert message(literal).text == ":tada:"


def test_a_section_has_its_text_its_fields_and_what_stands_beside() -> None:
    document = message(section("*a*", fields=[mrkdwn("_b_"), plain("*c*\nd")], accessory=IMAGE))
    assert document.text == "ab*c*\ndx"
    assert [tag.name for tag in document.find_all() if tag.name in ("strong", "em")] == ["strong", "em"]
    assert len(document.find_by_class("bk-fields")) == len(document.find_by_class("bk-accessory")) == 1


def test_fields_stand_without_a_text_too() -> None:
    assert message({"type": "section", "fields": [plain("a"), plain("b")]}).text == "ab"


def test_small_print_has_texts_and_images() -> None:
    document = message(context(mrkdwn("*a*"), IMAGE, plain("*b*")))
    assert document.text == "ax*b*"
    assert document.find_by_class("bk-image-small")[0]["href"] == IMAGE["image_url"]


def test_a_divider_is_a_line() -> None:
    assert len(message({"type": "divider"}).find_all("hr")) == 1


@pytest.mark.parametrize(
    ("image", "href"),
    [
        (IMAGE, [IMAGE["image_url"]]),
        ({**IMAGE, "image_url": "javascript:x"}, []),
        ({"type": "image", "alt_text": "x", "slack_file": {"id": "F1"}}, []),
        ({"type": "image", "alt_text": "x", "slack_file": {"url": "https://a.example"}}, ["https://a.example"]),
    ],
)
def test_an_image_is_its_description_and_is_never_loaded(image: Json, href: list[str]) -> None:
    document = message({**image, "title": plain("Title")})
    assert document.text == "Titlex"
    assert [tag["href"] for tag in document.find_all("a")] == href


STYLES = [("bold", "strong"), ("italic", "em"), ("strike", "s"), ("underline", "u"), ("code", "code")]


@pytest.mark.parametrize(("style", "tag"), STYLES)
def test_rich_text_has_styles(style: str, tag: str) -> None:
    document = message(inline(word("a"), word("*b*\n", style={style: True}), link(text="c", style={style: True})))
    assert document.text == "a*b*\nc"
    assert len(document.find_all(tag)) == 2


def test_styles_go_together() -> None:
    document = message(inline(word(style={style: True for style, _ in STYLES})))
    assert {tag for _, tag in STYLES} <= {tag.name for tag in document.tags}


@pytest.mark.parametrize(
    ("element", "text"),
    [
        (link("https://a.example"), "https://a.example"),
        (link("https://a.example", text="<b>"), "<b>"),
        (link("javascript:x", text="a"), "a"),
        ({"type": "emoji", "name": "tada"}, "🎉"),
        ({"type": "emoji", "name": "unheard", "unicode": "1f44b-1f3fb"}, "👋🏻"),
        ({"type": "emoji", "name": "wave", "skin_tone": 2}, "👋🏻"),
        ({"type": "emoji", "name": "unheard"}, ":unheard:"),
        ({"type": "emoji", "name": "x", "unicode": "d800"}, "❌"),
        ({"type": "emoji", "name": "x", "unicode": "0"}, "❌"),
        ({"type": "emoji", "name": "x", "unicode": "ffffff"}, "❌"),
        ({"type": "user", "user_id": "U0BOB"}, "@bob"),
        ({"type": "user", "user_id": "U0NEW"}, "@U0NEW"),
        ({"type": "channel", "channel_id": "C0OPEN"}, "#open"),
        ({"type": "usergroup", "usergroup_id": "S0TEAM"}, "@S0TEAM"),
        ({"type": "broadcast", "range": "here"}, "@here"),
        ({"type": "color", "value": "#A1b2C3"}, "#A1b2C3"),
        ({"type": "date", "timestamp": 0, "format": "{date_num}"}, "1970-01-01"),
        ({"type": "date", "timestamp": 2**53, "format": "{date_num}", "fallback": "then"}, "then"),
        ({"type": "novelty"}, "novelty can\u2019t be shown here"),
    ],
)
def test_rich_text_is_made_of_pieces(element: Json, text: str) -> None:
    assert message(inline(element)).text == text


@pytest.mark.parametrize("value", ["url(https://evil.example)", "red", "#12345", ""])
def test_a_colour_that_is_none_is_drawn_nowhere(value: str) -> None:
    assert message(inline({"type": "color", "value": value})).find_all("rect") == []


def test_lists_are_indented_numbered_and_go_on() -> None:
    item = part("section", word())
    document = message(
        rich(
            part("list", item, style="bullet", indent=2, border=1),
            part("list", item, item, style="ordered"),
            part("list", item, style="ordered", offset=2),
        )
    )
    assert document.find_one("ul")["class"] == "bk-list bk-indent-2 bk-bordered"
    assert [tag.attributes.get("start") for tag in document.find_all("ol")] == [None, "3"]
    assert len(document.find_all("li")) == 4


def test_quotes_and_code_are_literal() -> None:
    document = message(rich(part("quote", word("*a*\nb")), part("preformatted", word("*c*\n  d"), link(text="e"))))
    assert document.text == "*a*\nb*c*\n  de"
    assert (
        len(document.find_all("blockquote")) == len(document.find_all("pre")) == len(document.find_all("a")) == 1
    )


def test_markdown_is_markdown() -> None:
    assert len(message(markdown("**a**")).find_all("strong")) == 1


def test_a_table_has_a_head_sides_and_cells_of_three_kinds() -> None:
    head = [{"type": "raw_text", "text": text} for text in ("a", "b", "c")]
    row = [
        {"type": "raw_number", "value": 1.5},
        inline(word("d", style={"bold": True})),
        {"type": "raw_text", "text": "e"},
    ]
    columns = [None, {"align": "center", "is_wrapped": True}]
    document = message({**table(), "rows": [head, row], "column_settings": columns})
    assert document.text == "abc1.5de"
    assert [tag["scope"] for tag in document.find_all("th")] == ["col"] * 3
    assert [tag["class"] for tag in document.find_all("td")] == [
        "bk-align-right bk-nowrap",
        "bk-align-center bk-wrap",
        "bk-align-left bk-nowrap",
    ]
    box = document.find_by_class("bk-scroll")[0]
    assert (box["tabindex"], box["aria-label"]) == ("0", "Table")


def test_a_number_may_be_written_in_its_own_way() -> None:
    cell = {"type": "raw_number", "value": 1500, "text": "1.5 k"}
    assert message({**table(), "rows": [[cell]]}).text == "1.5 k"
    assert message({**table(), "rows": [[{"type": "raw_number", "value": 0}]]}).text == "0"


@pytest.mark.parametrize("named", [{}, {"row_header_column_index": 0}])
def test_a_data_table_has_a_caption_and_names_its_rows(named: Json) -> None:
    document = message(data_table(3, **named))
    assert document.text == "x" * 4
    assert [tag["scope"] for tag in document.find_all("th")] == ["col", "row", "row"]
    assert (
        len(document.find_all("caption"))
        == len(document.find_all("thead"))
        == len(document.find_all("tbody"))
        == 1
    )


@pytest.mark.parametrize(
    ("status", "label"),
    [
        ("pending", "To do"),
        ("in_progress", "In progress"),
        ("complete", "Done"),
        ("error", "Failed"),
        ("?", "To do"),
    ],
)
def test_a_task_says_how_it_stands(status: str, label: str) -> None:
    source = {"type": "url", "url": "https://a.example", "text": "d"}
    task = {
        "type": "task_card",
        "title": "a",
        "status": status,
        "details": "**b**",
        "output": "c",
        "sources": [source],
    }
    for block in (task, {"type": "plan", "title": "", "tasks": [task]}):
        document = message(block)
        assert [line for line in document.text.split("\n") if line] == ["ab", "c", "d"]
        assert document.find_one("span", role="img")["aria-label"] == label
        assert document.find_one("a")["href"] == "https://a.example"


def test_a_plan_has_a_title_and_tasks_and_they_may_be_rich() -> None:
    tasks = [
        {"title": "b", "status": "complete", "output": inline(word("c"))},
        {"title": "d", "status": "pending"},
    ]
    assert message({"type": "plan", "title": "a", "tasks": tasks}).text == "abcd"


def test_a_block_that_nobody_knows_is_named() -> None:
    document = message({"type": "video", "title": "x"}, bullets())
    assert document.text == "A block of the type video can\u2019t be shown herex"


def test_a_message_without_blocks_is_its_text() -> None:
    assert message(text="*a*\n:tada:").text == "a\n🎉"
    assert message(text="*a*", mrkdwn=False).text == "*a*"
    assert message(header("a"), text="b").text == "a"
    assert message().text == ""


def test_a_file_leads_to_its_page_and_its_bytes() -> None:
    document = message(files=[{"id": "F1", "name": "day.md", "title": "The day", "size": 12_345}])
    assert [tag["href"] for tag in document.find_all("a")] == ["/files/F1", "/files/F1/download"]
    assert "The day" in document.text
    assert "day.md, 12.3 kB" in document.text


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0 bytes"), (999, "999 bytes"), (1_000, "1.0 kB"), (2_500_000, "2.5 MB")]
)
def test_the_size_of_a_file_is_for_people(size: int, text: str) -> None:
    assert f"day.md, {text}" in message(files=[{"id": "F1", "name": "day.md", "size": size}]).text


def test_attachments_come_below() -> None:
    field = {"title": "e", "value": "*f*"}
    whole = {"pretext": "a", "author_name": "b", "title": "c", "title_link": "https://a.example", "text": "*d*"}
    document = message(text="0", attachments=[{**whole, "fields": [field], "footer": "g"}, {"fallback": "h"}])
    assert document.text.replace("\n", "") == "0abcdefgh"
    assert len(document.find_all("strong")) == 3
    assert document.find_one("a")["href"] == "https://a.example"
    assert message(attachments=[{"blocks": [header("i")]}]).text == "i"


def test_a_message_that_is_being_written_shows_it() -> None:
    going, done = (message(markdown(), streaming_state=state) for state in ("in_progress", "completed"))
    assert len(going.find_by_class("is-streaming")) == 1
    assert done.find_by_class("is-streaming") == []


def test_readers_see_their_own_name_stand_out() -> None:
    mention = {"type": "user", "user_id": "U0BOB"}
    assert message(inline(mention)).find_by_class("bk-mention-me") == []
    assert len(message(inline(mention), names=replace(NAMES, reader="U0BOB")).find_by_class("bk-mention-me")) == 1


def test_nothing_is_changed_by_looking_at_it() -> None:
    shown = {
        "ts": "1.0",
        "blocks": [header(), {"type": "actions", "elements": [{"type": "button", "text": plain("x")}]}],
    }
    before = repr(shown)
    parse_html(render_message(shown, NAMES))
    assert repr(shown) == before
