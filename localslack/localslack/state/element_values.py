"""Values of elements: those that the app sets initially, and those that a person sets."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from localslack.rules.elements import list_elements, list_options

Json = dict[str, Any]
Key = tuple[str, str]  # a block id and an action id
Settings = dict[Key, Json]


class Conversation(Protocol):
    """A conversation as a menu of conversations needs it."""

    id: str
    shared: bool

    @property
    def kind(self) -> str:
        """The prefix of the scopes for reading it: channels, groups, mpim or im."""


@dataclass(frozen=True)
class ElementKind:
    """The keys of an element's value: ``value_key`` in Slack's state, ``initial_key`` in the app's element."""

    value_key: str
    initial_key: str
    is_multiple: bool = False


OPTION, OPTIONS = (
    ElementKind("selected_option", "initial_option"),
    ElementKind("selected_options", "initial_options", is_multiple=True),
)
KINDS = {
    "plain_text_input": ElementKind("value", "initial_value"),
    "static_select": OPTION,
    "external_select": OPTION,
    "radio_buttons": OPTION,
    "multi_static_select": OPTIONS,
    "checkboxes": OPTIONS,
    "users_select": ElementKind("selected_user", "initial_user"),
    "conversations_select": ElementKind("selected_conversation", "initial_conversation"),
    "timepicker": ElementKind("selected_time", "initial_time"),
}
BLOCKS_WITH_ELEMENTS = frozenset({"section", "actions", "context_actions", "input"})
FILTER_NAMES = {"channels": "public", "groups": "private", "im": "im", "mpim": "mpim"}


@dataclass
class ElementState:
    """The state of the elements in front of a ``user`` who came from the conversation ``place``.

    ``loaded_options`` are the options that menus have loaded from the app so far.
    """

    user: str = ""
    place: Conversation | None = None
    settings: Settings = field(default_factory=dict)
    loaded_options: dict[Key, list[Json]] = field(default_factory=dict)

    @property
    def state(self) -> Json:
        """The state as Slack sends it to the app."""
        values: dict[str, Json] = {}
        for (block_id, action_id), setting in self.settings.items():
            values.setdefault(block_id, {})[action_id] = copy.deepcopy(setting)
        return {"values": values}


def add_default_ids(blocks: list[Json]) -> list[Json]:
    """Return blocks as readers get them: Slack adds missing block ids and action ids."""
    named = copy.deepcopy(blocks)
    for at, block in enumerate(named):
        block.setdefault("block_id", f"block{at}")
        for number, element in enumerate(_list_usable(block)):
            element.setdefault("action_id", f"action{number}")
    return named


def iterate_elements(blocks: list[Json]) -> Iterator[tuple[Key, Json, Json]]:
    """Yield every element that has a name, with its block."""
    for block in blocks:
        for element in _list_usable(block):
            if "block_id" in block and "action_id" in element:
                yield (block["block_id"], element["action_id"]), block, element


def _list_usable(block: Json) -> list[Json]:
    return [
        part for part in list_elements(block) if block["type"] in BLOCKS_WITH_ELEMENTS and part["type"] != "image"
    ]


def make_setting(element: Json, chosen: Any) -> Json:
    """Return an element's value as Slack's state has it."""
    zone = {"timezone": element["timezone"]} if "timezone" in element else {}
    return {"type": element["type"], KINDS[element["type"]].value_key: copy.deepcopy(chosen), **zone}


def get_value(setting: Json) -> Any:
    """Return the value in a setting: text, an option, a list of options, an id, or None."""
    return setting[KINDS[setting["type"]].value_key]


def get_initial_settings(blocks: list[Json], place: Conversation | None) -> Settings:
    """Return the app's initial values of the elements."""
    stateful = ((key, element) for key, _, element in iterate_elements(blocks) if element["type"] in KINDS)
    return {key: make_setting(element, _get_initial_value(element, place)) for key, element in stateful}


def _get_initial_value(element: Json, place: Conversation | None) -> Any:
    kind = KINDS[element["type"]]
    value = element.get(kind.initial_key) or ([] if kind.is_multiple else None)
    if value is None and element.get("default_to_current_conversation") and place and is_listed(element, place):
        return place.id
    return value


def is_listed(menu: Json, place: Conversation) -> bool:
    """Return whether a menu of conversations lists this one. All direct messages here are with the bot."""
    condition = menu.get("filter", {})
    if place.shared and condition.get("exclude_external_shared_channels"):
        return False
    if place.kind == "im" and condition.get("exclude_bot_users"):
        return False
    return FILTER_NAMES[place.kind] in condition.get("include", FILTER_NAMES.values())


def carry_over_settings(blocks: list[Json], before: Mapping[Key, Json], place: Conversation | None) -> Settings:
    """Return the values of the elements after these blocks have replaced others.

    A value stays where the new blocks repeat both ids, regardless of the app's initial value: documented for input
    blocks, and observed by others for all. Ids that Slack added are new each time.
    """
    again = {key: element for key, _, element in iterate_elements(blocks) if key in before}
    carried = {
        key: make_setting(element, get_value(before[key]))
        for key, element in again.items()
        if _is_still_valid(element, before[key])
    }
    return {**get_initial_settings(add_default_ids(blocks), place), **carried}


def _is_still_valid(element: Json, before: Json) -> bool:
    """Return whether the value is still a choice. If not it is lost here; Slack does not document that case."""
    if element["type"] != before["type"]:
        return False
    if element["type"] == "external_select" or KINDS[element["type"]] not in (OPTION, OPTIONS):
        return True
    chosen = get_value(before)
    chosen_options = chosen if isinstance(chosen, list) else [chosen] if chosen else []
    return all(option in list_options(element) for option in chosen_options)


def add_emoji_flags(value: Any) -> Any:
    """Return the value with ``emoji`` added to each plain text, as Slack does in views."""
    if isinstance(value, list):
        return [add_emoji_flags(part) for part in value]
    if not isinstance(value, dict):
        return value
    more = {"emoji": True} if value.get("type") == "plain_text" else {}
    return {**more, **{key: add_emoji_flags(part) for key, part in value.items()}}
