"""People who use the app's views: they open App Home, fill in forms and search menus."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

from localslack.errors import require
from localslack.server.views import Values
from localslack.state.channel import get_direct_id
from localslack.state.element_values import get_value, iterate_elements
from localslack.state.workspace import Json
from localslack.users.sender import Delivery, Sender


class ViewUser(Sender):
    """A person who uses views. A view is named by its id or by a copy read earlier; its current state counts."""

    def open_home(self, tab: Literal["home", "messages"] = "home") -> Delivery:
        """Open App Home or its messages. The event of the first has the person's published view."""
        channel = self.slack.get_channel(get_direct_id(self.user)).id
        event = {"type": "app_home_opened", "user": self.user, "channel": channel, "tab": tab}
        view = self.slack.enter_home(self.user) if tab == "home" else None
        return self._send_event({**event, "event_ts": self.slack.make_ts(), **({"view": view} if view else {})})

    def press_in(
        self, view: Json | str, action_id: str, *, value: str | None = None, block_id: str | None = None
    ) -> Delivery:
        """Use an element of a view. ``value`` is the choice, or tells apart elements of the same name."""
        action, shown = self.slack.press_in_view(view, self.user, action_id, value, block_id=block_id)
        trigger = self.slack.make_trigger_id(self.user, view=shown["id"])
        where = {"container": _make_container(shown), "trigger_id": trigger, "view": shown}
        return self._deliver_payload(
            "interactive", self._make_interaction("block_actions", **where, actions=[action])
        )

    def submit(self, view: Json | str, values: Values | None = None, /, **more: Any) -> Delivery:
        """Fill in by action_id and submit; other fields keep their values.

        An answer that Slack would not understand raises ``InvalidAction``; any status but 200, or none in time,
        leaves the view open.
        """
        inputs: dict[Any, Any] = {**(values or {}), **more}
        shown = self.slack.fill_form(view, self.user, inputs)
        trigger = self.slack.make_trigger_id(self.user, view=shown["id"])
        urls = [self._make_response_url(*target) for target in _find_targets(shown)]
        payload = self._make_interaction("view_submission", trigger_id=trigger, view=shown, response_urls=urls)
        delivery = self._deliver_payload("interactive", payload)
        if delivery.ack.status != 200:
            return delivery
        return replace(delivery, errors=self.slack.apply_answer(shown, delivery.ack.body))

    def close(self, view: Json | str) -> Delivery | None:
        """Close a view; the app gets a payload if it asked for one."""
        shown, cleared = self.slack.close_view(view, self.user)
        if not shown["notify_on_close"]:
            return None
        return self._deliver_payload(
            "interactive", self._make_interaction("view_closed", view=shown, is_cleared=cleared)
        )

    def suggest(self, view: Json | str, action_id: str, typed: str = "") -> list[Json]:
        """Return the app's options for the typed text, those in groups included."""
        key, shown = self.slack.search_options(view, self.user, action_id, typed)
        query = {"container": _make_container(shown), "block_id": key[0], "action_id": key[1], "value": typed}
        delivery = self._deliver_payload(
            "interactive", self._make_interaction("block_suggestion", **query, view=shown)
        )
        require(delivery.ack.status == 200, f"the app did not answer what options there are: {delivery.ack}")
        return self.slack.add_options(shown, key, delivery.ack.body)

    def _make_response_url(self, block_id: str, action_id: str, channel: str) -> Json:
        url = self.slack.make_response_url(channel, self.user)
        return {"block_id": block_id, "action_id": action_id, "channel_id": channel, "response_url": url}


def _make_container(view: Json) -> Json:
    return {"type": "view", "view_id": view["id"]}


def _find_targets(view: Json) -> list[tuple[str, str, str]]:
    """Return the menus whose conversation accepts answers, with their values."""
    menus = [key for key, _, part in iterate_elements(view["blocks"]) if part.get("response_url_enabled")]
    chosen = [(*key, get_value(view["state"]["values"][key[0]][key[1]])) for key in menus]
    return [target for target in chosen if target[2]]
