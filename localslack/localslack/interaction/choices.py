"""Values that a person can give an element in Slack's client, which offers only what is there."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from localslack.errors import InvalidAction, require
from localslack.rules.elements import USER, list_options
from localslack.state.element_values import KINDS, ElementState, Key, get_value, is_listed, make_setting
from localslack.state.workspace import Json, Workspace

MAX_TEXT = 3_000


def set_value(team: Workspace, shown: ElementState, key: Key, element: Json, value: Any) -> Json:
    """Set an element and return its setting. None, "" or [] leaves it empty."""
    kind = KINDS[element["type"]]
    if not value:
        chosen: Any = [] if kind.is_multiple else None
    elif kind.is_multiple:
        chosen = _find_options(element, value)
    elif element["type"] in VALUE_CHECKS:
        chosen = VALUE_CHECKS[element["type"]](team, element, value)
        if element["type"] == "conversations_select":
            _check_sight(team, shown.user, chosen, element["action_id"])
    else:
        chosen = _find_option(element, list_available_options(shown, key, element), value)
    shown.settings[key] = make_setting(element, chosen)
    return shown.settings[key]


def toggle_value(before: Json, value: str) -> list[str]:
    """Return the ticked values after one of them was clicked."""
    ticked = [option["value"] for option in get_value(before)]
    return [other for other in ticked if other != value] if value in ticked else [*ticked, value]


def list_available_options(shown: ElementState, key: Key, element: Json) -> list[Json]:
    """Return the options that the person sees; an external menu has its loaded options and its current value."""
    if element["type"] != "external_select":
        return list_options(element)
    current = get_value(shown.settings[key]) if key in shown.settings else None
    return [*shown.loaded_options.get(key, []), *([current] if current else [])]


def _find_option(element: Json, available: list[Json], value: object) -> Json:
    option = next((each for each in available if each["value"] == value), None)
    options = ", ".join(each["value"] for each in available) or "nothing"
    if option is None:
        raise InvalidAction(f"{element['action_id']} has no {value}; it has {options}")
    return option


def _find_options(element: Json, values: Any) -> list[Json]:
    require(isinstance(values, list | tuple | set | frozenset), f"{element['action_id']} takes several values")
    options = [_find_option(element, list_options(element), value) for value in values]
    most = element.get("max_selected_items", len(options))
    require(len(options) <= most, f"{element['action_id']} takes {most} choices, not {len(options)}")
    return options


def _check_text(_: Workspace, element: Json, value: Any) -> str:
    name, least, most = element["action_id"], element.get("min_length", 0), element.get("max_length", MAX_TEXT)
    if not isinstance(value, str):
        raise InvalidAction(f"{name} takes text")
    require(len(value) <= most, f"{name} takes {most} characters, not {len(value)}")
    require(len(value) >= least, f"{name} wants {least} characters, not {len(value)}")
    require(element.get("multiline") or "\n" not in value, f"{name} is a single line")
    return value


def _check_time(_: Workspace, element: Json, value: Any) -> str:
    require(
        re.fullmatch("([01][0-9]|2[0-3]):[0-5][0-9]", str(value)), f"{element['action_id']}: {value} is no HH:mm"
    )
    return str(value)


def _check_user(team: Workspace, element: Json, value: Any) -> str:
    require(USER(value), f"{element['action_id']}: {value} is no user")
    require(not team.get_profile(value).deleted, f"{element['action_id']}: {value} is not in the team any more")
    return str(value)


def _check_conversation(team: Workspace, element: Json, value: Any) -> str:
    """Check the channel. Slack does not document whether menus list archived ones: here they do."""
    channel = team.channels.get(value)
    if channel is None:
        raise InvalidAction(f"{element['action_id']}: there is no {value}")
    require(is_listed(element, channel), f"{element['action_id']} leaves {value} out")
    return channel.id


def _check_sight(team: Workspace, user: str, channel: str, name: str) -> None:
    """Check that the person sees the channel: a public one, or one that they are in; guests only the latter."""
    place, who = team.channels[channel], team.get_profile(user)
    is_regular = not who.is_guest and who.team in ("", team.team_id)
    is_seen = (is_regular and place.kind == "channels") or team.is_in(place, user)
    require(is_seen, f"{name}: {user} does not see {channel}")


VALUE_CHECKS: dict[str, Callable[[Workspace, Json, Any], str]] = {
    "plain_text_input": _check_text,
    "timepicker": _check_time,
    "users_select": _check_user,
    "conversations_select": _check_conversation,
}
