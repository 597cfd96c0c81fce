"""Buttons, menus and pickers of a message or view, and the action that Slack sends when a person uses one."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from localslack.errors import require
from localslack.interaction.choices import set_value, toggle_value
from localslack.rules.elements import list_options
from localslack.state.element_values import KINDS, ElementState, Key, iterate_elements
from localslack.state.workspace import Json, Workspace

FREE_VALUE_TYPES = frozenset(
    {"plain_text_input", "timepicker", "users_select", "conversations_select", "external_select"}
)


@dataclass(frozen=True)
class Control:
    """One thing to press or choose. ``value`` is None for a button without a value and for a free value."""

    key: Key
    block: Json
    element: Json
    value: str | None = None

    @property
    def takes_free_value(self) -> bool:
        """Whether people enter the value rather than choose one of the app's."""
        return self.element["type"] in FREE_VALUE_TYPES

    def matches(self, action_id: str, value: str | None) -> bool:
        """Return whether the control has this action id and takes this value; a value of None matches any."""
        return self.key[1] == action_id and (value is None or self.takes_free_value or self.value == value)

    def __str__(self) -> str:
        return self.key[1] if self.value is None else f"{self.key[1]}={self.value}"


def iterate_controls(blocks: list[Json]) -> Iterator[Control]:
    """Yield every control in the blocks, once for each value that it can take."""
    for key, block, element in iterate_elements(blocks):
        for value in _iterate_values(element):
            yield Control(key, block, element, value)


def _iterate_values(element: Json) -> Iterator[str | None]:
    """Yield the values: one for a button, one per option for a menu, two for a pair of feedback buttons."""
    if element["type"] == "feedback_buttons":
        yield from (element[name]["value"] for name in ("positive_button", "negative_button"))
    elif element["type"] in FREE_VALUE_TYPES:
        yield None
    elif "options" in element or "option_groups" in element:
        yield from (option["value"] for option in list_options(element))
    else:
        yield element.get("value")


def find_control(
    blocks: list[Json], action_id: str, value: str | None, where: str = "message", *, block_id: str | None = None
) -> Control:
    """Return the control with this action id and value, in the block ``block_id`` if that is given.

    Raises InvalidAction, which lists all controls, if none matches or several do.
    """
    controls = [each for each in iterate_controls(blocks) if block_id in (None, each.key[0])]
    matching = [c for c in controls if c.matches(action_id, value)]
    label = action_id if value is None else f"{action_id}={value}"
    require(matching, f"the {where} has no {label}; it has {', '.join(map(str, controls)) or 'nothing to press'}")
    certain = value is not None or (len(matching) == 1 and not matching[0].takes_free_value)
    require(certain, f"say which value: {', '.join(map(str, matching))}")
    return matching[0]


def use_control(team: Workspace, shown: ElementState, used: Control, value: str | None) -> Json:
    """Press or set the control; return the action that Slack sends to the app."""
    element, kind = used.element, used.element["type"]
    block_id, action_id = used.key
    action = {"type": kind, "action_id": action_id, "block_id": block_id, "action_ts": f"{team.now():.6f}"}
    if kind in KINDS:
        before = shown.settings[used.key]
        chosen: Any = value or used.value
        chosen = toggle_value(before, chosen) if KINDS[kind].is_multiple else chosen
        now = set_value(team, shown, used.key, element, chosen)
        return copy.deepcopy({**_pick_keys(element, "placeholder", KINDS[kind].initial_key), **now, **action})
    return copy.deepcopy({**_describe_press(used), **action})


def _describe_press(used: Control) -> Json:
    element = used.element
    if element["type"] == "overflow":
        return {"selected_option": next(o for o in element["options"] if o["value"] == used.value)}
    if element["type"] == "feedback_buttons":
        pair = (element["positive_button"], element["negative_button"])
        return _pick_keys(next(button for button in pair if button["value"] == used.value), "text", "value")
    return _pick_keys(element, "text", "value", "style")


def _pick_keys(element: Json, *keys: str) -> Json:
    return {key: element[key] for key in keys if key in element}
