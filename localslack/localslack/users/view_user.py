"""People who use the app's views: they open its home, fill its forms in and look through its menus."""

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
    """A view is named by its id, or given as it was once read: what counts is how it is now."""

    def open_home(self, tab: Literal["home", "messages"] = "home") -> Delivery:
        """Open Home or the messages. What is published for the person comes with the event of the first."""
        channel = self.slack.get_channel(get_direct_id(self.user)).id
        event = {"type": "app_home_opened", "user": self.user, "channel": channel, "tab": tab}
        view = self.slack.enter_home(self.user) if tab == "home" else None
        return self._send_event({**event, "event_ts": self.slack.make_ts(), **({"view": view} if view else {})})

    def press_in(
        self, view: Json | str, action_id: str, *, value: str | None = None, block_id: str | None = None
    ) -> Delivery:
        """Use something in a view. ``value`` is what is chosen, or which of several is clicked."""
        action, shown = self.slack.press_in_view(view, self.user, action_id, value, block_id=block_id)
        trigger = self.slack.make_trigger_id(self.user, view=shown["id"])
        where = {"container": _make_container(shown), "trigger_id": trigger, "view": shown}
        return self._deliver_payload(
            "interactive", self._make_interaction("block_actions", **where, actions=[action])
        )

    def submit(self, view: Json | str, values: Values | None = None, /, **more: Any) -> Delivery:
        """Fill in by action_id and send; what is not named stays as it is.

        An answer that Slack would not understand is a ``InvalidAction``; one that is not a 200, or none in time,
        leaves the view open.
        """
        wanted: dict[Any, Any] = {**(values or {}), **more}
        shown = self.slack.fill_form(view, self.user, wanted)
        trigger = self.slack.make_trigger_id(self.user, view=shown["id"])
        urls = [self._make_response_url(*target) for target in _find_targets(shown)]
        payload = self._make_interaction("view_submission", trigger_id=trigger, view=shown, response_urls=urls)
        delivery = self._deliver_payload("interactive", payload)
        if delivery.ack.status != 200:
            return delivery
        return replace(delivery, errors=self.slack.apply_answer(shown, delivery.ack.body))

    def close(self, view: Json | str) -> Delivery | None:
        """Close a view; the app hears of it if it has asked to."""
        shown, cleared = self.slack.close_view(view, self.user)
        if not shown["notify_on_close"]:
            return None
        return self._deliver_payload(
            "interactive", self._make_interaction("view_closed", view=shown, is_cleared=cleared)
        )

    def suggest(self, view: Json | str, action_id: str, typed: str = "") -> list[Json]:
        """Return the options that the app has for what was typed, those in groups too."""
        key, shown = self.slack.search_options(view, self.user, action_id, typed)
        asked = {"container": _make_container(shown), "block_id": key[0], "action_id": key[1], "value": typed}
        found = self._deliver_payload(
            "interactive", self._make_interaction("block_suggestion", **asked, view=shown)
        )
        require(found.ack.status == 200, f"the app did not answer what options there are: {found.ack}")
        return self.slack.add_options(shown, key, found.ack.body)

    def _make_response_url(self, block_id: str, action_id: str, channel: str) -> Json:
        url = self.slack.make_response_url(channel, self.user)
        return {"block_id": block_id, "action_id": action_id, "channel_id": channel, "response_url": url}


def _make_container(view: Json) -> Json:
    return {"type": "view", "view_id": view["id"]}


def _find_targets(view: Json) -> list[tuple[str, str, str]]:
    """Return the menus whose conversation can be answered in, with what they are set to."""
    menus = [key for key, _, part in iterate_elements(view["blocks"]) if part.get("response_url_enabled")]
    chosen = [(*key, get_value(view["state"]["values"][key[0]][key[1]])) for key in menus]
    return [target for target in chosen if target[2]]
