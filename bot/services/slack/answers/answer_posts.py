"""The messages of answers in a channel: found by their keys, and followed by the file of an answer.

The file is recorded before the message is posted, so that an attempt after a crash attaches what is missing.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from bot.domain.conversations.slack_request import SlackRequest
from bot.domain.errors import SlackCallRefused
from bot.ports import Attachment, EphemeralMessenger, Messenger
from bot.ports.codecs.versioned_json import VersionedJson
from bot.ports.slack.messages import CLOCK_SKEW
from bot.render.conversations.notices import render_missing_file
from bot.services.slack.answers.answer import list_threads

log = logging.getLogger(__name__)

# Slack's codes for a channel that the bot is not in
CLOSED_CHANNEL_CODES = {"not_in_channel", "channel_not_found", "thread_not_found"}
_FILE_JSON = VersionedJson(Attachment, 1)


class PostState(Enum):
    """Whether an earlier attempt posted; ``NOT_TRIED`` if there was none."""

    NOT_TRIED = "never"
    POSTED = "yes"
    NOT_POSTED = "no"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class EarlierPost:
    """What an earlier attempt left: with the state POSTED, the ``thread`` that the message is in or begins."""

    state: PostState = PostState.NOT_TRIED
    thread: str = ""


class AnswerPosts:
    """The messages of answers, and their files."""

    def __init__(self, messenger: Messenger, ephemeral_messenger: EphemeralMessenger) -> None:
        self._messenger = messenger
        self._ephemeral_messenger = ephemeral_messenger

    def find_earlier(self, slack_request: SlackRequest, key: str, begun_at: datetime) -> EarlierPost:
        """Return what an earlier attempt left that began at an instant (aware). Raises SlackUnavailable."""
        since = begun_at - CLOCK_SKEW
        try:
            for thread in list_threads(slack_request):
                posts = self._messenger.find_posts(slack_request.channel, since, thread or None)
                if key in posts:
                    return EarlierPost(PostState.POSTED, thread or posts[key])
        except SlackCallRefused as error:
            log.info("can't look into %s: %s", slack_request.channel, error)
            # nothing was posted to a channel that is closed to the bot
            is_closed = error.code in CLOSED_CHANNEL_CODES
            return EarlierPost(PostState.NOT_POSTED if is_closed else PostState.UNKNOWN)
        return EarlierPost(PostState.NOT_POSTED)

    def attach_file(
        self, slack_request: SlackRequest, thread: str, file: Attachment, *, is_retry: bool = False
    ) -> None:
        """Attach a file in a thread, unless an earlier attempt did. The asker reads why Slack refuses it.

        Raises SlackUnavailable: it is not known whether the file is there.
        """
        channel = slack_request.channel
        try:
            if not (is_retry and self._messenger.has_attachment(channel, thread, file.name)):
                self._messenger.attach_file(channel, thread, file)
        except SlackCallRefused as error:
            log.warning("no file in %s: %s", channel, error)
            self._ephemeral_messenger.send(slack_request, render_missing_file(file.title))


def dump_file(file: Attachment | None) -> str:
    """Return a file as it is recorded; empty for none."""
    return _FILE_JSON.dump_text(file) if file else ""


def load_file(text: str) -> Attachment | None:
    """Return a recorded file; None if there is none."""
    return _FILE_JSON.load_text(text) if text else None
