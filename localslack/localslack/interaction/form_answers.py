"""An app's answers to forms and menus: the change to a modal, and the options of a menu.

Slack does not tell the app about an answer that it does not understand. Here that raises ``InvalidAction``.
"""

from __future__ import annotations

from typing import Any

from localslack.errors import InvalidAction, SlackError, require
from localslack.methods.views import close_views, get_stack, push_view_onto, read_view, replace_view
from localslack.rules.elements import GROUP, OPTION, list_options
from localslack.rules.schema import has_unique_values, items, shape, string
from localslack.state.element_values import add_default_ids
from localslack.state.workspace import Json, Workspace

ANSWER_KEYS = {"errors": {"errors"}, "update": {"view"}, "push": {"view"}, "clear": set[str]()}
OPTIONS_ANSWER = shape(
    {},
    lambda value: len(value) == 1 and has_unique_values("value", list_options(value)),
    options=items(OPTION, 0, 100),
    option_groups=items(GROUP, 0, 100),
)


def apply_answer(team: Workspace, view_id: str, body: Any) -> Json:
    """Apply the answer to a submission; return the errors that the person reads, by block."""
    if view_id not in team.views:
        return {}
    if body in ("", {}):
        close_views(team, [view_id])
        return {}
    action = _read_action(body)
    if action == "errors":
        return _read_errors(team, view_id, body["errors"])
    if action == "clear":
        close_views(team, get_stack(team, view_id))
    else:
        _show_view(team, view_id, action, body["view"])
    return {}


def _read_action(body: Any) -> str:
    require(isinstance(body, dict), f"the answer to a submission is no text: {body}")
    action = str(body.get("response_action"))
    understood = action in ANSWER_KEYS and body.keys() == {"response_action"} | ANSWER_KEYS[action]
    require(understood, f"Slack understands no such answer to a submission: {body}")
    return action


def _read_errors(team: Workspace, view_id: str, errors: Any) -> Json:
    """Return the errors by block. Slack does not document the length limit of an error."""
    inputs = {
        block["block_id"] for block in add_default_ids(team.views[view_id]["blocks"]) if block["type"] == "input"
    }
    require(isinstance(errors, dict), f"errors belong to blocks: {errors}")
    require(errors, "there is no error among the errors")
    require(errors.keys() <= inputs, f"not of an input block: {', '.join(sorted(errors.keys() - inputs))}")
    require(all(map(string(), errors.values())), f"an error is a text: {errors}")
    return dict(errors)


def _show_view(team: Workspace, view_id: str, action: str, view: Any) -> None:
    try:
        accepted = read_view(team, {"view": view}, "modal", view_id if action == "update" else "")
        if action == "update":
            replace_view(team, view_id, accepted)
        else:
            push_view_onto(team, view_id, accepted)
    except SlackError as error:
        raise InvalidAction(f"Slack refuses the view to {action}: {error.code}") from None


def parse_options(body: str | Json) -> list[Json]:
    """Return the options that an app returned for a menu."""
    if not isinstance(body, dict) or not OPTIONS_ANSWER(body):
        raise InvalidAction(f"Slack understands no such options: {str(body)[:500]}")
    return list_options(body)
