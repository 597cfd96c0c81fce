"""What Slack accepts in a message, and what in a message is live. Pure: arguments in, an answer out.

Limits are Slack's documentation's unless the line beside them says otherwise.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import unescape
from itertools import chain
from typing import Any

MESSAGE_BLOCKS = 50
ATTACHMENTS = 100
TEXT = 40_000  # documented as the length at which text is cut; refused here so that nobody relies on the cut
UPDATE_TEXT = 4_000
MARKDOWN_TEXT = 12_000  # the argument, and all markdown blocks of a message together
BLOCKS_TEXT = 13_200  # undocumented; measured by others, lower still with many headers or rich text
TABLE_TEXT = 10_000
DATA_TABLE_TEXT = 20_000
METADATA_BYTES = 8_000  # the error is documented and its threshold is not: a cautious guess

Json = dict[str, Any]
Check = Callable[[Any], bool]


# Checks of single values


def anything(_: object) -> bool:
    return True


def string(maximum: int = 3_000, minimum: int = 1) -> Check:
    return lambda value: isinstance(value, str) and minimum <= len(value) <= maximum


def integer(minimum: int = 0, maximum: int = 2**53) -> Check:
    return lambda value: type(value) is int and minimum <= value <= maximum


def one_of(*accepted: str) -> Check:
    return lambda value: isinstance(value, str) and value in accepted


def flag(value: object) -> bool:
    return isinstance(value, bool)


def number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def link_url(value: object) -> bool:
    return isinstance(value, str) and len(value) <= 3_000 and re.match(r"(https?://|mailto:)\S", value) is not None


def items(check: Check, minimum: int, maximum: int) -> Check:
    return lambda value: (
        isinstance(value, list) and minimum <= len(value) <= maximum and all(check(item) for item in value)
    )


@dataclass(frozen=True)
class Shape:
    """An object whose keys are all known; ``rule`` is what no single key can say."""

    required: dict[str, Check]
    optional: dict[str, Check]
    rule: Check = anything

    def __call__(self, value: object) -> bool:
        if not isinstance(value, dict) or not self.required.keys() <= value.keys():
            return False
        known = self.required | self.optional
        return all(key in known and known[key](part) for key, part in value.items()) and self.rule(value)


def shape(required: dict[str, Check], rule: Check = anything, **optional: Check) -> Shape:
    return Shape(required, optional, rule)


def typed(shapes: dict[str, Shape]) -> Check:
    """Objects that say what they are in ``type``."""
    with_type = {kind: Shape({"type": anything, **s.required}, s.optional, s.rule) for kind, s in shapes.items()}

    def check(value: object) -> bool:
        kind = value.get("type") if isinstance(value, dict) else None
        return isinstance(kind, str) and kind in with_type and with_type[kind](value)

    return check


def unique(key: str, values: list[Any]) -> bool:
    found = [value[key] for value in values if isinstance(value, dict) and key in value]
    return len(found) == len(set(map(str, found)))


# Text objects and elements

IDENTIFIER = string(255)


def plain(maximum: int) -> Check:
    return typed({"plain_text": shape({"text": string(maximum)}, emoji=flag)})


def text_object(maximum: int) -> Check:
    mrkdwn = shape({"text": string(maximum)}, verbatim=flag)
    return typed({"plain_text": shape({"text": string(maximum)}, emoji=flag), "mrkdwn": mrkdwn})


CONFIRM = shape(
    {"title": plain(100), "text": text_object(300), "confirm": plain(30), "deny": plain(30)},
    style=one_of("primary", "danger"),
)
OPTION = shape({"text": text_object(75), "value": string(150)}, description=plain(75), url=link_url)
FEEDBACK = shape({"text": plain(75), "value": string(2_000)}, accessibility_label=string(75))
SLACK_FILE = shape({}, lambda value: len(value) == 1, id=string(), url=string())


def one_source(value: Json) -> bool:
    return ("image_url" in value) != ("slack_file" in value)


IMAGE = shape({"alt_text": string(2_000)}, one_source, image_url=link_url, slack_file=SLACK_FILE)
BUTTON = shape(
    {"text": plain(75)},
    action_id=IDENTIFIER,
    value=string(2_000),
    url=link_url,
    style=one_of("primary", "danger"),
    confirm=CONFIRM,
    accessibility_label=string(75),
    agent_prompt=string(4_000),
    visible_to_user_ids=items(string(), 1, 10),
)
OVERFLOW = shape({"options": items(OPTION, 1, 5)}, action_id=IDENTIFIER, confirm=CONFIRM)
SELECT = shape(
    {"options": items(OPTION, 1, 100)},
    action_id=IDENTIFIER,
    placeholder=plain(150),
    initial_option=OPTION,
    confirm=CONFIRM,
    focus_on_load=flag,
)
ACTIONS = typed({"button": BUTTON, "overflow": OVERFLOW, "static_select": SELECT})
ACCESSORY = typed({"button": BUTTON, "overflow": OVERFLOW, "static_select": SELECT, "image": IMAGE})
CONTEXT_ACTIONS = typed(
    {
        "feedback_buttons": shape(
            {"positive_button": FEEDBACK, "negative_button": FEEDBACK}, action_id=IDENTIFIER
        ),
        "icon_button": shape(
            {"icon": string(), "text": plain(75)},
            action_id=IDENTIFIER,
            value=string(2_000),
            accessibility_label=string(75),
            visible_to_user_ids=items(string(), 1, 10),
            confirm=CONFIRM,
        ),
    }
)

CONTEXT_TEXT, CONTEXT_IMAGE = text_object(3_000), typed({"image": IMAGE})

# Rich text

STYLE = shape({}, bold=flag, italic=flag, strike=flag, code=flag, underline=flag)
NAME_STYLE = shape({}, bold=flag, italic=flag, strike=flag, highlight=flag, client_highlight=flag, unlink=flag)
LITERAL = {
    "text": shape({"text": string(TEXT)}, style=STYLE),
    "link": shape({"url": link_url}, text=string(), unsafe=flag, style=STYLE),
}
INLINE = LITERAL | {
    "emoji": shape({"name": string()}, skin_tone=integer(1, 6), unicode=string(), style=STYLE),
    "user": shape({"user_id": string()}, style=NAME_STYLE),
    "channel": shape({"channel_id": string()}, style=NAME_STYLE),
    "usergroup": shape({"usergroup_id": string()}, style=NAME_STYLE),
    "broadcast": shape({"range": one_of("here", "channel", "everyone")}, style=NAME_STYLE),
    "color": shape({"value": lambda v: isinstance(v, str) and re.fullmatch(r"#[0-9a-fA-F]{6}", v) is not None}),
    "date": shape({"timestamp": integer(), "format": string()}, url=link_url, fallback=string(), style=STYLE),
}
MANY = 2**31  # no limit is documented; an empty list is accepted here
SECTION = shape({"elements": items(typed(INLINE), 0, MANY)})
BORDER = integer(0, 1)
RICH_TEXT = typed(
    {
        "rich_text_section": SECTION,
        "rich_text_quote": shape({"elements": items(typed(INLINE), 0, MANY)}, border=BORDER),
        "rich_text_preformatted": shape(
            {"elements": items(typed(LITERAL), 0, MANY)}, border=BORDER, language=string()
        ),
        "rich_text_list": shape(
            {
                "style": one_of("bullet", "ordered"),
                "elements": items(typed({"rich_text_section": SECTION}), 0, MANY),
            },
            indent=integer(0, 8),
            offset=integer(),
            border=BORDER,
        ),
    }
)
RICH_TEXT_BLOCK = shape({"elements": items(RICH_TEXT, 1, MANY)}, block_id=IDENTIFIER)

# Blocks

RAW = {
    "raw_text": shape({"text": string()}),
    "raw_number": shape({"value": number, "text": string()}),
}
CELL = typed(RAW | {"rich_text": RICH_TEXT_BLOCK})
COLUMN = shape({}, align=one_of("left", "center", "right"), is_wrapped=flag)


def data_rows(block: Json) -> bool:
    """A header without rich text, and rows that are all as wide as it."""
    header, *rows = block["rows"]
    return all(map(typed(RAW), header)) and all(len(row) == len(header) for row in rows)


BLOCKS: dict[str, Shape] = {
    "section": shape(
        {},
        lambda block: "text" in block or "fields" in block,
        text=text_object(3_000),
        fields=items(text_object(2_000), 1, 10),
        accessory=ACCESSORY,
        expand=flag,
    ),
    "header": shape({"text": plain(150)}),
    "divider": shape({}),
    "context": shape({"elements": items(lambda v: CONTEXT_TEXT(v) or CONTEXT_IMAGE(v), 1, 10)}),
    "actions": shape({"elements": items(ACTIONS, 1, 25)}, lambda block: unique("action_id", block["elements"])),
    "context_actions": shape({"elements": items(CONTEXT_ACTIONS, 1, 5)}),
    "image": Shape(IMAGE.required, {**IMAGE.optional, "title": plain(2_000)}, one_source),
    "markdown": shape({"text": string(MARKDOWN_TEXT)}),
    "rich_text": RICH_TEXT_BLOCK,
    "table": shape(
        {"rows": items(items(CELL, 1, 20), 1, 100)},
        lambda block: written(block["rows"]) <= TABLE_TEXT,
        column_settings=items(lambda v: v is None or COLUMN(v), 0, 20),
    ),
    # 200 rows under the header; an older capture of the documentation says 100
    "data_table": shape(
        {"caption": string(), "rows": items(items(CELL, 1, 20), 2, 201)},
        lambda block: data_rows(block) and written(block["rows"]) <= DATA_TABLE_TEXT,
        page_size=integer(1, 100),
        row_header_column_index=integer(0, 19),
    ),
}
BLOCK = typed(
    {kind: Shape(s.required, {**s.optional, "block_id": IDENTIFIER}, s.rule) for kind, s in BLOCKS.items()}
)
TABLES = frozenset({"table", "data_table"})


# A whole message


def check_message(arguments: Json, *, text_limit: int = TEXT) -> str | None:
    """Slack's error code for the arguments of a post, or None if it takes them."""
    try:
        blocks = _listed(arguments.get("blocks"))
    except ValueError:
        return "invalid_blocks_format"
    return (
        _check_text(arguments, blocks, text_limit)
        or _check_blocks(blocks)
        or check_metadata(arguments.get("metadata"))
    )


def check_metadata(metadata: object) -> str | None:
    if metadata is None or metadata == "":
        return None
    try:
        found = json.loads(metadata) if isinstance(metadata, str) else metadata
    except ValueError:
        return "invalid_metadata_format"
    if not shape({"event_type": string(), "event_payload": lambda v: isinstance(v, dict)})(found):
        return "invalid_metadata_schema"
    return "metadata_too_large" if len(json.dumps(found).encode()) > METADATA_BYTES else None


def blocks_of(arguments: Json) -> list[Any]:
    """The blocks of a message, or nothing when they cannot be read."""
    try:
        return _listed(arguments.get("blocks"))
    except ValueError:
        return []


def _listed(value: object) -> list[Any]:
    """A list that came as JSON or as a form's string."""
    found = json.loads(value) if isinstance(value, str) and value else value
    if found in (None, ""):
        return []
    if not isinstance(found, list):
        raise ValueError("not a list")  # noqa: TRY004 (the caller treats it as text that is not JSON)
    return found


def _check_text(arguments: Json, blocks: list[Any], text_limit: int) -> str | None:
    text, markdown = str(arguments.get("text") or ""), str(arguments.get("markdown_text") or "")
    if markdown and (text or blocks):
        return "markdown_text_conflict"
    # that white space alone counts as no text is not documented: the stricter reading
    if not (text.strip() or markdown.strip() or blocks or arguments.get("attachments")):
        return "no_text"
    if len(text) > text_limit or len(markdown) > MARKDOWN_TEXT:
        return "msg_too_long"
    attachments = arguments.get("attachments")
    return "too_many_attachments" if isinstance(attachments, list) and len(attachments) > ATTACHMENTS else None


def _check_blocks(blocks: list[Any]) -> str | None:
    if len(blocks) > MESSAGE_BLOCKS or not all(map(BLOCK, blocks)) or not unique("block_id", blocks):
        return "invalid_blocks"
    kinds = [block["type"] for block in blocks]
    if sum(kind in TABLES for kind in kinds) > 1:
        return "only_one_table_allowed"
    markdown = sum(len(block["text"]) for block in blocks if block["type"] == "markdown")
    # a data_table may hold more than a whole message, so its cells cannot count
    total = written([block for block in blocks if block["type"] != "data_table"])
    return "msg_blocks_too_long" if markdown > MARKDOWN_TEXT or total > BLOCKS_TEXT else None


def written(value: object) -> int:
    """Characters of text in blocks. Whether a rich text link's address counts is not known: it does here."""
    if isinstance(value, list):
        return sum(map(written, value))
    if not isinstance(value, dict):
        return 0
    own = len(value["text"]) if isinstance(value.get("text"), str) else 0
    address = len(value["url"]) if value.get("type") == "link" else 0
    return own + address + sum(written(part) for part in value.values())


# What is live


@dataclass(frozen=True)
class Live:
    """A string in which Slack looks for mentions and links; ``bare`` when it also links plain words."""

    text: str
    bare_names: bool = True
    bare_urls: bool = True
    markdown: bool = False


TOKEN = re.compile(
    r"<(?:!(?i:channel|here|everyone)|@[UWB][A-Z0-9]+|!subteam\^[A-Z0-9]+|#[CDG][A-Z0-9]+)(?:\|[^<>]*)?>"
)
BARE_NAME = re.compile(r"(?<![\w@<./-])@(?:channel|here|everyone)\b", re.IGNORECASE)
ANGLED = re.compile(r"<((?:https?://|mailto:)[^<>|\s]+)(?:\|[^<>]*)?>")
LABELLED = re.compile(r"\]\(\s*<?((?:https?://|mailto:)[^\s)>]+)")
BARE_URL = re.compile(r"https?://[^\s<>|]+")
RICH_MENTIONS = {
    "user": ("user_id", "<@{}>"),
    "usergroup": ("usergroup_id", "<!subteam^{}>"),
    "channel": ("channel_id", "<#{}>"),
    "broadcast": ("range", "<!{}>"),
}


def mentions(arguments: Json) -> list[str]:
    """Everything that pings or becomes a live name, as Slack's token for it (bare words as written).

    Bare ``@here`` counts in text and in mrkdwn that is not verbatim; in markdown blocks nobody has tested it.
    """
    return list(chain(_in_texts(arguments, _mentions_in), _in_rich_text(arguments)))


def links(arguments: Json) -> list[str]:
    """Every URL a reader can follow, entities decoded."""
    own = (node["url"] for node in _nodes(arguments) if isinstance(node.get("url"), str))
    return list(chain(_in_texts(arguments, _links_in), own))


def _in_texts(arguments: Json, find: Callable[[Live], Iterator[str]]) -> Iterator[str]:
    return chain.from_iterable(map(find, _live_texts(arguments)))


def _in_rich_text(arguments: Json) -> Iterator[str]:
    for node in _nodes(arguments):
        key, form = RICH_MENTIONS.get(str(node.get("type")), ("", ""))
        if key in node:
            yield form.format(node[key])


def _mentions_in(live: Live) -> Iterator[str]:
    yield from TOKEN.findall(live.text)
    if live.bare_names:
        yield from BARE_NAME.findall(TOKEN.sub(" ", live.text))


def _links_in(live: Live) -> Iterator[str]:
    decode = str if live.markdown else unescape
    labelled = LABELLED.findall(live.text) if live.markdown else []
    rest = LABELLED.sub(" ", live.text) if live.markdown else live.text
    yield from map(decode, [*labelled, *ANGLED.findall(rest)])
    if live.bare_urls:
        yield from (decode(url.rstrip(".,;:!?'\")]*_~`")) for url in BARE_URL.findall(ANGLED.sub(" ", rest)))


def _live_texts(arguments: Json) -> Iterator[Live]:
    if text := arguments.get("text"):
        # parse=none keeps plain addresses plain; names are reported all the same
        yield Live(str(text), bare_urls=arguments.get("parse") != "none")
    if markdown := arguments.get("markdown_text"):
        yield Live(str(markdown), bare_names=False, markdown=True)
    for node in _nodes(arguments):
        if node.get("type") == "mrkdwn":
            bare = not node.get("verbatim")
            yield Live(str(node.get("text")), bare_names=bare, bare_urls=bare)
        elif node.get("type") == "markdown":
            yield Live(str(node.get("text")), bare_names=False, markdown=True)
    yield from map(Live, _strings(arguments.get("attachments")))


def _nodes(arguments: Json) -> Iterator[Json]:
    """Every object in the blocks, in the order of reading."""

    def walk(value: object) -> Iterator[Json]:
        if isinstance(value, dict):
            yield value
        parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        for part in parts:
            yield from walk(part)

    return walk(blocks_of(arguments))


def _strings(value: object) -> Iterator[str]:
    """Every string of a legacy attachment: nearly all of its fields are mrkdwn."""
    if isinstance(value, str):
        yield value
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for part in parts:
        yield from _strings(part)
