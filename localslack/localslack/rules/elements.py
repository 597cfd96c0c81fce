"""Slack's rules for what is inside a block: texts, buttons, menus, pickers and fields, and where each is allowed.

Limits are from its documentation unless a comment beside them says otherwise.
"""

from __future__ import annotations

import re
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from localslack.rules.schema import (
    Check,
    Demand,
    Shape,
    TypedShapes,
    has_unique_values,
    integer,
    is_boolean,
    is_link_url,
    items,
    one_of,
    one_of_types,
    shape,
    string,
)

Json = dict[str, Any]

# Texts and other parts

IDENTIFIER = string(255)


def is_zone(value: object) -> bool:
    """Return whether it is the name of an IANA time zone."""
    try:
        return isinstance(value, str) and bool(ZoneInfo(value))
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False


def plain_text(maximum: int) -> TypedShapes:
    """Return a check of plain text objects with at most this many characters."""
    return one_of_types({"plain_text": shape({"text": string(maximum)}, emoji=is_boolean)})


def text_object(maximum: int) -> TypedShapes:
    """Return a check of plain text and mrkdwn objects with at most this many characters."""
    mrkdwn = shape({"text": string(maximum)}, verbatim=is_boolean)
    return one_of_types({"plain_text": shape({"text": string(maximum)}, emoji=is_boolean), "mrkdwn": mrkdwn})


def match_pattern(pattern: str) -> Check:
    """Return a check of strings that match the pattern as a whole."""
    return lambda value: isinstance(value, str) and re.fullmatch(pattern, value) is not None


CONFIRM = shape(
    {"title": plain_text(100), "text": plain_text(300), "confirm": plain_text(30), "deny": plain_text(30)},
    style=one_of("primary", "danger"),
)
FEEDBACK = shape({"text": plain_text(75), "value": string(2_000)}, accessibility_label=string(75))
SLACK_FILE = shape({}, Demand(lambda value: len(value) == 1, "needs either id or url"), id=string(), url=string())
CONVERSATION, USER = match_pattern(r"[CDG][A-Z0-9]+"), match_pattern(r"[UW][A-Z0-9]+")


HAS_ONE_SOURCE = Demand(
    lambda image: ("image_url" in image) != ("slack_file" in image), "needs either image_url or slack_file"
)
IMAGE = shape({"alt_text": string(2_000)}, HAS_ONE_SOURCE, image_url=is_link_url, slack_file=SLACK_FILE)

# Options


def option_shape(text: Check, **more: Check) -> Shape:
    """Return the shape of an option with this kind of text and these further keys."""
    return shape({"text": text, "value": string(150)}, description=plain_text(75), **more)


OPTION = option_shape(plain_text(75))
TICK_OPTION = option_shape(text_object(75))
# not documented: whether a group may be empty
GROUP = shape({"label": plain_text(75), "options": items(OPTION, 1, 100)})


def list_options(menu: Json) -> list[Json]:
    """Return all options of a menu, those in groups included."""
    groups = menu.get("option_groups") or ()
    return [*(menu.get("options") or ()), *(choice for group in groups for choice in group["options"])]


def list_initial_options(menu: Json) -> list[Json]:
    """Return the options that the app has chosen initially."""
    return [*menu.get("initial_options", ()), *([menu["initial_option"]] if "initial_option" in menu else [])]


def has_valid_options(menu: Json) -> bool:
    """Return whether values are unique, and the initial options are equal to options of the menu.

    Both are documented; that Slack refuses a repeated value is a guess.
    """
    options = list_options(menu)
    return has_unique_values("value", options) and all(first in options for first in list_initial_options(menu))


def has_valid_menu(menu: Json) -> bool:
    """Return whether the menu has options or groups of them, not both, and they are valid."""
    return ("options" in menu) != ("option_groups" in menu) and has_valid_options(menu)


HAS_VALID_OPTIONS = Demand(
    has_valid_options, "must have options with values of their own, and initial options that are among them"
)
HAS_VALID_MENU = Demand(
    has_valid_menu,
    "needs either options or option_groups, with values of their own, and initial options that are among them",
)

# Elements

ACTION_KEYS: dict[str, Check] = {"action_id": IDENTIFIER, "confirm": CONFIRM}
INPUT_KEYS: dict[str, Check] = {**ACTION_KEYS, "focus_on_load": is_boolean}
MENU_KEYS: dict[str, Check] = {**INPUT_KEYS, "placeholder": plain_text(150)}
STATIC_MENU_KEYS: dict[str, Check] = {
    **MENU_KEYS,
    "options": items(OPTION, 1, 100),
    "option_groups": items(GROUP, 1, 100),
}
FILTER = shape(
    {},
    Demand(lambda value: len(value) > 0, "must not be empty"),
    include=items(one_of("im", "mpim", "private", "public"), 1, 4),
    exclude_external_shared_channels=is_boolean,
    exclude_bot_users=is_boolean,
)


BUTTON = shape(
    {"text": plain_text(75)},
    value=string(2_000),
    url=is_link_url,
    style=one_of("primary", "danger"),
    accessibility_label=string(75),
    agent_prompt=string(4_000),
    visible_to_user_ids=items(string(), 1, 10),
    **ACTION_KEYS,
)
OVERFLOW = shape(
    {"options": items(option_shape(plain_text(75), url=is_link_url), 1, 5)}, HAS_VALID_OPTIONS, **ACTION_KEYS
)
SELECT = shape({}, HAS_VALID_MENU, initial_option=OPTION, **STATIC_MENU_KEYS)
MULTI_SELECT = shape(
    {}, HAS_VALID_MENU, initial_options=items(OPTION, 1, 100), max_selected_items=integer(1), **STATIC_MENU_KEYS
)
# the limits of min_query_length are not documented
EXTERNAL_SELECT = shape({}, initial_option=OPTION, min_query_length=integer(0), **MENU_KEYS)
USERS_SELECT = shape({}, initial_user=USER, **MENU_KEYS)
CONVERSATION_MENU_KEYS: dict[str, Check] = {
    **MENU_KEYS,
    "initial_conversation": CONVERSATION,
    "default_to_current_conversation": is_boolean,
    "filter": FILTER,
}
CONVERSATIONS_SELECT = shape({}, **CONVERSATION_MENU_KEYS)
# documented for input blocks of modals only; that it is refused elsewhere is a guess
ANSWERING_SELECT = shape({}, response_url_enabled=is_boolean, **CONVERSATION_MENU_KEYS)
TIMEPICKER = shape({}, initial_time=match_pattern("([01][0-9]|2[0-3]):[0-5][0-9]"), timezone=is_zone, **MENU_KEYS)
# Slack refuses an empty list of initial options, as others have observed
CHECKBOXES = shape(
    {"options": items(TICK_OPTION, 1, 10)},
    HAS_VALID_OPTIONS,
    initial_options=items(TICK_OPTION, 1, 10),
    **INPUT_KEYS,
)
RADIO_BUTTONS = shape(
    {"options": items(TICK_OPTION, 1, 10)}, HAS_VALID_OPTIONS, initial_option=TICK_OPTION, **INPUT_KEYS
)
FIELD = shape(
    {},
    action_id=IDENTIFIER,
    placeholder=plain_text(150),
    initial_value=string(3_000, 0),
    multiline=is_boolean,
    min_length=integer(0, 3_000),
    max_length=integer(1, 3_000),
    focus_on_load=is_boolean,
    dispatch_action_config=shape(
        {"trigger_actions_on": items(one_of("on_enter_pressed", "on_character_entered"), 1, 2)}
    ),
)

# Where they are allowed

CHOOSERS = {
    "static_select": SELECT,
    "external_select": EXTERNAL_SELECT,
    "users_select": USERS_SELECT,
    "conversations_select": CONVERSATIONS_SELECT,
    "timepicker": TIMEPICKER,
    "checkboxes": CHECKBOXES,
    "radio_buttons": RADIO_BUTTONS,
}
ACTION_ELEMENTS = {"button": BUTTON, "overflow": OVERFLOW, **CHOOSERS}
ACTIONS = one_of_types(ACTION_ELEMENTS)  # multi-select menus are documented for sections and inputs only
ACCESSORY = one_of_types({**ACTION_ELEMENTS, "multi_static_select": MULTI_SELECT, "image": IMAGE})
HOME_INPUTS = {"plain_text_input": FIELD, "multi_static_select": MULTI_SELECT, **CHOOSERS}
MODAL_INPUTS = {**HOME_INPUTS, "conversations_select": ANSWERING_SELECT}
CONTEXT_TEXT, CONTEXT_IMAGE = text_object(3_000), one_of_types({"image": IMAGE})
CONTEXT_ACTIONS = one_of_types(
    {
        "feedback_buttons": shape(
            {"positive_button": FEEDBACK, "negative_button": FEEDBACK}, action_id=IDENTIFIER
        ),
        "icon_button": shape(
            {"icon": string(), "text": plain_text(75)},
            value=string(2_000),
            accessibility_label=string(75),
            visible_to_user_ids=items(string(), 1, 10),
            **ACTION_KEYS,
        ),
    }
)


def input_block(inputs: dict[str, Shape]) -> TypedShapes:
    """Return a check of input blocks with these elements."""
    return one_of_types(
        {
            "input": shape(
                {"label": plain_text(2_000), "element": one_of_types(inputs)},
                hint=plain_text(2_000),
                optional=is_boolean,
                dispatch_action=is_boolean,
                block_id=IDENTIFIER,
            )
        }
    )


def list_elements(block: Json) -> list[Json]:
    """Return all elements of a block that a person can use or see."""
    elements = [*block.get("elements", ()), block.get("accessory"), block.get("element")]
    return [element for element in elements if isinstance(element, dict)]


def count_focused(blocks: list[Json]) -> int:
    """Return how many elements ask for the focus when a view opens."""
    return sum(element.get("focus_on_load") is True for block in blocks for element in list_elements(block))
