from typing import Any

from localslack.rules.blocks import BLOCKS
from tests.parts import Json

_OWN_NAMES = {"action_id": "act"}


def plain(text: str) -> Json:
    """A text that is literal, emoji included."""
    return {"type": "plain_text", "text": text, "emoji": False}


def literal(text: str, url: str) -> list[Json]:
    """Blocks in which the text is no markup."""
    option, image = _option(plain(text), text, url), {"type": "image", "alt_text": f"x{text}", "image_url": url}
    button = {**_make_pressable("button", text), "text": plain(text), "value": text, "accessibility_label": text}
    return [
        {"type": "header", "text": plain(text)},
        {"type": "section", "text": plain(text), "fields": [plain(text)], "accessory": {**button, "url": url}},
        {"type": "section", "text": plain(text), "accessory": image},
        {"type": "context", "elements": [plain(text), image]},
        {**image, "title": plain(text)},
        {"type": "actions", "elements": [button, *_menus(text, option), _overflow(text, option)]},
        {"type": "context_actions", "elements": [_feedback(text), _icon(text)]},
        *(_input(element, text) for element in (*_menus(text, option), *_texts(text))),
        *_rich(text, url),
        *_tables(text),
        {"type": "divider"},
    ]


def make_marked_blocks(text: str) -> list[Json]:
    """Blocks in which the text is markup of one kind or the other."""
    markup = {"type": "mrkdwn", "text": text}
    option = _option(markup, text, "https://a.example") | {"description": markup}
    tasks = [
        {"type": "task_card", "task_id": status, "title": text, "status": status, "details": text, "output": text}
        for status in ("pending", "in_progress", "complete", "error")
    ]
    return [
        {"type": "section", "text": markup, "fields": [markup]},
        {"type": "section", "text": {**markup, "verbatim": True}},
        {"type": "context", "elements": [markup]},
        {"type": "markdown", "text": text},
        {"type": "plan", "title": text, "tasks": tasks},
        {"type": "section", "text": markup, "accessory": _ticks("checkboxes", option)},
        {"type": "section", "text": markup, "accessory": _ticks("radio_buttons", option)},
    ]


def shown_kinds() -> set[str]:
    """The types of block that the local Slack takes, and those that only streams have."""
    return {*BLOCKS, "input", "plan", "task_card"}


def _confirm(text: str) -> Json:
    return {name: plain(text) for name in ("title", "text", "confirm", "deny")}


def _make_pressable(kind: str, text: str) -> Json:
    return {"type": kind, **_OWN_NAMES, "confirm": _confirm(text)}


def _option(text: Json, value: str, url: str) -> Json:
    return {"text": text, "value": value, "url": url, "description": plain(value)}


def _overflow(text: str, option: Json) -> Json:
    return {**_make_pressable("overflow", text), "options": [option, {**option, "url": None}]}


def _ticks(kind: str, option: Json) -> Json:
    first = {"initial_option": option} if kind == "radio_buttons" else {"initial_options": [option]}
    return {"type": kind, **_OWN_NAMES, "options": [option], **first}


def _menus(text: str, option: Json) -> list[Json]:
    asks: Json = {"placeholder": plain(f"x{text}"), "confirm": _confirm(text), "action_id": text}
    return [
        {"type": "static_select", **asks, "option_groups": [{"label": plain(text), "options": [option]}]},
        {"type": "multi_static_select", **asks, "options": [option], "initial_options": [option]},
        {"type": "external_select", **asks, "initial_option": option},
        {"type": "users_select", **asks, "initial_user": text},
        {"type": "conversations_select", **asks, "initial_conversation": text},
        {"type": "timepicker", **asks, "initial_time": text},
        {**_ticks("checkboxes", option), **asks},
        {**_ticks("radio_buttons", option), **asks},
    ]


def _texts(text: str) -> list[Json]:
    field = {"type": "plain_text_input", "action_id": text, "placeholder": plain(text), "initial_value": text}
    return [field, {**field, "multiline": True}]


def _input(element: Json, text: str) -> Json:
    return {"type": "input", "label": plain(text), "hint": plain(f"x{text}"), "element": element}


def _feedback(text: str) -> Json:
    button = {"text": plain(text), "value": text, "accessibility_label": f"x{text}"}
    return {"type": "feedback_buttons", **_OWN_NAMES, "positive_button": button, "negative_button": button}


def _icon(text: str) -> Json:
    return {"type": "icon_button", "icon": text, "text": plain(text), "value": text, **_OWN_NAMES}


def _rich(text: str, url: str) -> list[Json]:
    styles = dict.fromkeys(("bold", "italic", "strike", "underline", "code"), True)
    inline: list[Any] = [
        {"type": "text", "text": text, "style": styles},
        {"type": "link", "url": url, "text": f"x{text}"},
        {"type": "user", "user_id": text},
        {"type": "channel", "channel_id": text},
        {"type": "usergroup", "usergroup_id": text},
        {"type": "broadcast", "range": text},
        {"type": "color", "value": text},
        {"type": "date", "timestamp": 0, "format": text, "url": url, "fallback": text},
    ]
    section = {"type": "rich_text_section", "elements": inline}
    parts = [
        section,
        {"type": "rich_text_quote", "elements": inline},
        {"type": "rich_text_preformatted", "elements": inline[:2], "language": text},
        *({"type": "rich_text_list", "style": style, "elements": [section]} for style in ("bullet", "ordered")),
    ]
    return [{"type": "rich_text", "elements": parts}]


def _tables(text: str) -> list[Json]:
    cells = [{"type": "raw_text", "text": text}, {"type": "raw_number", "value": 1, "text": f"x{text}"}]
    rows = [[cells[0], cells[0]], [*_rich(text, "https://a.example"), cells[1]]]
    return [
        {"type": "table", "rows": rows, "column_settings": [{"align": text}]},
        {"type": "data_table", "caption": text, "rows": [cells, cells]},
    ]
