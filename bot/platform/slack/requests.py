from __future__ import annotations

import hashlib
import html
import re
from dataclasses import dataclass
from enum import StrEnum


class Audience(StrEnum):
    CHANNEL = "channel"
    """Everybody in the channel; only the asker if the bot is not a member."""
    ASKER = "asker"
    """Only the asker."""
    HERE = "here"
    """Everybody who can read the request's message, in a thread or in direct messages; only the asker at the top
    level of a channel, and for a command or a click."""
    SHARED = "shared"
    """Everybody in the channel, or nobody: the asker already has the answer."""


@dataclass(frozen=True, slots=True)
class SlackRequest:
    """A request from Slack: the asker, the place, and the ways to answer.

    ``key`` is equal for each delivery of the same request and no other. ``team`` and ``enterprise`` are those of
    the asker, empty where Slack does not say. ``response_url`` reaches the asker for half an hour; without it
    ``thread`` is where they asked. ``message`` is Slack's timestamp of the message with the request or its button;
    a message at top level may begin its ``thread``. ``trigger`` opens a modal for three seconds. ``channel`` is
    empty in App Home.
    """

    key: str
    team: str
    channel: str
    user: str
    enterprise: str = ""
    name: str = ""
    response_url: str = ""
    thread: str = ""
    trigger: str = ""
    message: str = ""

    @property
    def existing_thread(self) -> str:
        """The thread in which the user asked; empty at top level, whose thread is shown to nobody yet."""
        return self.thread if self.message and self.thread != self.message else ""

    @property
    def is_direct(self) -> bool:
        """Whether the channel is a direct message with the bot: its id begins with a D."""
        return self.channel.startswith("D")

    @property
    def reference(self) -> str:
        """A short name of this request for error messages and the log."""
        return hashlib.sha256(self.key.encode()).hexdigest()[:6]


MENTION = re.compile(r"<@(?P<user>[A-Z0-9]+)(?:\|[^<>]*)?>")
# Slack turns addresses in messages into links, and everything that looks like one: <http://setup.py|setup.py>
_LINK = re.compile(r"<(?P<address>(?:https?://|mailto:)[^<>|\s]+)(?:\|(?P<label>[^<>]*))?>")


def restore_user_text(text: str) -> str:
    """Return the text of a user's message as they typed it, without mentions."""
    return html.unescape(_LINK.sub(_restore_link, MENTION.sub(" ", text))).strip()


def _restore_link(match: re.Match[str]) -> str:
    """Return the label if Slack derived the address from it, else the address."""
    address, label = match["address"], match["label"] or ""
    label_addresses = address in {f"{scheme}{label}" for scheme in ("http://", "https://", "mailto:")}
    return label if label_addresses else address


def restore_bot_text(text: str) -> str:
    """Return the text of the bot's own message, with links replaced by their labels."""
    return html.unescape(_LINK.sub(lambda match: match["label"] or "", text)).strip()
