import json
from typing import Any

import pytest

from localslack.rules.messages import METADATA_BYTES, check_message
from tests.client import META
from tests.parts import (
    FEEDBACK,
    IMAGE,
    Json,
    actions,
    bullets,
    button,
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

ACCEPTED: list[list[Json]] = [
    [section("x" * 3_000)],
    [section(plain("x"))],
    [{"type": "section", "fields": [mrkdwn("x" * 1_000)] * 10}],
    [section(accessory=button(action_id="a")), section(accessory=IMAGE)],
    [header("x" * 150), {"type": "divider"}, IMAGE | {"title": plain("x")}],
    [context(*[mrkdwn("x")] * 9, IMAGE)],
    [actions(*[button(action_id=str(n)) for n in range(25)])],
    [actions(button(text=plain("x" * 75), value="x" * 2_000, url=f"https://x/{'y' * 2_000}", style="primary"))],
    [{"type": "context_actions", "elements": [FEEDBACK]}],
    [{"type": "divider"}] * 50,
    [section(block_id="a" * 255), section(block_id="b")],
    [inline(word(style={"bold": True, "italic": True, "strike": True, "code": True}), link(text="x"))],
    [inline({"type": "emoji", "name": "eyes"}, {"type": "user", "user_id": "U1"})],
    [inline({"type": "usergroup", "usergroup_id": "S1"}, {"type": "channel", "channel_id": "C1"})],
    [inline({"type": "broadcast", "range": "here"}, {"type": "color", "value": "#00ff00"})],
    [inline({"type": "date", "timestamp": 1, "format": "{date}", "fallback": "x"})],
    [inline(link("mailto:a@example.com"))],
    [bullets(), bullets(style="ordered", indent=8, border=1, offset=2)],
    [rich(part("quote", word(), border=1), part("preformatted", word(), link(), language="python"))],
    [markdown("x" * 6_000)] * 2,
    [table(100, 20, column_settings=[None, {"align": "right", "is_wrapped": True}])],
    [table(1, 10, "x" * 1_000)],
    [{"type": "table", "rows": [[inline(word()), {"type": "raw_number", "value": 1.5, "text": "1.5"}]]}],
    [data_table(201, page_size=100), section("x" * 3_000)],
    [section("x" * 2_640)] * 5,
]


@pytest.mark.parametrize("blocks", ACCEPTED, ids=lambda blocks: str(blocks)[:60])
def test_accepted_blocks(blocks: list[Json]) -> None:
    assert check_message({"text": "x", "blocks": blocks}) is None
    assert check_message({"blocks": json.dumps(blocks)}) is None


INVALID: list[list[Any]] = [
    ["section"],
    [{"type": "sparkle"}],
    [{"type": ["section"]}],
    [{"text": plain("x")}],
    [{"type": "divider"}] * 51,
    [{"type": "divider", "text": plain("x")}],
    [{"type": "section"}],
    [section("")],
    [section("x" * 3_001)],
    [section(colour="red")],
    [section({"type": "markdown", "text": "x"})],
    [section({"type": "plain_text", "text": "x", "verbatim": True})],
    [section({"type": "mrkdwn", "text": None})],
    [{"type": "section", "fields": []}],
    [{"type": "section", "fields": [plain("x")] * 11}],
    [{"type": "section", "fields": [plain("x" * 2_001)]}],
    [header("")],
    [header("x" * 151)],
    [{"type": "header", "text": mrkdwn("x")}],
    [context()],
    [context(*[mrkdwn("x")] * 11)],
    [context(mrkdwn(""))],
    [context(button())],
    [actions()],
    [actions(*[button()] * 26)],
    [actions(button(action_id="a"), button(action_id="a"))],
    [actions(button(text=plain("x" * 76)))],
    [actions(button(text=mrkdwn("x")))],
    [actions(button(value="x" * 2_001))],
    [actions(button(url=f"https://x/{'y' * 3_000}"))],
    [actions(button(url="javascript:alert(1)"))],
    [actions(button(action_id="x" * 256))],
    [actions(button(style="loud"))],
    [actions({"type": "slider"})],
    [{"type": "context_actions", "elements": [FEEDBACK] * 6}],
    [{"type": "context_actions", "elements": [button()]}],
    [section(block_id="x" * 256)],
    [section(block_id="a"), header() | {"block_id": "a"}],
    [IMAGE | {"slack_file": {"id": "F1"}}],
    [{"type": "image", "image_url": "https://example.com/a.png"}],
    [rich()],
    [{"type": "rich_text"}],
    [rich(word())],
    [inline(word(""))],
    [inline(word(style={"loud": True}))],
    [inline(word(style={"bold": "yes"}))],
    [inline(word(url="https://example.com"))],
    [inline(link("example.com"))],
    [inline(link("javascript:alert(1)"))],
    [inline(link(text=""))],
    [inline({"type": "broadcast", "range": "all"})],
    [inline({"type": "user"})],
    [inline({"type": "color", "value": "red"})],
    [inline({"type": "date", "timestamp": "1", "format": "{date}"})],
    [inline({"type": "sticker"})],
    [inline(part("section", word()))],
    [bullets(style="dashed")],
    [bullets(indent=9)],
    [bullets(indent=True)],
    [bullets(border=2)],
    [rich(part("list", part("section", word())))],
    [rich(part("list", word(), style="bullet"))],
    [rich(part("preformatted", {"type": "user", "user_id": "U1"}))],
    [markdown("")],
    [markdown("x" * 12_001)],
    [table(101)],
    [table(1, 21)],
    [table(text="")],
    [table(73, 1, "x" * 137)],
    [table(column_settings=[{"align": "middle"}])],
    [data_table(1)],
    [data_table(202)],
    [data_table(page_size=101)],
    [data_table() | {"rows": table(11, 1, "x" * 1_819)["rows"]}],
    [data_table() | {"rows": [[{"type": "raw_text", "text": "a"}], [{"type": "raw_text", "text": "a"}] * 2]}],
    [{key: value for key, value in data_table().items() if key != "caption"}],
]


@pytest.mark.parametrize("blocks", INVALID, ids=lambda blocks: str(blocks)[:60])
def test_invalid_blocks(blocks: list[Any]) -> None:
    assert check_message({"text": "x", "blocks": blocks}) == "invalid_blocks"


def metadata(**more: Any) -> Json:
    return {"text": "x", "metadata": {**META, **more}}


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({}, "no_text"),
        ({"text": " \n"}, "no_text"),
        ({"text": "", "blocks": []}, "no_text"),
        ({"text": "x" * 40_000}, None),
        ({"text": "x" * 40_001}, "msg_too_long"),
        ({"markdown_text": "x" * 12_000}, None),
        ({"markdown_text": "x" * 12_001}, "msg_too_long"),
        ({"markdown_text": "x", "text": "x"}, "markdown_text_conflict"),
        ({"markdown_text": "x", "blocks": [section()]}, "markdown_text_conflict"),
        ({"blocks": "[{"}, "invalid_blocks_format"),
        ({"blocks": {"type": "divider"}}, "invalid_blocks_format"),
        ({"blocks": [table(), data_table()]}, "only_one_table_allowed"),
        ({"blocks": [markdown("x" * 6_001)] * 2}, "msg_blocks_too_long"),
        ({"blocks": [section("x" * 2_640)] * 5 + [section()]}, "msg_blocks_too_long"),
        ({"blocks": [inline(word("x" * 13_000), link(text="x" * 200))]}, "msg_blocks_too_long"),
        ({"text": "x", "attachments": [{"text": "x"}] * 101}, "too_many_attachments"),
        (metadata(), None),
        (metadata(event_type=""), "invalid_metadata_schema"),
        (metadata(event_payload=[]), "invalid_metadata_schema"),
        (metadata(entities=[]), "invalid_metadata_schema"),
        ({"text": "x", "metadata": "{"}, "invalid_metadata_format"),
        (metadata(event_payload={"x": "y" * METADATA_BYTES}), "metadata_too_large"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_whole_messages(arguments: Json, error: str | None) -> None:
    assert check_message(arguments) == error
