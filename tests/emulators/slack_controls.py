"""The buttons and menus of a message, and what Slack tells the app when somebody uses one."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass

from tests.emulators.slack_elements import choices
from tests.emulators.slack_store import Json

MENUS = frozenset({"static_select", "overflow"})


@dataclass(frozen=True)
class Control:
    """One thing that can be pressed or chosen: its name, its value and the fields that the app gets."""

    action_id: str
    value: str | None
    fields: Json

    def __str__(self) -> str:
        return self.action_id if self.value is None else f"{self.action_id}={self.value}"


def named_blocks(message: Json) -> list[Json]:
    """The blocks of a message as readers get them: Slack gives a name to those that have none."""
    blocks = copy.deepcopy(message.get("blocks") or [])
    return [{"block_id": f"block{at}", **block} for at, block in enumerate(blocks)]


def controls(message: Json) -> Iterator[Control]:
    for block in named_blocks(message):
        for element in (*block.get("elements", ()), block.get("accessory")):
            if isinstance(element, dict) and "action_id" in element:
                yield from _uses_of(element, block["block_id"])


def control(message: Json, action_id: str, value: str | None) -> Control:
    """The one that is meant; an error that names all there are if none is, or several."""
    there = list(controls(message))
    found = [c for c in there if c.action_id == action_id and value in (None, c.value)]
    wanted = action_id if value is None else f"{action_id}={value}"
    assert found, f"the message has no {wanted}; it has {', '.join(map(str, there)) or 'nothing to press'}"
    assert value is not None or len(found) == 1, f"say which value: {', '.join(map(str, found))}"
    return found[0]


def _uses_of(element: Json, block_id: str) -> Iterator[Control]:
    """A button has one use, a menu one for each of its options, a pair of feedback buttons two."""
    kind, name = element["type"], element["action_id"]
    common = {"type": kind, "action_id": name, "block_id": block_id}
    if kind in MENUS:
        shown = {key: element[key] for key in ("placeholder",) if key in element}
        for option in choices(element):
            yield Control(name, option.get("value"), {**common, **shown, "selected_option": option})
    elif kind == "feedback_buttons":
        for button in (element["positive_button"], element["negative_button"]):
            yield Control(name, button["value"], {**common, "text": button["text"], "value": button["value"]})
    else:
        shown = {key: element[key] for key in ("text", "value", "style") if key in element}
        yield Control(name, element.get("value"), {**common, **shown})
