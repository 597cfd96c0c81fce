"""Interfaces to Slack."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol

from bot.domain.conversations.slack_request import SlackRequest

# how far Slack's clock and ours may differ: the search for a post begins this much earlier
CLOCK_SKEW = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class Attachment:
    """A text file for a thread."""

    name: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Post:
    """A message in Slack's format. ``text`` is for notifications and screen readers."""

    text: str
    blocks: tuple[Mapping[str, Any], ...]

    def build_payload(self) -> dict[str, Any]:
        """Return the arguments of a call that posts the message."""
        return {"text": self.text, "blocks": [dict(block) for block in self.blocks]}


class Messenger(Protocol):
    """The part of Slack that a digest needs. Every method may raise SlackCallRefused or SlackUnavailable."""

    def fetch_team(self) -> str:
        """Return the id of the workspace that the token belongs to."""

    def post_message(
        self, channel: str, post: Mapping[str, Any], key: str, thread: str | None = None, about: str = ""
    ) -> str:
        """Post a message whose metadata holds ``key`` and the subject ``about``, and return its timestamp."""

    def open_direct_messages(self, user: str) -> str:
        """Return the channel of the direct messages between the bot and a user."""

    def edit_message(self, channel: str, message: str, post: Mapping[str, Any], key: str, about: str = "") -> None:
        """Replace the content of a message of the bot."""

    def find_posts(self, channel: str, since: datetime, thread: str | None = None) -> dict[str, str]:
        """Find the bot's own messages in a channel since an instant, or in a thread.

        Return their timestamps by key.
        """

    def attach_file(self, channel: str, thread: str, file: Attachment) -> None:
        """Upload a file into a thread."""

    def has_attachment(self, channel: str, thread: str, name: str) -> bool:
        """Return whether the bot has put a file of that name into the thread."""

    def fetch_permalink(self, channel: str, message: str) -> str:
        """Return the address of a message."""


class EphemeralMessenger(Protocol):
    """Messages that only the asker sees."""

    def send(self, slack_request: SlackRequest, post: Post) -> None:
        """Send a message to the asker. An asker who can't be reached any more is not an error.

        Raises:
            SlackUnavailable: Slack could not show it.
        """


class Views(Protocol):
    """Modals in Slack. Both methods may raise SlackCallRefused or SlackUnavailable."""

    def open_view(self, trigger: str, key: str, view: Mapping[str, Any]) -> None:
        """Open a modal within three seconds of the click that gave ``trigger``."""

    def update_view(self, key: str, view: Mapping[str, Any]) -> bool:
        """Replace the content of the modal of that key. Return whether there is one."""


@dataclass(frozen=True, slots=True)
class ThreadMessage:
    """A message of a thread. Only the bot's own messages have ``key`` and ``about``.

    ``user`` is the id of its author, empty if Slack names none.
    """

    ts: str
    text: str
    is_own: bool
    key: str = ""
    about: str = ""
    user: str = ""


class ThreadReader(Protocol):
    """Reader of threads."""

    def list_messages(self, channel: str, thread: str) -> Sequence[ThreadMessage]:
        """List the messages of a thread, oldest first. Raise SlackCallRefused or SlackUnavailable."""


class AnswerDisplay(Protocol):
    """Display of one answer in a thread while it is written.

    Only ``finish`` reports that Slack did not show it.
    """

    def show_status(self, doing: str) -> None:
        """Show what the bot does, such as "is reading 3 diffs…", until the next text is shown."""

    def append_text(self, text: str) -> None:
        """Add Markdown to the answer. Raise AnswerCancelled if the asker has stopped it."""

    def replace_text(self, text: str) -> None:
        """Show this in place of the text shown so far."""

    def finish(self, text: str, below: Sequence[Mapping[str, Any]]) -> str:
        """Make this the whole answer, with blocks below it, and return the message's timestamp.

        Raises:
            SlackCallRefused, SlackUnavailable: it is unknown how much of the answer is shown.
        """


class AnswerDisplays(Protocol):
    """Factory of displays for answers."""

    def open_display(
        self, slack_request: SlackRequest, key: str, on_begin: Callable[[str], None], message: str = ""
    ) -> AnswerDisplay:
        """Open a display for an answer. It calls ``on_begin`` with the timestamp once there is a message.

        ``message`` is the message that an earlier attempt began.
        """

    def find_earlier_message(self, slack_request: SlackRequest, key: str, since: str) -> str:
        """Find the message that an earlier attempt began after ``since`` and did not report, or an empty text.

        Raises:
            SlackCallRefused, SlackUnavailable: the thread can't be read.
        """
