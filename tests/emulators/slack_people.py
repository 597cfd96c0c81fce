"""People in Slack who use the app: they type its commands, mention it and press its buttons."""

from __future__ import annotations

import copy
import uuid
from dataclasses import dataclass
from typing import Any

from tests.emulators.slack import SlackEmulator
from tests.emulators.slack_controls import Control, control, named_blocks
from tests.emulators.slack_store import APP_ID, BOT_USER, TEAM_URL, Channel, Json
from tests.emulators.slack_wire import Ack, Wire

HOME = "C0DIGEST"
TOKEN = "verification-token"  # long out of use, and still in everything that Slack sends
DOMAIN = TEAM_URL.removeprefix("https://").partition(".")[0]
CHANNEL_TYPES = {"channels": "channel", "groups": "group", "im": "im", "mpim": "mpim"}
HAPPENINGS = frozenset(
    "message_changed message_deleted message_replied channel_join channel_leave channel_topic group_join".split()
)
CHANNEL_NAMES = {"groups": "privategroup", "im": "directmessage"}


@dataclass(frozen=True)
class Delivery:
    """A request to the app as it was delivered, and the answer. ``retry`` counts the deliveries before it."""

    kind: str
    payload: Json
    ack: Ack
    retry: int = 0


@dataclass(frozen=True)
class Person:
    """Somebody in the emulator's team, or in another ``team`` that shares a channel with it."""

    emulator: SlackEmulator
    wire: Wire
    user: str = "U0ASKER"
    name: str = "ada"
    team: str | None = None
    enterprise: str | None = None

    # what a person does

    def slash(self, command: str, text: str = "", channel: str = HOME) -> Delivery:
        where = self.emulator.place(channel)
        payload = {
            "token": TOKEN,
            "team_id": self.home,
            "team_domain": "elsewhere" if self.is_guest else DOMAIN,
            "channel_id": where.id,
            "channel_name": shown_name(where),
            "user_id": self.user,
            "user_name": self.name,
            "command": command,
            "text": text,
            "api_app_id": APP_ID,
            "is_enterprise_install": "false",
            "response_url": self.emulator.response_url(channel, self.user),
            "trigger_id": self.emulator.trigger_id(),
        }
        grid = {"enterprise_id": self.enterprise, "enterprise_name": "Grid"} if self.enterprise else {}
        return self._deliver("slash_commands", payload | grid)

    def mention(
        self, text: str, channel: str = HOME, thread_ts: str | None = None, *, twin: bool = False
    ) -> Delivery:
        """The message is in the channel first. With ``twin`` its ``message`` event comes after the mention."""
        said = self._say(f"<@{BOT_USER}> {text}", channel, thread_ts)
        mention = self._event({**said, "type": "app_mention"})
        if twin:
            self.twin(mention)
        return mention

    def twin(self, mention: Delivery) -> Delivery:
        """The ``message`` event that Slack sends for a mention too: another event_id, the same ts."""
        said = mention.payload["event"]
        return self._event({**said, "type": "message", **self._kind_of(said["channel"])})

    def message(self, text: str, channel: str = HOME, thread_ts: str | None = None, **fields: Any) -> Delivery:
        """Say something. ``fields`` are what else the message has: ``files`` and their subtype, another bot's id.

        With a subtype of what happens to messages or channels (``message_changed``) nothing is said: the event has
        the fields only, as it has with Slack.
        """
        said = {} if fields.get("subtype") in HAPPENINGS else self._say(text, channel, thread_ts, **fields)
        ts = said.get("ts") or self.emulator.next_ts()
        event = {"type": "message", "ts": ts, "channel": channel, "event_ts": ts}
        return self._event({**event, **said, **fields, **self._kind_of(channel)})

    def edit(self, ts: str, text: str, channel: str = HOME) -> Delivery:
        """Write something else in a message that is there."""
        before = self.emulator.message(channel, ts)
        after = self.emulator.edit_message(channel, ts, text)
        return self.message(
            "", channel, subtype="message_changed", hidden=True, message=after, previous_message=before
        )

    def press(
        self, message: Json, action_id: str, *, value: str | None = None, channel: str | None = None
    ) -> Delivery:
        """Use a button or menu of a stored message or of one of the emulator's ``ephemerals``.

        ``value`` chooses among several of the same name, and among the options of a menu.
        """
        used = control(message, action_id, value)
        found = channel or message.get("channel") or self.emulator.channel_of(message["ts"])
        return self._deliver("interactive", self._action(message, used, self.emulator.place(found)))

    def again(self, delivery: Delivery) -> Delivery:
        """The very same once more. Slack itself does so only for events."""
        return self._deliver(delivery.kind, delivery.payload, delivery.retry + 1)

    # how Slack tells the app

    @property
    def home(self) -> str:
        return self.team or self.emulator.workspace.team_id

    @property
    def is_guest(self) -> bool:
        return self.home != self.emulator.workspace.team_id

    def _deliver(self, kind: str, payload: Json, retry: int = 0) -> Delivery:
        ack = self.wire.send(kind, payload, retry=retry)
        return Delivery(kind, payload, ack, retry)

    def _say(self, text: str, channel: str, thread_ts: str | None, **fields: Any) -> Json:
        """Put a message into the channel; what an event tells of it. Only a person's client has ids of its own."""
        origin = {"user_team": self.home, "source_team": self.home} if self.is_guest else {}
        typed = {} if "bot_id" in fields else {"client_msg_id": str(uuid.uuid4())}
        own = {**typed, "team": self.home, **origin, **fields}
        ts = self.emulator.add_message(channel, text, self.user, thread_ts, **own)
        stored = self.emulator.message(channel, ts)
        return stored | {"channel": channel, "event_ts": ts}

    def _kind_of(self, channel: str) -> Json:
        """Mentions do not say it; messages do."""
        return {"channel_type": CHANNEL_TYPES[self.emulator.place(channel).kind]}

    def _event(self, event: Json) -> Delivery:
        team, grid = self.emulator.workspace.team_id, None if self.is_guest else self.enterprise
        bot = {"team_id": team, "user_id": BOT_USER, "is_bot": True, "is_enterprise_install": False}
        payload = {
            "token": TOKEN,
            "team_id": team,
            "context_team_id": team,
            "context_enterprise_id": grid,
            "api_app_id": APP_ID,
            "event": event,
            "type": "event_callback",
            "event_id": self.emulator.next_id("Ev"),
            "event_time": int(float(event["event_ts"])),
            "authorizations": [{"enterprise_id": grid, **bot}],
            "is_ext_shared_channel": self.is_guest or self.emulator.place(event["channel"]).shared,
        }
        return self._deliver("events_api", payload | ({"enterprise_id": grid} if grid else {}))

    def _action(self, message: Json, used: Control, channel: Channel) -> Json:
        """An ephemeral message is not in the payload: Slack does not keep it."""
        hidden = "type" not in message
        now, grid = f"{self.emulator.workspace.now():.6f}", None if self.is_guest else self.enterprise
        payload = {
            "type": "block_actions",
            "team": {"id": self.emulator.workspace.team_id, "domain": DOMAIN},
            "user": {"id": self.user, "username": self.name, "name": self.name, "team_id": self.home},
            "enterprise": {"id": grid, "name": "Grid"} if grid else None,
            "is_enterprise_install": False,
            "api_app_id": APP_ID,
            "token": TOKEN,
            "container": container_of(message, channel, hidden=hidden),
            "trigger_id": self.emulator.trigger_id(),
            "channel": {"id": channel.id, "name": shown_name(channel)},
            "state": {"values": state_of(used)},
            "response_url": self.emulator.response_url(channel.id, self.user, origin=message["ts"]),
            "actions": [{**used.fields, "action_ts": now}],
        }
        shown = {**copy.deepcopy(message), "blocks": named_blocks(message)}
        return payload if hidden else payload | {"message": shown}


def shown_name(channel: Channel) -> str:
    """Private channels are not named to apps."""
    return CHANNEL_NAMES.get(channel.kind, channel.name)


def container_of(message: Json, channel: Channel, *, hidden: bool) -> Json:
    found = {"type": "message", "message_ts": message["ts"], "channel_id": channel.id, "is_ephemeral": hidden}
    thread = message.get("thread_ts")
    return found | ({"thread_ts": thread} if thread else {})


def state_of(used: Control) -> Json:
    """What menus are set to; buttons have no state."""
    chosen = used.fields.get("selected_option")
    if chosen is None or used.fields["type"] == "overflow":
        return {}
    kind = used.fields["type"]
    return {used.fields["block_id"]: {used.action_id: {"type": kind, "selected_option": chosen}}}
