"""The memory of the local Slack: channels, messages, files, views. No HTTP and no validation of blocks."""

from __future__ import annotations

import copy
import mimetypes
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from localslack.errors import SlackError, raise_error
from localslack.rules.elements import USER
from localslack.state.agents import Agents
from localslack.state.channel import Channel, copy_json, get_direct_id, is_reply
from localslack.state.element_values import ElementState
from localslack.state.identity import APP_ID, BOT_ID, BOT_USER, TEAM_URL
from localslack.state.profiles import Profile
from localslack.state.statuses import Statuses
from localslack.state.steps import Steps
from localslack.state.streams import Streams
from localslack.state.triggers import Triggers
from localslack.state.unfurls import Unfurls

Json = dict[str, Any]

START = 1_772_300_000  # seconds; the first message is 1772300000.000100
STEP = 100  # microseconds between messages of the same moment
KINDS = ("channels", "groups", "mpim", "im")
TOMBSTONE = "This message was deleted."


@dataclass
class Workspace:
    """One Slack team as its bot sees it.

    ``bot_name`` is the bot's name, ``now`` returns the seconds of the next ts, and ``link`` the address of a
    WebSocket for Socket Mode. ``secret`` returns a random string for addresses that need no token, since any page
    in the same browser could write to them.
    """

    team_id: str
    scopes: frozenset[str]
    url: str
    bot_name: str = "bot"
    now: Callable[[], float] = lambda: START
    triggers: Triggers = field(default_factory=Triggers)
    link: Callable[[], str] = str
    streams: Streams = field(default_factory=Streams)
    statuses: Statuses = field(default_factory=Statuses)
    agents: Agents = field(default_factory=Agents)
    unfurls: Unfurls = field(default_factory=Unfurls)
    steps: Steps = field(default_factory=Steps)
    channels: dict[str, Channel] = field(default_factory=dict)
    people: dict[str, Profile] = field(default_factory=dict)
    uploads: dict[str, Json] = field(default_factory=dict)
    views: dict[str, Json] = field(default_factory=dict)
    element_states: dict[str, ElementState] = field(default_factory=dict)  # by view id
    home_enabled: bool = True
    ephemerals: list[Json] = field(default_factory=list)
    unshown: list[Json] = field(default_factory=list)  # ephemeral messages that were never visible
    secret: Callable[[], str] = secrets.token_hex
    _last: int = 0
    _count: int = 0

    def require_scope(self, *needed: str) -> None:
        """Raise SlackError unless the token has one of the scopes."""
        if self.scopes.isdisjoint(needed):
            raise SlackError("missing_scope", needed=",".join(needed), provided=",".join(sorted(self.scopes)))

    def make_ts(self) -> str:
        """Return the next ts, unique and increasing, like 1772300000.000100."""
        self._last = max(self._last, int(self.now() * 1_000_000)) + STEP
        return f"{self._last // 1_000_000}.{self._last % 1_000_000:06d}"

    def make_id(self, prefix: str) -> str:
        """Return a new id with this prefix."""
        self._count += 1
        return f"{prefix}{self._count:08d}"

    def get_profile(self, user: str) -> Profile:
        """Return a person's profile: every valid user id is one of the team."""
        if not USER(user):
            raise SlackError("user_not_found")
        return self.people.get(user) or Profile(user, user, is_bot=user == BOT_USER)

    def list_members(self, channel: Channel) -> list[str]:
        """Return the ids of a channel's members, the app's bot included."""
        bot = [BOT_USER] if channel.member or channel.kind == "im" else []
        if channel.kind == "im":
            return [channel.user, *bot]
        explicit = channel.people
        regular = (user for user, each in self.people.items() if self._is_regular(each, channel))
        return sorted({*(regular if explicit is None else explicit), *bot})

    def is_in(self, channel: Channel, user: str) -> bool:
        """Return whether a person is in a channel."""
        if channel.kind == "im" or channel.people is not None:
            return user in self.list_members(channel)
        return self._is_regular(self.get_profile(user), channel)

    def _is_regular(self, who: Profile, channel: Channel) -> bool:
        """Return whether a person is in a channel that has no list of members."""
        is_own = who.team in ("", self.team_id)
        return not (who.deleted or who.is_guest or who.is_bot) and (is_own or channel.shared)

    def find_channel(self, channel_id: object) -> Channel:
        """Return a channel that the bot may see. Raises SlackError otherwise."""
        channel = self.channels.get(str(channel_id))
        if channel is None or (channel.private and not channel.member):
            raise SlackError("channel_not_found")
        return channel

    def find_recipient(self, address: object) -> Channel:
        """Find a channel by id or ``#name``, or direct messages by a person's id; only posts accept all three."""
        name = str(address)
        if USER(name):
            return self.open_direct_messages(name)
        return self.find_channel(
            {f"#{channel.name}": channel.id for channel in self.channels.values()}.get(name, name)
        )

    def open_direct_messages(self, user: str) -> Channel:
        """Open direct messages, even with a person who was deactivated, as others have measured."""
        raise_error("cannot_dm_bot" if self.get_profile(user).is_bot else None)
        return self._ensure_direct_channel(get_direct_id(user), user)

    def get_channel(self, name: str) -> Channel:
        """Return a channel that a person is in; direct messages exist as soon as a person writes in them."""
        return self._ensure_direct_channel(name, f"U{name[1:]}") if name.startswith("D") else self.channels[name]

    def _ensure_direct_channel(self, name: str, user: str) -> Channel:
        return self.channels.setdefault(name, Channel(name, "directmessage", private=True, user=user))

    def find_readable(self, channel_id: object, right: str) -> Channel:
        """Return a channel whose kind the token may read: ``right`` is history or read."""
        self.require_scope(*(f"{kind}:{right}" for kind in KINDS))
        channel = self.find_channel(channel_id)
        self.require_scope(f"{channel.kind}:{right}")
        return channel

    def find_writable(self, address: object, *, by_name: bool = False) -> Channel:
        """Return a channel to write in. An archived one has its own error, since nobody is in it any more."""
        channel = self.find_recipient(address) if by_name else self.find_channel(address)
        raise_error("is_archived" if channel.archived else None)
        raise_error(None if channel.member else "not_in_channel")
        return channel

    def add_message(self, channel: Channel, user: str, text: str, thread_ts: object = None, **more: Any) -> Json:
        """Add a message and return it; ``more`` are its other fields."""
        message: Json = {"type": "message", "ts": self.make_ts(), "user": user, "team": self.team_id, "text": text}
        if thread_ts:
            root = channel.find_parent(thread_ts)
            message |= {"thread_ts": root["ts"], "parent_user_id": root["user"]}
        message |= {key: copy_json(value) for key, value in more.items() if value is not None}
        channel.messages.append(message)
        return message

    def add_bot_message(self, channel: Channel, text: str, thread_ts: object = None, **more: Any) -> Json:
        """Add a message of the bot, which clears the thread's status; return it."""
        message = self.add_message(channel, BOT_USER, text, thread_ts, bot_id=BOT_ID, app_id=APP_ID, **more)
        self.statuses.clear(channel.id, message.get("thread_ts", ""))
        return message

    def show_ephemeral(self, channel: Channel, user: str, shown: Json) -> str:
        """Show a person a message; return its ts.

        In a thread without replies it is accepted and shown to nobody, as Slack's reference says.
        """
        thread = shown.get("thread_ts")
        is_seen = not thread or any(is_reply(m) and m["thread_ts"] == thread for m in channel.messages)
        whole = {"channel": channel.id, "user": user, "ts": self.make_ts(), **shown}
        (self.ephemerals if is_seen else self.unshown).append(whole)
        return str(whole["ts"])

    def remove_message(self, channel: Channel, message: Json) -> None:
        """Remove a message: a parent with replies leaves a tombstone."""
        if "reply_count" not in channel.format_message(message):
            channel.messages.remove(message)
            return
        ts = message["ts"]
        message.clear()
        message |= {"type": "message", "subtype": "tombstone", "ts": ts, "user": "USLACKBOT", "text": TOMBSTONE}

    def reserve_file(self, name: str, length: int) -> Json:
        """Return a new file without content. Only an upload with its ``key`` can add that."""
        file_id = self.make_id("F")
        own = {"id": file_id, "key": self.secret(), "name": name, "length": length}
        self.uploads[file_id] = {**own, "content": None, "shared": False}
        return self.uploads[file_id]

    def find_unshared_file(self, file_id: object) -> Json:
        """Return a file that has content and has not been shared yet. Raises SlackError otherwise."""
        file = self.uploads.get(str(file_id))
        if file is None or file["content"] is None or file["shared"]:
            raise SlackError("file_not_found")
        return file

    def list_files(self) -> list[Json]:
        """Return copies of the shared files."""
        return [copy.deepcopy(file) for file in self.uploads.values() if file["shared"]]


def format_file(file: Json) -> Json:
    """Return a file as the API does, without its content."""
    mimetype = mimetypes.guess_type(file["name"])[0] or "application/octet-stream"
    return {
        "id": file["id"],
        "name": file["name"],
        "title": file["title"],
        "mimetype": mimetype,
        "filetype": file["name"].rpartition(".")[2],
        "size": len(file["content"]),
        "user": BOT_USER,
        "permalink": f"{TEAM_URL}files/{BOT_USER}/{file['id']}/{file['name']}",
    }
