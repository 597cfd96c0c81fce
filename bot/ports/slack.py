"""Slack, as far as the services need it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol

from bot.domain.conversations.slack_request import Visit

# how far Slack's clock and ours may be apart: what was posted is looked for from so much earlier
SKEW = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class Attachment:
    """A text file for a thread."""

    name: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Post:
    """A message as Slack takes it; ``text`` is what notifications and screen readers get."""

    text: str
    blocks: tuple[Mapping[str, Any], ...]

    def payload(self) -> dict[str, Any]:
        return {"text": self.text, "blocks": [dict(block) for block in self.blocks]}


class Messenger(Protocol):
    """Slack, as far as a digest needs it. Every method may raise SlackRefused or SlackUnavailable."""

    def team(self) -> str:
        """The id of the workspace that the token belongs to."""

    def post(
        self, channel: str, post: Mapping[str, Any], key: str, thread: str | None = None, about: str = ""
    ) -> str:
        """Post a message that carries ``key``, and what it is ``about``, in its metadata; its timestamp."""

    def direct(self, user: str) -> str:
        """The channel of the direct messages between the bot and a user."""

    def edit(self, channel: str, message: str, post: Mapping[str, Any], key: str, about: str = "") -> None:
        """Put something else in place of a message of the bot's."""

    def find_posts(self, channel: str, since: datetime, thread: str | None = None) -> dict[str, str]:
        """Timestamps of the bot's own messages by key: of the channel since a time, or of a thread."""

    def attach(self, channel: str, thread: str, file: Attachment) -> None:
        """Put a file into a thread."""

    def has_attachment(self, channel: str, thread: str, name: str) -> bool:
        """Whether the bot already put a file of that name into the thread."""

    def permalink(self, channel: str, message: str) -> str:
        """Address of a message."""


class Whispers(Protocol):
    """What only the one who asked sees."""

    def whisper(self, visit: Visit, post: Post) -> None:
        """Tell the asker. Raises SlackUnavailable; one who can't be reached any more is no error."""


class Views(Protocol):
    """Windows in Slack. Both may raise SlackRefused or SlackUnavailable."""

    def open(self, trigger: str, key: str, view: Mapping[str, Any]) -> None:
        """Open a window within three seconds of the click that gave ``trigger``."""

    def update(self, key: str, view: Mapping[str, Any]) -> bool:
        """Show something else in the window of that key; whether there is one."""


@dataclass(frozen=True, slots=True)
class ThreadMessage:
    """A message of a thread. ``key`` and ``about`` are what the bot's own carry."""

    ts: str
    text: str
    is_own: bool
    key: str = ""
    about: str = ""


class Threads(Protocol):
    """What was said in threads."""

    def read(self, channel: str, thread: str) -> Sequence[ThreadMessage]:
        """The messages of a thread, oldest first. Raises SlackRefused, SlackUnavailable."""


class Display(Protocol):
    """One answer in a thread, as it is being written. That Slack did not show it is told by ``finish`` alone."""

    def status(self, doing: str) -> None:
        """Say what the bot does, such as "is reading 3 diffs…", until the next words are shown."""

    def show(self, text: str) -> None:
        """Add Markdown to the answer. Raises AnswerStopped if the asker wants no more of it."""

    def replace(self, text: str) -> None:
        """Show this in place of what was shown so far."""

    def finish(self, text: str, below: Sequence[Mapping[str, Any]]) -> str:
        """Make it the whole answer, with blocks below; the message's timestamp.

        Raises SlackRefused, or SlackUnavailable: it is not known how much is there.
        """


class Displays(Protocol):
    """Where answers are shown."""

    def open(self, visit: Visit, key: str, begun: Callable[[str], None], message: str = "") -> Display:
        """A place for an answer: ``begun`` is told the timestamp once there is a message.

        ``message`` is the one that an earlier try began.
        """

    def begun_before(self, visit: Visit, key: str, since: str) -> str:
        """The message that an earlier try began after ``since`` and could not tell of; empty if there is none.

        Raises SlackRefused, SlackUnavailable.
        """
