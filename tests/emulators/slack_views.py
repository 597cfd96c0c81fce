"""The methods of Slack's Web API that show views."""

from __future__ import annotations

import copy
import json
from typing import Any

from tests.emulators.slack_blocks import BLOCK
from tests.emulators.slack_elements import HOME_INPUTS, MODAL_INPUTS, focused, input_block, plain
from tests.emulators.slack_shapes import Check, Shape, flag, items, shape, string, typed, unique
from tests.emulators.slack_store import APP_ID, BOT_ID, Json, SlackError, Workspace, refuse

VIEW_BYTES = 250_000


def view_blocks(inputs: dict[str, Shape]) -> Check:
    asked = input_block(inputs)
    return items(lambda block: BLOCK(block) or asked(block), 0, 100)


def one_whole(view: Json) -> bool:
    """No two blocks of one name, one focus, and something to submit with where something is put in."""
    blocks = view["blocks"]
    asks = any(block["type"] == "input" for block in blocks)
    sendable = not asks or view["type"] == "home" or "submit" in view
    return unique("block_id", blocks) and focused(blocks) <= 1 and sendable


NAMES = {"private_metadata": string(3_000, 0), "callback_id": string(255, 0), "external_id": string(255, 0)}
VIEW = typed(
    {
        "modal": shape(
            {"title": plain(24), "blocks": view_blocks(MODAL_INPUTS)},
            one_whole,
            submit=plain(24),
            close=plain(24),
            clear_on_close=flag,
            notify_on_close=flag,
            submit_disabled=flag,
            **NAMES,
        ),
        "home": shape({"blocks": view_blocks(HOME_INPUTS)}, one_whole, title=plain(24), **NAMES),
    }
)


def view_of(team: Workspace, arguments: Json, kind: str, view_id: str) -> Json:
    """The view if Slack would take it under this id."""
    view = _read(arguments.get("view"))
    if view.get("type") != kind or not VIEW(view):
        raise SlackError("invalid_arguments")
    refuse("view_too_large" if len(json.dumps(view)) > VIEW_BYTES else None)
    others = [other for other in team.views.values() if other["id"] != view_id]
    external = view.get("external_id")
    refuse("duplicate_external_id" if external and named(others, external) else None)
    return view


def _read(view: object) -> Json:
    """Without the keys that are null: those count as not there."""
    try:
        found: Any = json.loads(view) if isinstance(view, str) else view
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise SlackError("invalid_arguments")
    return {key: value for key, value in found.items() if value is not None}


def named(views: list[Json], external_id: object) -> str | None:
    """The id of the view with this external id."""
    return next((view["id"] for view in views if view.get("external_id") == external_id), None)


def store_view(team: Workspace, view_id: str, view: Json, **more: Any) -> Json:
    """Each time it is stored its hash is another one."""
    own = {"id": view_id, "team_id": team.team_id, "bot_id": BOT_ID, "app_id": APP_ID, "root_view_id": view_id}
    mark = f"{int(team.now())}.{team.next_id('h')}"
    team.views[view_id] = {**copy.deepcopy(view), **own, "hash": mark, **more}
    return {"view": copy.deepcopy(team.views[view_id])}


def publish_view(team: Workspace, arguments: Json) -> Json:
    user = str(arguments.get("user_id") or "")
    refuse(None if user else "invalid_arguments")
    view_id = f"VHOME{user}"
    _compare(team.views.get(view_id), arguments)
    return store_view(team, view_id, view_of(team, arguments, "home", view_id), user_id=user)


def open_view(team: Workspace, arguments: Json) -> Json:
    """A view that is refused leaves the trigger as it was; whether Slack's does is not documented."""
    trigger = str(arguments.get("trigger_id") or "")
    refuse(team.triggers.fault(trigger) if trigger else "invalid_arguments")
    view = view_of(team, arguments, "modal", "")
    team.triggers.spend(trigger)
    return store_view(team, team.next_id("V"), view)


def update_view(team: Workspace, arguments: Json) -> Json:
    view_id, external_id = arguments.get("view_id"), arguments.get("external_id")
    refuse("invalid_arguments" if bool(view_id) == bool(external_id) else None)
    stored = team.views.get(str(view_id or named(list(team.views.values()), external_id)))
    if stored is None:
        raise SlackError("not_found")
    _compare(stored, arguments)
    return store_view(team, stored["id"], view_of(team, arguments, stored["type"], stored["id"]))


def _compare(stored: Json | None, arguments: Json) -> None:
    """A hash says which state of the view the change was made for."""
    wanted = arguments.get("hash")
    refuse("hash_conflict" if wanted and stored and wanted != stored["hash"] else None)
