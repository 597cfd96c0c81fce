"""One request from Slack: who asks, where, and who is to see the answer."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum


class Audience(StrEnum):
    """Who is to see an answer."""

    CHANNEL = "channel"
    """Everybody in the channel; only the asker where the bot is not a member."""
    ASKER = "asker"
    """Only the one who asked."""
    HERE = "here"
    """Whoever reads where the message stands that asked, in a thread or in direct messages; only the asker at top
    level of a channel, and where a command or a click asked."""
    SHARED = "shared"
    """Everybody in the channel, or nobody: the asker has it already."""


@dataclass(frozen=True, slots=True)
class SlackRequest:
    """Who asks, from where, and how to answer.

    ``key`` is equal for each delivery of the same request and no other. ``team`` and ``enterprise`` are those of
    the asker. ``response_url`` reaches the asker for half an hour; without it ``thread`` is where they asked.
    ``message`` is Slack's time of the message that asks, or that has the button; a message at top level may begin
    its ``thread``. ``trigger`` opens a window for three seconds. ``channel`` is empty for who is in App Home.
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
        """The thread that they were in when they asked; empty at top level.

        One that their message may begin is none yet: Slack shows nobody what only they shall see in it.
        """
        return self.thread if self.message and self.thread != self.message else ""

    @property
    def is_direct(self) -> bool:
        """Whether they write to the bot alone: so Slack begins the ids of direct messages."""
        return self.channel.startswith("D")

    @property
    def reference(self) -> str:
        """A short name of this request for an error message and the log."""
        return hashlib.sha256(self.key.encode()).hexdigest()[:6]
