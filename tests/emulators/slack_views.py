"""The methods of Slack's Web API that show views."""

from __future__ import annotations

import copy
import json
from typing import Any

from tests.emulators.slack_store import BOT_ID, Json, SlackError, Workspace, refuse

VIEW_BLOCKS, VIEW_TITLE, VIEW_METADATA = 100, 24, 3_000


def view_of(arguments: Json, kind: str) -> Json:
    """The view if it is within the limits of views; its blocks are not looked into."""
    view = arguments.get("view")
    found: Any = json.loads(view) if isinstance(view, str) else view
    if not isinstance(found, dict) or found.get("type") != kind or not isinstance(found.get("blocks"), list):
        raise SlackError("invalid_arguments")
    title = (found.get("title") or {}).get("text", "")
    sizes = (len(found["blocks"]), len(title), len(found.get("private_metadata") or ""))
    if any(size > most for size, most in zip(sizes, (VIEW_BLOCKS, VIEW_TITLE, VIEW_METADATA), strict=True)):
        raise SlackError("invalid_arguments")
    return found


def store_view(team: Workspace, view_id: str, view: Json, **more: Any) -> Json:
    team.views[view_id] = {**view, "id": view_id, "team_id": team.team_id, "bot_id": BOT_ID, **more}
    return {"view": copy.deepcopy(team.views[view_id])}


def publish_view(team: Workspace, arguments: Json) -> Json:
    user = str(arguments.get("user_id") or "")
    refuse(None if user else "invalid_arguments")
    return store_view(team, f"VHOME{user}", view_of(arguments, "home"), user_id=user)


def open_view(team: Workspace, arguments: Json) -> Json:
    refuse(None if arguments.get("trigger_id") else "invalid_arguments")
    return store_view(team, team.next_id("V"), view_of(arguments, "modal"))


def update_view(team: Workspace, arguments: Json) -> Json:
    external = {view.get("external_id"): view_id for view_id, view in team.views.items()}
    view_id = str(arguments.get("view_id") or external.get(arguments.get("external_id") or 0))
    if view_id not in team.views:
        raise SlackError("not_found")
    return store_view(team, view_id, view_of(arguments, team.views[view_id]["type"]))
