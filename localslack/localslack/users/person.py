"""People in Slack who use the app: they type its commands, mention it and press its buttons."""

from __future__ import annotations

import copy
import uuid
from typing import Any

from localslack.errors import require
from localslack.interaction.controls import find_control
from localslack.state.agents import STOP_EVENT
from localslack.state.channel import Channel
from localslack.state.element_values import add_default_ids
from localslack.state.identity import APP_ID, BOT_USER
from localslack.state.steps import list_parameters
from localslack.state.unfurls import COMPOSER, SharedLinks
from localslack.state.workspace import Json
from localslack.users.sender import DOMAIN, TOKEN, Delivery
from localslack.users.view_user import ViewUser

__all__ = ["Delivery", "Person"]

CHANNEL_TYPES = {"channels": "channel", "groups": "group", "im": "im", "mpim": "mpim"}
CHANGE_SUBTYPES = frozenset(
    "message_changed message_deleted message_replied channel_join channel_leave channel_topic group_join".split()
)
ACKNOWLEDGED = 200
CHANNEL_NAMES = {"groups": "privategroup", "im": "directmessage"}


class Person(ViewUser):
    """A person who uses the app, in the team's first channel unless another is named."""

    def send_command(self, command: str, text: str = "", channel: str | None = None) -> Delivery:
        """Type a slash command with this text."""
        where = self._require_member(channel or self.slack.home)
        payload = {
            "token": TOKEN,
            "team_id": self.home,
            "team_domain": "elsewhere" if self.is_guest else DOMAIN,
            "channel_id": where.id,
            "channel_name": get_channel_name(where),
            "user_id": self.user,
            "user_name": self.name,
            "command": command,
            "text": text,
            "api_app_id": APP_ID,
            "is_enterprise_install": "false",
            "response_url": self.slack.make_response_url(where.id, self.user),
            "trigger_id": self.slack.make_trigger_id(self.user, where.id),
        }
        grid = {"enterprise_id": self.enterprise, "enterprise_name": "Grid"} if self.enterprise else {}
        return self._deliver_payload("slash_commands", payload | grid)

    def mention(
        self, text: str, channel: str | None = None, thread_ts: str | None = None, *, twin: bool = False
    ) -> Delivery:
        """Mention the bot in a message. With ``twin`` its ``message`` event comes after the mention.

        A text that does not mention the bot gets the mention in front.
        """
        bot_mention = f"<@{BOT_USER}>"
        message = self._post_message(
            text if bot_mention in text else f"{bot_mention} {text}", channel or self.slack.home, thread_ts
        )
        mention = self._send_event({**message, "type": "app_mention"})
        self.share_links(str(message["channel"]), str(message["ts"]))
        if twin:
            self.send_twin(mention)
        return mention

    def send_twin(self, mention: Delivery) -> Delivery:
        """Send the ``message`` event that Slack also sends for a mention: another event_id, the same ts."""
        event = mention.payload["event"]
        return self._send_event({**event, "type": "message", **self._describe_channel(event["channel"])})

    def invite(self, channel: str | None = None) -> Delivery:
        """Add the bot to a channel."""
        channel = channel or self.slack.home
        self.slack.invite_bot(channel)
        return self._send_event(
            {
                "type": "member_joined_channel",
                "user": BOT_USER,
                "channel": channel,
                "channel_type": "C" if self.slack.get_channel(channel).kind == "channels" else "G",
                "team": self.slack.workspace.team_id,
                "inviter": self.user,
                "event_ts": self.slack.make_ts(),
            }
        )

    def send_message(
        self, text: str, channel: str | None = None, thread_ts: str | None = None, **fields: Any
    ) -> Delivery:
        """Send a message. ``fields`` are its other fields: ``files`` and their subtype, another bot's id.

        With a subtype for a change of messages or channels (``message_changed``) no message is posted: as with
        Slack, the event has only these fields.
        """
        channel = channel or self.slack.home
        message = (
            {}
            if fields.get("subtype") in CHANGE_SUBTYPES
            else self._post_message(text, channel, thread_ts, **fields)
        )
        ts = message.get("ts") or self.slack.make_ts()
        event = {"type": "message", "ts": ts, "channel": channel, "event_ts": ts}
        delivery = self._send_event({**event, **message, **fields, **self._describe_channel(channel)})
        if message:
            self.share_links(channel, ts)
        return delivery

    def stop_session(self, channel: str, thread_ts: str) -> Delivery:
        """Press the button that stops the app's work in a thread, which Slack shows while a session processes."""
        streams = self.slack.stop_session(channel, thread_ts)
        place = {"channel": channel, "thread_ts": thread_ts, "streaming_message_ts": streams}
        event = {"type": STOP_EVENT, "user": self.user, "event_ts": self.slack.make_ts(), **place}
        return self._send_event(event)

    def share_links(self, channel: str, ts: str) -> Delivery | None:
        """Send the ``link_shared`` event of a message; None if the app is not told of any of its links."""
        shared = self.slack.share_links(channel, ts)
        return self._announce(shared, self.slack.get_message(channel, ts)) if shared else None

    def type_links(self, text: str) -> Delivery | None:
        """Type links into the message box without sending them, which has an event of its own."""
        shared = self.slack.type_links(text)
        return self._announce(shared, {}) if shared else None

    def _announce(self, shared: SharedLinks, message: Json) -> Delivery:
        is_sent = shared.source != COMPOSER
        thread = {"thread_ts": message["thread_ts"]} if message.get("thread_ts", shared.ts) != shared.ts else {}
        delivery = self._send_event(
            {
                "type": "link_shared",
                "channel": shared.channel,
                "is_bot_user_member": not is_sent or self.slack.get_channel(shared.channel).member,
                "user": self.user,
                "message_ts": shared.ts,
                "unfurl_id": shared.unfurl_id,
                "source": shared.source,
                "links": [{"domain": self.slack.find_domain(url), "url": url} for url in shared.urls],
                "event_ts": self.slack.make_ts(),
                **thread,
            }
        )
        if delivery.ack.status == ACKNOWLEDGED:
            self.slack.acknowledge_links(shared)
        return delivery

    def run_step(self, callback_id: str, inputs: Json) -> Delivery:
        """Run a workflow with one step of the app, with these inputs. The event names no person."""
        execution = self.slack.begin_step(callback_id)
        declared = self.slack.workspace.steps.declared[callback_id]
        described = {
            name: [{"name": each, **parameter} for each, parameter in list_parameters(declared, name).items()]
            for name in ("input_parameters", "output_parameters")
        }
        function = {"id": f"Fn{execution.id[2:]}", "callback_id": callback_id, "type": "app", "app_id": APP_ID}
        return self._send_event(
            {
                "type": "function_executed",
                "function": {**function, "title": declared.get("title", callback_id), **described},
                "inputs": inputs,
                "function_execution_id": execution.id,
                "workflow_execution_id": self.slack.make_id("Wx"),
                "event_ts": self.slack.make_ts(),
                "bot_access_token": execution.token,
            }
        )

    def edit(self, ts: str, text: str, channel: str | None = None) -> Delivery:
        """Replace the text of a message."""
        channel = channel or self.slack.home
        before = self.slack.get_message(channel, ts)
        after = self.slack.edit_message(channel, ts, text)
        return self.send_message(
            "", channel, subtype="message_changed", hidden=True, message=after, previous_message=before
        )

    def press(
        self,
        message: Json,
        action_id: str,
        *,
        value: str | None = None,
        channel: str | None = None,
        block_id: str | None = None,
    ) -> Delivery:
        """Use a button or menu of a stored message or of one of the ``ephemerals``.

        ``value`` chooses among several of the same name, and among the options of a menu; ``block_id`` among
        several in different blocks.
        """
        blocks = add_default_ids(message.get("blocks") or [])
        used = find_control(blocks, action_id, value, block_id=block_id)
        place = channel or message.get("channel") or self.slack.find_channel_of(message["ts"])
        if self.slack.get_channel(place).private:
            self._require_member(place)
        action, state = self.slack.press_control(blocks, place, used, value)
        payload = self._make_action({**copy.deepcopy(message), "blocks": blocks}, self.slack.get_channel(place))
        return self._deliver_payload("interactive", payload | {"state": state, "actions": [action]})

    def use_shortcut(self, callback_id: str) -> Delivery:
        """Use a global shortcut. The app is given neither the conversation nor an address for answers."""
        payload = self._make_shortcut("shortcut", callback_id, trigger_id=self.slack.make_trigger_id(self.user))
        # unlike the other interactions, it has the person's name only once
        user = {key: value for key, value in payload["user"].items() if key != "name"}
        return self._deliver_payload("interactive", payload | {"user": user})

    def use_message_shortcut(self, callback_id: str, ts: str, channel: str | None = None) -> Delivery:
        """Use a shortcut in the menu of a message, anybody's; ephemeral messages have none."""
        place = self.slack.get_channel(channel or self.slack.home)
        if place.private:
            self._require_member(place.id)
        payload = self._make_shortcut(
            "message_action",
            callback_id,
            trigger_id=self.slack.make_trigger_id(self.user, place.id),
            response_url=self.slack.make_response_url(place.id, self.user),
            message_ts=ts,
            channel={"id": place.id, "name": get_channel_name(place)},
            message=self.slack.get_message(place.id, ts),
        )
        return self._deliver_payload("interactive", payload)

    # payloads

    def _make_shortcut(self, kind: str, callback_id: str, **more: Any) -> Json:
        """Return the payload of a shortcut: an interaction that does not name the app."""
        ids = {"callback_id": callback_id, "action_ts": self.slack.make_ts()}
        payload = self._make_interaction(kind, **ids, **more)
        return {key: value for key, value in payload.items() if key != "api_app_id"}

    def _post_message(self, text: str, channel: str, thread_ts: str | None, **fields: Any) -> Json:
        """Post a message and return the fields of its event. Only a person's client adds ids of its own."""
        origin = {"user_team": self.home, "source_team": self.home} if self.is_guest else {}
        self._require_member(channel)
        typed = {} if "bot_id" in fields else {"client_msg_id": str(uuid.uuid4())}
        own = {**typed, "team": self.home, **origin, **fields}
        ts = self.slack.add_message(channel, text, self.user, thread_ts, **own)
        stored = self.slack.get_message(channel, ts)
        return stored | {"channel": channel, "event_ts": ts}

    def _require_member(self, channel: str) -> Channel:
        """Return a channel that they may write in: others see a public one and its buttons, too."""
        require(self.slack.can_write(channel, self.user), f"{self.user} is not in {channel}")
        return self.slack.get_channel(channel)

    def _describe_channel(self, channel: str) -> Json:
        """Return the channel's type, which message events have and mentions do not."""
        return {"channel_type": CHANNEL_TYPES[self.slack.get_channel(channel).kind]}

    def _make_action(self, message: Json, channel: Channel) -> Json:
        """Return the payload of a press. It lacks an ephemeral message, which Slack does not store."""
        hidden = "type" not in message
        payload = self._make_interaction(
            "block_actions",
            container=make_container(message, channel, hidden=hidden),
            trigger_id=self.slack.make_trigger_id(self.user, channel.id),
            channel={"id": channel.id, "name": get_channel_name(channel)},
            response_url=self.slack.make_response_url(channel.id, self.user, origin=message["ts"]),
        )
        return payload if hidden else payload | {"message": message}


def get_channel_name(channel: Channel) -> str:
    """Return the name that apps get: private channels are not named to them."""
    return CHANNEL_NAMES.get(channel.kind, channel.name)


def make_container(message: Json, channel: Channel, *, hidden: bool) -> Json:
    """Return where a pressed message is, as in the payload of an action."""
    container = {"type": "message", "message_ts": message["ts"], "channel_id": channel.id, "is_ephemeral": hidden}
    thread = message.get("thread_ts")
    return container | ({"thread_ts": thread} if thread else {})
