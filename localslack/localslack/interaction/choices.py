"""What somebody can set an element to in Slack's client, which lets nobody choose what is not there."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from localslack.errors import Misuse, need
from localslack.rules.elements import USER, choices
from localslack.state.element_values import KINDS, Key, Shown, listed, set_to, setting
from localslack.state.workspace import Json, Workspace

LONGEST = 3_000


def change(team: Workspace, shown: Shown, key: Key, element: Json, value: Any) -> Json:
    """Set an element to the value; what it is set to then. Nothing (None, "" or []) leaves it empty."""
    kind = KINDS[element["type"]]
    if not value:
        chosen: Any = [] if kind.many else None
    elif kind.many:
        chosen = _several(element, value)
    elif element["type"] in TAKES:
        chosen = TAKES[element["type"]](team, element, value)
        if element["type"] == "conversations_select":
            _check_sight(team, shown.user, chosen, element["action_id"])
    else:
        chosen = _option(element, offered(shown, key, element), value)
    shown.settings[key] = setting(element, chosen)
    return shown.settings[key]


def toggled(before: Json, value: str) -> list[str]:
    """The values that are ticked after one of them was clicked."""
    ticked = [option["value"] for option in set_to(before)]
    return [other for other in ticked if other != value] if value in ticked else [*ticked, value]


def offered(shown: Shown, key: Key, element: Json) -> list[Json]:
    """The options that somebody sees; a menu that asks the app has those that came, and what it is set to."""
    if element["type"] != "external_select":
        return choices(element)
    current = set_to(shown.settings[key]) if key in shown.settings else None
    return [*shown.offered.get(key, []), *([current] if current else [])]


def _option(element: Json, there: list[Json], value: object) -> Json:
    found = next((option for option in there if option["value"] == value), None)
    options = ", ".join(option["value"] for option in there) or "nothing"
    if found is None:
        raise Misuse(f"{element['action_id']} has no {value}; it has {options}")
    return found


def _several(element: Json, values: Any) -> list[Json]:
    need(isinstance(values, list | tuple | set | frozenset), f"{element['action_id']} takes several values")
    found = [_option(element, choices(element), value) for value in values]
    most = element.get("max_selected_items", len(found))
    need(len(found) <= most, f"{element['action_id']} takes {most} choices, not {len(found)}")
    return found


def _text(_: Workspace, element: Json, value: Any) -> str:
    name, least, most = element["action_id"], element.get("min_length", 0), element.get("max_length", LONGEST)
    if not isinstance(value, str):
        raise Misuse(f"{name} takes text")
    need(len(value) <= most, f"{name} takes {most} characters, not {len(value)}")
    need(len(value) >= least, f"{name} wants {least} characters, not {len(value)}")
    need(element.get("multiline") or "\n" not in value, f"{name} is a single line")
    return value


def _time(_: Workspace, element: Json, value: Any) -> str:
    need(re.fullmatch("([01][0-9]|2[0-3]):[0-5][0-9]", str(value)), f"{element['action_id']}: {value} is no HH:mm")
    return str(value)


def _user(team: Workspace, element: Json, value: Any) -> str:
    need(USER(value), f"{element['action_id']}: {value} is no user")
    need(not team.profile(value).deleted, f"{element['action_id']}: {value} is not in the team any more")
    return str(value)


def _conversation(team: Workspace, element: Json, value: Any) -> str:
    """Whether the menu has archived channels is not documented; one may be archived while it is open."""
    there = team.channels.get(value)
    if there is None:
        raise Misuse(f"{element['action_id']}: there is no {value}")
    need(listed(element, there), f"{element['action_id']} leaves {value} out")
    return there.id


def _check_sight(team: Workspace, user: str, channel: str, name: str) -> None:
    """People find what is public and where they are; guests and others' people only where they are."""
    there, who = team.channels[channel], team.profile(user)
    is_regular = not who.is_guest and who.team in ("", team.team_id)
    is_seen = (is_regular and there.kind == "channels") or team.is_in(there, user)
    need(is_seen, f"{name}: {user} does not see {channel}")


TAKES: dict[str, Callable[[Workspace, Json, Any], str]] = {
    "plain_text_input": _text,
    "timepicker": _time,
    "users_select": _user,
    "conversations_select": _conversation,
}
