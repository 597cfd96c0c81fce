"""Views and messages as people use them: App Home, modals, and the elements of messages."""

from __future__ import annotations

import copy
import threading
from collections.abc import Mapping
from typing import Any

from localslack.errors import require
from localslack.interaction.choices import set_value
from localslack.interaction.controls import Control, find_control, use_control
from localslack.interaction.form_answers import apply_answer, parse_options
from localslack.methods.views import close_views, describe_view, get_home_id, get_stack
from localslack.rules.elements import list_elements
from localslack.state.element_values import (
    ElementState,
    Key,
    add_default_ids,
    add_emoji_flags,
    get_initial_settings,
    get_value,
    iterate_elements,
)
from localslack.state.triggers import TriggerOrigin
from localslack.state.workspace import Json, Workspace

Values = Mapping[str | Key, Any]
QUERY_LENGTH = 3


class TeamViews:
    """The views of the team. Safe to use from any thread.

    A view is named by its id or by a copy that was read earlier.
    """

    workspace: Workspace
    _lock: threading.Lock

    # for the program that runs the team

    @property
    def views(self) -> list[Json]:
        """All visible views as the app made them: each person's App Home and open modals."""
        with self._lock:
            return copy.deepcopy(list(self.workspace.views.values()))

    def get_home(self, user: str) -> Json | None:
        """Return a person's App Home, if the app has published one."""
        with self._lock:
            return copy.deepcopy(self.workspace.views.get(get_home_id(user)))

    def get_modal(self, user: str) -> Json | None:
        """Return the modal view in front of a person: the last one opened and not closed."""
        with self._lock:
            front = self._find_front(user)
            return copy.deepcopy(self.workspace.views[front]) if front else None

    def get_views(self, user: str) -> tuple[Json | None, Json | None]:
        """Return a person's App Home and the modal view in front, each with the state of its elements."""
        with self._lock:
            home = get_home_id(user) if get_home_id(user) in self.workspace.views else None
            views = (
                describe_view(self.workspace, each) if each else None for each in (home, self._find_front(user))
            )
            return next(views), next(views)

    def enable_home(self, *, enabled: bool = True) -> None:
        """Set whether the app has a Home tab."""
        with self._lock:
            self.workspace.home_enabled = enabled

    def make_trigger_id(self, user: str = "", place: str = "", view: str = "") -> str:
        """Return an id that opens one view, in front of the person who acted, within ``triggers.seconds``."""
        with self._lock:
            return self.workspace.triggers.make_trigger(TriggerOrigin(user, place, view))

    # for people

    def press_control(
        self, blocks: list[Json], channel: str, used: Control, value: str | None
    ) -> tuple[Json, Json]:
        """Use a control of a message; return the action, and the state of all elements of the message."""
        with self._lock:
            place = self.workspace.get_channel(channel)
            shown = ElementState("", place, get_initial_settings(blocks, place))
            return use_control(self.workspace, shown, used, value), shown.state

    def press_in_view(
        self, view: str | Json, user: str, action_id: str, value: str | None, *, block_id: str | None = None
    ) -> tuple[Json, Json]:
        """Use a control of a view; return the action, and the view after it."""
        with self._lock:
            view_id = self._require_usable(view, user)
            blocks = add_default_ids(self.workspace.views[view_id]["blocks"])
            used = find_control(blocks, action_id, value, "view", block_id=block_id)
            dispatched = used.block["type"] != "input" or used.block.get("dispatch_action")
            require(dispatched, f"{action_id} tells the app nothing before it is submitted")
            action = use_control(self.workspace, self.workspace.element_states[view_id], used, value)
            return add_emoji_flags(action), describe_view(self.workspace, view_id)

    def fill_form(self, view: str | Json, user: str, values: Values) -> Json:
        """Set the values, ready to be submitted; return the view after it."""
        with self._lock:
            view_id = self._require_usable(view, user)
            stored, shown = self.workspace.views[view_id], self.workspace.element_states[view_id]
            require(stored["type"] == "modal", "a home has nothing to submit")
            require("submit" in stored, "the view has no button to submit it")
            inputs = {
                key: (block, part)
                for key, block, part in iterate_elements(add_default_ids(stored["blocks"]))
                if _has_input(block)
            }
            for name, value in values.items():
                key = _find_key(name, list(inputs))
                set_value(self.workspace, shown, key, inputs[key][1], value)
            empty = [key[1] for key, (block, _) in inputs.items() if _is_missing(block, shown.settings[key])]
            require(not empty, f"must be filled in: {', '.join(empty)}")
            return describe_view(self.workspace, view_id)

    def apply_answer(self, view: Json, body: str | Json) -> Json:
        """Apply the app's answer to a submission; return the errors that the person reads."""
        with self._lock:
            return apply_answer(self.workspace, view["id"], body)

    def close_view(self, view: str | Json, user: str) -> tuple[Json, bool]:
        """Close a view; return it as it was, and whether the whole modal closed."""
        with self._lock:
            view_id = self._require_usable(view, user)
            described, stack = describe_view(self.workspace, view_id), get_stack(self.workspace, view_id)
            require(described["type"] == "modal", "a home cannot be closed")
            cleared = described["clear_on_close"]
            close_views(self.workspace, stack if cleared else stack[-1:])
            return described, cleared

    def enter_home(self, user: str) -> Json | None:
        """Return a person's App Home as the app set it, without the person's earlier choices."""
        with self._lock:
            if get_home_id(user) not in self.workspace.views:
                return None
            stored, shown = (
                self.workspace.views[get_home_id(user)],
                self.workspace.element_states[get_home_id(user)],
            )
            shown.settings = get_initial_settings(add_default_ids(stored["blocks"]), shown.place)
            return describe_view(self.workspace, get_home_id(user))

    def search_options(self, view: str | Json, user: str, action_id: str, typed: str) -> tuple[Key, Json]:
        """Type into a menu that loads its options from the app; return the menu's key, and the view."""
        with self._lock:
            view_id = self._require_usable(view, user)
            menus = {
                key: part
                for key, _, part in iterate_elements(add_default_ids(self.workspace.views[view_id]["blocks"]))
            }
            key = _find_key(action_id, [key for key, part in menus.items() if part["type"] == "external_select"])
            least = menus[key].get("min_query_length", QUERY_LENGTH)
            require(len(typed) >= least, f"{action_id} asks the app after {least} characters")
            return key, describe_view(self.workspace, view_id)

    def add_options(self, view: Json, key: Key, body: str | Json) -> list[Json]:
        """Return the options that the app sent, which can be chosen from now on."""
        options = parse_options(body)
        with self._lock:
            self.workspace.element_states[view["id"]].loaded_options[key] = copy.deepcopy(options)
        return options

    def _find_front(self, user: str) -> str | None:
        open_now = [view["id"] for view in self.workspace.views.values() if view["type"] == "modal"]
        return next(
            (each for each in reversed(open_now) if self.workspace.element_states[each].user == user), None
        )

    def _require_usable(self, view: str | Json, user: str) -> str:
        """Return the id of a view that is in front of this person."""
        view_id = view if isinstance(view, str) else str(view["id"])
        require(view_id in self.workspace.views, f"the view {view_id} is not open any more")
        owner = self.workspace.element_states[view_id].user
        require(owner in ("", user), f"the view {view_id} is in front of {owner}")
        is_home = self.workspace.views[view_id]["type"] == "home"
        require(is_home or not owner or view_id == self._find_front(user), f"the view {view_id} is behind another")
        return view_id


def _has_input(block: Json) -> bool:
    return bool(block["type"] == "input" and list_elements(block))


def _is_missing(block: Json, setting: Json) -> bool:
    return not block.get("optional") and not get_value(setting)


def _find_key(name: str | Key, keys: list[Key]) -> Key:
    """Return the only input with this action_id, or with this pair of block_id and action_id."""
    matching = [key for key in keys if name in (key, key[1])]
    available = ", ".join(key[1] for key in keys) or "nothing"
    require(matching, f"the view does not ask for {name}; it asks for {available}")
    require(len(matching) == 1, f"say in which block: {matching}")
    return matching[0]
