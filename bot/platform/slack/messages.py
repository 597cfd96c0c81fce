from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Protocol

# how far Slack's clock and ours may differ: the search for a post begins this much earlier
CLOCK_SKEW = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class Attachment:
    name: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Post:
    """A message in Slack's format. ``text`` is for notifications and screen readers."""

    text: str
    blocks: tuple[Mapping[str, Any], ...]

    def build_payload(self) -> dict[str, Any]:
        return {"text": self.text, "blocks": [dict(block) for block in self.blocks]}


@dataclass(frozen=True, slots=True)
class ThreadMessage:
    """A message of a thread, by the id of its author if known. Only the bot's own have ``key`` and ``about``."""

    ts: str
    text: str
    is_own: bool
    key: str = ""
    about: str = ""
    user: str = ""


class AnswerDisplay(Protocol):
    """Display of one answer while it is written: in a thread of Slack, or nowhere while answers are evaluated."""

    def show_status(self, doing: str) -> None:
        """Show what the bot does, such as "is reading 3 diffs…", until the next text is shown."""

    def append_text(self, text: str) -> None:
        """Add Markdown to the answer. Raise AnswerCancelled if the asker has stopped it."""

    def replace_text(self, text: str) -> None:
        """Show this in place of the text shown so far."""

    def finish(self, text: str, below: Sequence[Mapping[str, Any]]) -> str:
        """Make this the whole answer, with blocks below it, and return the message's timestamp.

        Raises SlackCallRefused, SlackUnavailable: it is unknown how much of the answer is shown.
        """
