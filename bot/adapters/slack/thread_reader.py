"""Messages of a thread in Slack."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bot.adapters.slack.messenger import SlackMessenger
from bot.adapters.slack.metadata import PostMetadata, read_metadata
from bot.ports import ThreadMessage


class SlackThreads:
    """``ThreadReader`` over the Web API."""

    def __init__(self, messenger: SlackMessenger) -> None:
        self._messenger = messenger

    def list_messages(self, channel: str, thread: str) -> Sequence[ThreadMessage]:
        """List the messages of people and of this bot. Those of other bots are neither questions nor answers."""
        messages = self._messenger.list_replies(channel, thread)
        own = self._messenger.is_own
        return [_parse_message(each, is_own=own(each)) for each in messages if own(each) or not each.get("bot_id")]


def _parse_message(message: Mapping[str, Any], *, is_own: bool) -> ThreadMessage:
    """Return a message. The metadata of messages of others does not count."""
    metadata = read_metadata(message) if is_own else PostMetadata()
    return ThreadMessage(
        ts=str(message["ts"]),
        text=str(message.get("text") or ""),
        is_own=is_own,
        key=metadata.key,
        about=metadata.about,
        user=str(message.get("user") or ""),
    )
