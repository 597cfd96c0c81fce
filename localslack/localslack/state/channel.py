"""A conversation with its messages: a channel, a group of people, or direct messages."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any

from localslack.errors import SlackError

Json = dict[str, Any]


def copy_json(value: Any) -> Any:
    """Return a copy of a value of JSON, several times as fast as ``copy.deepcopy``."""
    if isinstance(value, dict):
        return {key: copy_json(each) for key, each in value.items()}
    return [copy_json(each) for each in value] if isinstance(value, list) else value


def parse_ts(ts: object, error: str = "message_not_found") -> Decimal:
    """Return a ts as a number: as text, "9" would sort after "10". Raises SlackError if it is not a number."""
    try:
        number = Decimal(str(ts))
    except InvalidOperation:
        raise SlackError(error) from None
    if not number.is_finite():
        raise SlackError(error)
    return number


@dataclass
class Channel:
    """A conversation with its messages, oldest first."""

    id: str
    name: str
    member: bool = True
    archived: bool = False
    private: bool = False
    shared: bool = False  # with another team, by Slack Connect
    user: str = ""  # the person, in direct messages
    messages: list[Json] = field(default_factory=list)
    several: bool = False  # direct messages among several people
    people: frozenset[str] | None = None  # members; None means all of the team except guests

    @property
    def kind(self) -> str:
        """The prefix of the scopes for reading it: channels, groups, mpim or im."""
        if self.id.startswith("D"):
            return "im"
        if self.several:
            return "mpim"
        return "groups" if self.private else "channels"

    def to_json(self) -> Json:
        """Return it as the API does: direct messages have the person's id, and no name or membership."""
        shown = {
            "id": self.id,
            "is_archived": self.archived,
            "is_im": self.kind == "im",
            "is_private": self.private,
        }
        if self.kind == "im":
            return {**shown, "user": self.user, "is_org_shared": False}
        return {
            **shown,
            "name": self.name,
            "is_channel": self.kind == "channels",
            "is_group": self.kind == "groups",
            "is_mpim": self.kind == "mpim",
            "is_member": self.member,
            "is_ext_shared": self.shared,
        }

    def find_message(self, ts: object, error: str = "message_not_found") -> Json:
        """Return the message with this ts. Raises SlackError with ``error`` if there is none."""
        number = parse_ts(ts, error)
        match = next((message for message in self.messages if parse_ts(message["ts"]) == number), None)
        if match is None:
            raise SlackError(error)
        return match

    def find_parent(self, thread_ts: object) -> Json:
        """Return the message that a reply goes under. Slack's code for a reply's own ts has not been measured."""
        parent = self.find_message(thread_ts, "thread_not_found")
        if is_reply(parent):
            raise SlackError("cannot_reply_to_message")
        return parent

    def list_thread(self, ts: object) -> list[Json]:
        """Return a thread, parent first, replies oldest first; ``ts`` may be any message of it."""
        anchor = self.find_message(ts, "thread_not_found")
        root = anchor.get("thread_ts", anchor["ts"])
        thread = [message for message in self.messages if message.get("thread_ts", message["ts"]) == root]
        return [self.format_message(message) for message in thread]

    def list_top_level(self) -> list[Json]:
        """Return the messages of the channel, oldest first, replies that were broadcast included."""
        shown = (m for m in self.messages if not is_reply(m) or m.get("subtype") == "thread_broadcast")
        return [self.format_message(message) for message in shown]

    def format_message(self, message: Json) -> Json:
        """Return a copy as readers get it: a parent counts its replies."""
        replies = [m for m in self.messages if is_reply(m) and m["thread_ts"] == message["ts"]]
        users = list(dict.fromkeys(reply["user"] for reply in replies))
        counted = {
            "thread_ts": message["ts"],
            "reply_count": len(replies),
            "reply_users": users,
            "reply_users_count": len(users),
            "latest_reply": replies[-1]["ts"] if replies else None,
        }
        return {**copy_json(message), **(counted if replies else {})}


def get_direct_id(user: str) -> str:
    """Return the id of a person's direct messages with the bot, which exist once one of them writes."""
    return f"D{user[1:]}"


def is_reply(message: Json) -> bool:
    """Return whether the message is a reply in a thread."""
    return bool(message.get("thread_ts", message["ts"]) != message["ts"])
