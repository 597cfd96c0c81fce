"""What Slack accepts inside a block: texts, buttons, menus, pickers and fields, and which of them stand where.

Limits are its documentation's unless the line beside them says otherwise.
"""

from __future__ import annotations

import re
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from localslack.rules.schema import (
    Check,
    Shape,
    flag,
    integer,
    items,
    link_url,
    one_of,
    shape,
    string,
    typed,
    unique,
)

Json = dict[str, Any]

# Texts and other parts

IDENTIFIER = string(255)


def is_zone(value: object) -> bool:
    """Return whether it is a name of the IANA's."""
    try:
        return isinstance(value, str) and bool(ZoneInfo(value))
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False


def plain(maximum: int) -> Check:
    return typed({"plain_text": shape({"text": string(maximum)}, emoji=flag)})


def text_object(maximum: int) -> Check:
    mrkdwn = shape({"text": string(maximum)}, verbatim=flag)
    return typed({"plain_text": shape({"text": string(maximum)}, emoji=flag), "mrkdwn": mrkdwn})


def matching(pattern: str) -> Check:
    return lambda value: isinstance(value, str) and re.fullmatch(pattern, value) is not None


CONFIRM = shape(
    {"title": plain(100), "text": plain(300), "confirm": plain(30), "deny": plain(30)},
    style=one_of("primary", "danger"),
)
FEEDBACK = shape({"text": plain(75), "value": string(2_000)}, accessibility_label=string(75))
SLACK_FILE = shape({}, lambda value: len(value) == 1, id=string(), url=string())
CONVERSATION, USER = matching(r"[CDG][A-Z0-9]+"), matching(r"[UW][A-Z0-9]+")


def has_one_source(value: Json) -> bool:
    return ("image_url" in value) != ("slack_file" in value)


IMAGE = shape({"alt_text": string(2_000)}, has_one_source, image_url=link_url, slack_file=SLACK_FILE)

# Options


def option(text: Check, **more: Check) -> Shape:
    return shape({"text": text, "value": string(150)}, description=plain(75), **more)


OPTION = option(plain(75))
TICK = option(text_object(75))
# whether a group may be empty is not documented
GROUP = shape({"label": plain(75), "options": items(OPTION, 1, 100)})


def list_options(menu: Json) -> list[Json]:
    """Return all the options of a menu, those in groups too."""
    groups = menu.get("option_groups") or ()
    return [*(menu.get("options") or ()), *(choice for group in groups for choice in group["options"])]


def list_initial_options(menu: Json) -> list[Json]:
    return [*menu.get("initial_options", ()), *([menu["initial_option"]] if "initial_option" in menu else [])]


def has_valid_options(menu: Json) -> bool:
    """Return whether what is chosen at first is an option word for word, and values tell options apart.

    Both are documented; that Slack refuses what has one value twice is a guess.
    """
    there = list_options(menu)
    return unique("value", there) and all(first in there for first in list_initial_options(menu))


def has_valid_menu(menu: Json) -> bool:
    return ("options" in menu) != ("option_groups" in menu) and has_valid_options(menu)


# Elements

USED: dict[str, Check] = {"action_id": IDENTIFIER, "confirm": CONFIRM}
ASKS: dict[str, Check] = {**USED, "focus_on_load": flag}
MENU: dict[str, Check] = {**ASKS, "placeholder": plain(150)}
STATIC: dict[str, Check] = {**MENU, "options": items(OPTION, 1, 100), "option_groups": items(GROUP, 1, 100)}
FILTER = shape(
    {},
    lambda value: len(value) > 0,
    include=items(one_of("im", "mpim", "private", "public"), 1, 4),
    exclude_external_shared_channels=flag,
    exclude_bot_users=flag,
)


BUTTON = shape(
    {"text": plain(75)},
    value=string(2_000),
    url=link_url,
    style=one_of("primary", "danger"),
    accessibility_label=string(75),
    agent_prompt=string(4_000),
    visible_to_user_ids=items(string(), 1, 10),
    **USED,
)
OVERFLOW = shape({"options": items(option(plain(75), url=link_url), 1, 5)}, has_valid_options, **USED)
SELECT = shape({}, has_valid_menu, initial_option=OPTION, **STATIC)
MULTI_SELECT = shape(
    {}, has_valid_menu, initial_options=items(OPTION, 1, 100), max_selected_items=integer(1), **STATIC
)
# neither end of min_query_length is documented
EXTERNAL_SELECT = shape({}, initial_option=OPTION, min_query_length=integer(0), **MENU)
USERS_SELECT = shape({}, initial_user=USER, **MENU)
CONVERSATIONS: dict[str, Check] = {
    **MENU,
    "initial_conversation": CONVERSATION,
    "default_to_current_conversation": flag,
    "filter": FILTER,
}
CONVERSATIONS_SELECT = shape({}, **CONVERSATIONS)
# that it is refused elsewhere is a guess: it is documented to work in the input blocks of modals only
ANSWERING_SELECT = shape({}, response_url_enabled=flag, **CONVERSATIONS)
TIMEPICKER = shape(
    {},
    initial_time=matching("([01][0-9]|2[0-3]):[0-5][0-9]"),
    timezone=is_zone,
    **MENU,
)
# an empty list of first options is refused as others have met it
CHECKBOXES = shape({"options": items(TICK, 1, 10)}, has_valid_options, initial_options=items(TICK, 1, 10), **ASKS)
RADIO_BUTTONS = shape({"options": items(TICK, 1, 10)}, has_valid_options, initial_option=TICK, **ASKS)
FIELD = shape(
    {},
    action_id=IDENTIFIER,
    placeholder=plain(150),
    initial_value=string(3_000, 0),
    multiline=flag,
    min_length=integer(0, 3_000),
    max_length=integer(1, 3_000),
    focus_on_load=flag,
    dispatch_action_config=shape(
        {"trigger_actions_on": items(one_of("on_enter_pressed", "on_character_entered"), 1, 2)}
    ),
)

# Where they stand

CHOOSERS = {
    "static_select": SELECT,
    "external_select": EXTERNAL_SELECT,
    "users_select": USERS_SELECT,
    "conversations_select": CONVERSATIONS_SELECT,
    "timepicker": TIMEPICKER,
    "checkboxes": CHECKBOXES,
    "radio_buttons": RADIO_BUTTONS,
}
PRESSED = {"button": BUTTON, "overflow": OVERFLOW, **CHOOSERS}
ACTIONS = typed(PRESSED)  # menus of several choices are documented for sections and inputs only
ACCESSORY = typed({**PRESSED, "multi_static_select": MULTI_SELECT, "image": IMAGE})
HOME_INPUTS = {"plain_text_input": FIELD, "multi_static_select": MULTI_SELECT, **CHOOSERS}
MODAL_INPUTS = {**HOME_INPUTS, "conversations_select": ANSWERING_SELECT}
CONTEXT_TEXT, CONTEXT_IMAGE = text_object(3_000), typed({"image": IMAGE})
CONTEXT_ACTIONS = typed(
    {
        "feedback_buttons": shape(
            {"positive_button": FEEDBACK, "negative_button": FEEDBACK}, action_id=IDENTIFIER
        ),
        "icon_button": shape(
            {"icon": string(), "text": plain(75)},
            value=string(2_000),
            accessibility_label=string(75),
            visible_to_user_ids=items(string(), 1, 10),
            **USED,
        ),
    }
)


def input_block(inputs: dict[str, Shape]) -> Check:
    return typed(
        {
            "input": shape(
                {"label": plain(2_000), "element": typed(inputs)},
                hint=plain(2_000),
                optional=flag,
                dispatch_action=flag,
                block_id=IDENTIFIER,
            )
        }
    )


def list_elements(block: Json) -> list[Json]:
    """Return everything in a block that somebody can use or look at."""
    found = [*block.get("elements", ()), block.get("accessory"), block.get("element")]
    return [element for element in found if isinstance(element, dict)]


def count_focused(blocks: list[Json]) -> int:
    """Return how many elements want to be the one that is ready to be typed in."""
    return sum(element.get("focus_on_load") is True for block in blocks for element in list_elements(block))
