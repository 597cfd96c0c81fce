"""Slack's rules for blocks. Limits are from its documentation unless a comment beside them says otherwise."""

from __future__ import annotations

import json
from typing import Any

from localslack.rules.elements import (
    ACCESSORY,
    ACTIONS,
    CONTEXT_ACTIONS,
    CONTEXT_IMAGE,
    CONTEXT_TEXT,
    HAS_ONE_SOURCE,
    IDENTIFIER,
    IMAGE,
    match_pattern,
    plain_text,
    text_object,
)
from localslack.rules.schema import (
    Demand,
    Shape,
    has_unique_values,
    integer,
    is_boolean,
    is_link_url,
    is_number,
    items,
    one_of,
    one_of_types,
    shape,
    string,
)

Json = dict[str, Any]

TEXT = 40_000  # documented as the length of truncation; refused here so that bots do not rely on that
MARKDOWN_TEXT = 12_000  # the argument, and all markdown blocks of a message together
TABLE_TEXT = 10_000
DATA_TABLE_TEXT = 20_000

# Rich text

STYLE = shape({}, bold=is_boolean, italic=is_boolean, strike=is_boolean, code=is_boolean, underline=is_boolean)
NAME_STYLE = shape(
    {},
    bold=is_boolean,
    italic=is_boolean,
    strike=is_boolean,
    highlight=is_boolean,
    client_highlight=is_boolean,
    unlink=is_boolean,
)
LITERAL = {
    "text": shape({"text": string(TEXT)}, style=STYLE),
    "link": shape({"url": is_link_url}, text=string(), unsafe=is_boolean, style=STYLE),
}
INLINE = LITERAL | {
    "emoji": shape({"name": string()}, skin_tone=integer(1, 6), unicode=string(), style=STYLE),
    "user": shape({"user_id": string()}, style=NAME_STYLE),
    "channel": shape({"channel_id": string()}, style=NAME_STYLE),
    "usergroup": shape({"usergroup_id": string()}, style=NAME_STYLE),
    "broadcast": shape({"range": one_of("here", "channel", "everyone")}, style=NAME_STYLE),
    "color": shape({"value": match_pattern(r"#[0-9a-fA-F]{6}")}),
    "date": shape({"timestamp": integer(), "format": string()}, url=is_link_url, fallback=string(), style=STYLE),
}
UNLIMITED = 2**31  # no limit is documented; an empty list is accepted here
SECTION = shape({"elements": items(one_of_types(INLINE), 0, UNLIMITED)})
BORDER = integer(0, 1)
RICH_TEXT = one_of_types(
    {
        "rich_text_section": SECTION,
        "rich_text_quote": shape({"elements": items(one_of_types(INLINE), 0, UNLIMITED)}, border=BORDER),
        "rich_text_preformatted": shape(
            {"elements": items(one_of_types(LITERAL), 0, UNLIMITED)}, border=BORDER, language=string()
        ),
        "rich_text_list": shape(
            {
                "style": one_of("bullet", "ordered"),
                "elements": items(one_of_types({"rich_text_section": SECTION}), 0, UNLIMITED),
            },
            indent=integer(0, 8),
            offset=integer(),
            border=BORDER,
        ),
    }
)
RICH_TEXT_BLOCK = shape({"elements": items(RICH_TEXT, 1, UNLIMITED)}, block_id=IDENTIFIER)

# Blocks

RAW_CELLS = {"raw_text": shape({"text": string()}), "raw_number": shape({"value": is_number, "text": string()})}
CELL = one_of_types(RAW_CELLS | {"rich_text": RICH_TEXT_BLOCK})
COLUMN = shape({}, align=one_of("left", "center", "right"), is_wrapped=is_boolean)


def has_valid_rows(block: Json) -> bool:
    """Return whether the header has no rich text, and every row is as wide as the header."""
    header, *rows = block["rows"]
    return all(map(one_of_types(RAW_CELLS), header)) and all(len(row) == len(header) for row in rows)


# of cards in blocks; those of streams have texts in their place
RICH_TEXT_OF_TASK = one_of_types({"rich_text": RICH_TEXT_BLOCK})
TASK_SOURCE = one_of_types({"url": shape({"url": is_link_url, "text": string()})})
TASK_CARD = shape(
    {"task_id": string(), "title": string()},
    status=one_of("pending", "in_progress", "complete", "error"),
    details=RICH_TEXT_OF_TASK,
    output=RICH_TEXT_OF_TASK,
    sources=items(TASK_SOURCE, 0, UNLIMITED),
    hide_title=is_boolean,
)

BLOCKS: dict[str, Shape] = {
    "section": shape(
        {},
        Demand(lambda block: "text" in block or "fields" in block, "needs text or fields"),
        text=text_object(3_000),
        fields=items(text_object(2_000), 1, 10),
        accessory=ACCESSORY,
        expand=is_boolean,
    ),
    "header": shape({"text": plain_text(150)}),
    "divider": shape({}),
    "context": shape({"elements": items(CONTEXT_TEXT | CONTEXT_IMAGE, 1, 10)}),
    "actions": shape(
        {"elements": items(ACTIONS, 1, 25)},
        Demand(lambda block: has_unique_values("action_id", block["elements"]), "repeats an action_id"),
    ),
    "context_actions": shape({"elements": items(CONTEXT_ACTIONS, 1, 5)}),
    "image": Shape(IMAGE.required, {**IMAGE.optional, "title": plain_text(2_000)}, HAS_ONE_SOURCE),
    "markdown": shape({"text": string(MARKDOWN_TEXT)}),
    "rich_text": RICH_TEXT_BLOCK,
    "task_card": TASK_CARD,
    "plan": shape(
        {"title": string()},
        Demand(lambda block: has_unique_values("task_id", block.get("tasks", ())), "repeats a task_id"),
        tasks=items(one_of_types({"task_card": TASK_CARD}), 0, 50),
    ),
    "table": shape(
        {"rows": items(items(CELL, 1, 20), 1, 100)},
        Demand(
            lambda block: count_characters(block["rows"]) <= TABLE_TEXT,
            f"must have at most {TABLE_TEXT:,} characters",
        ),
        column_settings=items(lambda v: v is None or COLUMN(v), 0, 20),
    ),
    # 200 rows below the header; an older copy of the documentation has 100
    "data_table": shape(
        {"caption": string(), "rows": items(items(CELL, 1, 20), 2, 201)},
        Demand(
            lambda block: has_valid_rows(block) and count_characters(block["rows"]) <= DATA_TABLE_TEXT,
            f"needs a header without rich text, rows as wide as it, and {DATA_TABLE_TEXT:,} characters at most",
        ),
        page_size=integer(1, 100),
        row_header_column_index=integer(0, 19),
    ),
}
BLOCK = one_of_types(
    {kind: Shape(s.required, {**s.optional, "block_id": IDENTIFIER}, s.rule) for kind, s in BLOCKS.items()}
)
TABLES = frozenset({"table", "data_table"})

# Blocks of a message


def read_blocks(arguments: Json) -> list[Any]:
    """Return the blocks of a message, or an empty list if they are unreadable."""
    try:
        return parse_blocks(arguments.get("blocks"))
    except ValueError:
        return []


def parse_blocks(value: object) -> list[Any]:
    """Return a list that came as JSON or as a form's string. Raises ValueError if it is not one."""
    blocks = json.loads(value) if isinstance(value, str) and value else value
    if blocks in (None, ""):
        return []
    if not isinstance(blocks, list):
        raise ValueError("not a list")  # noqa: TRY004 (the caller treats it as text that is not JSON)
    return blocks


def count_characters(value: object) -> int:
    """Count the characters of text in blocks, with links' addresses. Whether Slack counts those is not known."""
    count, pending = 0, [value]
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            count += len(node["text"]) if isinstance(node.get("text"), str) else 0
            count += len(node["url"]) if node.get("type") == "link" else 0
            pending += node.values()
        elif isinstance(node, list):
            pending += node
    return count
