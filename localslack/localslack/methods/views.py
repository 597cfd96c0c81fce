"""The Web API's methods that show views."""

from __future__ import annotations

import copy
import json
from typing import Any

from localslack.errors import SlackError, raise_error
from localslack.rules.blocks import BLOCK
from localslack.rules.elements import HOME_INPUTS, MODAL_INPUTS, USER, count_focused, input_block, plain_text
from localslack.rules.schema import (
    Check,
    Demand,
    Shape,
    has_unique_values,
    is_boolean,
    items,
    one_of_types,
    shape,
    string,
)
from localslack.state.element_values import ElementState, add_default_ids, add_emoji_flags, carry_over_settings
from localslack.state.identity import APP_ID, BOT_ID
from localslack.state.workspace import Json, Workspace

VIEW_BYTES = 250_000
MAX_STACK = 3  # views in one modal
VIEW_DEFAULTS: Json = {
    "private_metadata": "",
    "callback_id": "",
    "external_id": "",
    "clear_on_close": False,
    "notify_on_close": False,
    "close": None,
    "submit": None,
    "previous_view_id": None,
}


def make_blocks_check(inputs: dict[str, Shape]) -> Check:
    """Return a check of a view's blocks: those of messages, and input blocks with these elements."""
    return items(BLOCK | input_block(inputs), 0, 100)


def is_consistent(view: Json) -> bool:
    """Return whether block ids are unique, one element at most has the focus, and a form has a submit button."""
    blocks = view["blocks"]
    asks = any(block["type"] == "input" for block in blocks)
    sendable = not asks or view["type"] == "home" or "submit" in view
    return has_unique_values("block_id", blocks) and count_focused(blocks) <= 1 and sendable


IS_CONSISTENT = Demand(
    is_consistent, "must have block_ids that differ, one focus_on_load at most, and submit if it has an input"
)
NAMES = {"private_metadata": string(3_000, 0), "callback_id": string(255, 0), "external_id": string(255, 0)}
VIEW = one_of_types(
    {
        "modal": shape(
            {"title": plain_text(24), "blocks": make_blocks_check(MODAL_INPUTS)},
            IS_CONSISTENT,
            submit=plain_text(24),
            close=plain_text(24),
            clear_on_close=is_boolean,
            notify_on_close=is_boolean,
            submit_disabled=is_boolean,
            **NAMES,
        ),
        "home": shape({"blocks": make_blocks_check(HOME_INPUTS)}, IS_CONSISTENT, title=plain_text(24), **NAMES),
    }
)


def read_view(team: Workspace, arguments: Json, kind: str, view_id: str) -> Json:
    """Return the view if Slack accepts it under this id. Raises SlackError otherwise."""
    view = _parse_view(arguments.get("view"))
    if view.get("type") != kind or not VIEW(view):
        raise SlackError("invalid_arguments")
    raise_error("view_too_large" if len(json.dumps(view)) > VIEW_BYTES else None)
    others = [other for other in team.views.values() if other["id"] != view_id]
    external = view.get("external_id")
    raise_error("duplicate_external_id" if external and find_by_external_id(others, external) else None)
    return view


def _parse_view(view: object) -> Json:
    """Return the view without keys that are null, which count as absent."""
    try:
        parsed: Any = json.loads(view) if isinstance(view, str) else view
    except ValueError:
        parsed = None
    if not isinstance(parsed, dict):
        raise SlackError("invalid_arguments")
    return {key: value for key, value in parsed.items() if value is not None}


def find_by_external_id(views: list[Json], external_id: object) -> str | None:
    """Return the id of the view with this external id."""
    return next((view["id"] for view in views if view.get("external_id") == external_id), None)


def store_view(team: Workspace, view_id: str, view: Json, **more: Any) -> Json:
    """Store a view. Its hash changes each time."""
    own = {"id": view_id, "team_id": team.team_id, "bot_id": BOT_ID, "app_id": APP_ID, "root_view_id": view_id}
    mark = f"{int(team.now())}.{team.make_id('h')}"
    team.views[view_id] = {**copy.deepcopy(view), **own, "hash": mark, **more}
    shown = team.element_states.setdefault(view_id, ElementState())
    shown.settings = carry_over_settings(view["blocks"], shown.settings, shown.place)
    return {"view": copy.deepcopy(team.views[view_id])}


def publish_view(team: Workspace, arguments: Json) -> Json:
    """Show a person's App Home (``views.publish``)."""
    user = arguments.get("user_id")
    raise_error(None if USER(user) else "invalid_arguments")
    raise_error(None if team.home_enabled else "not_enabled")
    view_id = get_home_id(str(user))
    _check_hash(team.views.get(view_id), arguments)
    view = read_view(team, arguments, "home", view_id)
    team.element_states.setdefault(view_id, ElementState(str(user)))
    return store_view(team, view_id, view)


def get_home_id(user: str) -> str:
    """Return the id of a person's App Home view."""
    return f"VHOME{user}"


def open_view(team: Workspace, arguments: Json) -> Json:
    """Open a modal (``views.open``).

    A refused view leaves its trigger unused; whether Slack does the same is not documented.
    """
    trigger = _read_trigger(team, arguments)
    view = read_view(team, arguments, "modal", "")
    team.triggers.mark_used(trigger)
    origin = team.triggers.get_origin(trigger)
    place = team.channels.get(origin.place) or (
        team.element_states[origin.view].place if origin.view in team.element_states else None
    )
    return show_view(team, view, ElementState(origin.user, place))


def push_view(team: Workspace, arguments: Json) -> Json:
    """Push a view on top of the trigger's modal (``views.push``). The code for a wrong trigger is a guess."""
    trigger = _read_trigger(team, arguments)
    below = team.triggers.get_origin(trigger).view
    raise_error(None if team.views.get(below, {}).get("type") == "modal" else "invalid_trigger_id")
    view = read_view(team, arguments, "modal", "")
    pushed = push_view_onto(team, below, view)
    team.triggers.mark_used(trigger)
    return pushed


def push_view_onto(team: Workspace, below: str, view: Json) -> Json:
    """Push a view on top of this one. Raises SlackError if the modal is full."""
    raise_error("push_limit_reached" if len(get_stack(team, below)) >= MAX_STACK else None)
    around = {"root_view_id": team.views[below]["root_view_id"], "previous_view_id": below}
    return show_view(
        team, view, ElementState(team.element_states[below].user, team.element_states[below].place), **around
    )


def show_view(team: Workspace, view: Json, shown: ElementState, **around: str) -> Json:
    """Store a new view with the state of its elements; return it."""
    view_id = team.make_id("V")
    team.element_states[view_id] = shown
    return store_view(team, view_id, view, **around)


def update_view(team: Workspace, arguments: Json) -> Json:
    """Replace a view (``views.update``), by its id or its external id."""
    view_id, external_id = arguments.get("view_id"), arguments.get("external_id")
    raise_error("invalid_arguments" if bool(view_id) == bool(external_id) else None)
    stored = team.views.get(str(view_id or find_by_external_id(list(team.views.values()), external_id)))
    if stored is None:
        raise SlackError("not_found")
    _check_hash(stored, arguments)
    return replace_view(team, stored["id"], read_view(team, arguments, stored["type"], stored["id"]))


def replace_view(team: Workspace, view_id: str, view: Json) -> Json:
    """Store another view in its place: its position in the modal stays the same."""
    stored = team.views[view_id]
    around = {key: stored[key] for key in ("root_view_id", "previous_view_id") if key in stored}
    return store_view(team, view_id, view, **around)


def get_stack(team: Workspace, view_id: str) -> list[str]:
    """Return the ids of a modal's views, from the first to the one in front."""
    root = team.views[view_id]["root_view_id"]
    return [other["id"] for other in team.views.values() if other["root_view_id"] == root]


def close_views(team: Workspace, view_ids: list[str]) -> None:
    """Remove the views and the state of their elements."""
    for view_id in view_ids:
        team.views.pop(view_id, None)
        team.element_states.pop(view_id, None)


def describe_view(team: Workspace, view_id: str) -> Json:
    """Return a view as in Slack's payloads, with the state of its elements."""
    view = copy.deepcopy(team.views[view_id])
    blocks = add_default_ids(view["blocks"])
    own = {"app_installed_team_id": team.team_id, "state": team.element_states[view_id].state, "blocks": blocks}
    described: Json = add_emoji_flags({**VIEW_DEFAULTS, **view, **own})
    return described


def _read_trigger(team: Workspace, arguments: Json) -> str:
    trigger = str(arguments.get("trigger_id") or "")
    raise_error(team.triggers.find_fault(trigger) if trigger else "invalid_arguments")
    return trigger


def _check_hash(stored: Json | None, arguments: Json) -> None:
    """Check the hash, which names the state of the view that the change is for."""
    expected = arguments.get("hash")
    raise_error("hash_conflict" if expected and stored and expected != stored["hash"] else None)
