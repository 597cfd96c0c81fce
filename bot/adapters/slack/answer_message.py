"""The message of one answer: each method is a call of the Web API, whose errors are those of the domain."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from slack_sdk import WebClient

from bot.adapters.slack.errors import translate_slack_errors
from bot.adapters.slack.metadata import PostMetadata, write_metadata
from bot.domain.conversations.slack_request import SlackRequest
from bot.domain.text.strings import truncate_text
from bot.render.blocks.mrkdwn import escape_mrkdwn

# what stands where there are no words yet, or more to come
WRITING_MARK = "…"
# what notifications show; Slack refuses an edit with more than 4,000 characters of it, five for an escaped one
_MAX_FALLBACK = 800
_MAX_STATUS = 50
_MARKDOWN_LINK = re.compile(r"\[([^\[\]]*)\]\(https://[^()\s]*\)")

BlocksBelow = Sequence[Mapping[str, Any]]


class AnswerMessage:
    """One message in a thread, below a question. All methods may raise SlackRefused or SlackUnavailable.

    ``patient`` is the client that waits where Slack asks for it, ``hurried`` the one that never does: what comes
    in between is not worth it, for the next call brings it too. ``begun`` is told the timestamp ``ts`` once there
    is a message.
    """

    def __init__(
        self,
        patient: WebClient,
        hurried: WebClient,
        slack_request: SlackRequest,
        key: str,
        begun: Callable[[str], None],
        ts: str = "",
    ) -> None:
        self._retrying_client = patient
        self._no_retry_client = hurried
        self._visit = slack_request
        self._key = key
        self._on_begin = begun
        self.ts = ts

    @property
    def reference(self) -> str:
        """How logs name the question."""
        return self._visit.reference

    def set_status(self, doing: str) -> None:
        """Say below the thread what the bot does, or nothing any more."""
        with translate_slack_errors(self._visit.channel):
            self._no_retry_client.assistant_threads_setStatus(
                channel_id=self._visit.channel,
                thread_ts=self._visit.thread,
                status=truncate_text(doing, _MAX_STATUS),
            )

    def start_stream(self, text: str) -> None:
        """Begin a message that streams."""
        with translate_slack_errors(self._visit.channel):
            answer = self._no_retry_client.chat_startStream(
                channel=self._visit.channel,
                thread_ts=self._visit.thread,
                markdown_text=text,
                **_build_recipient(self._visit),
            )
        self._set_timestamp(str(answer["ts"]))

    def append_to_stream(self, text: str) -> None:
        """Add to the stream."""
        with translate_slack_errors(self._visit.channel):
            self._no_retry_client.chat_appendStream(channel=self._visit.channel, ts=self.ts, markdown_text=text)

    def complete_stream(self, rest: str, below: BlocksBelow) -> None:
        """End the stream with the rest of the answer, and what stands below it."""
        with translate_slack_errors(self._visit.channel):
            self._retrying_client.chat_stopStream(
                channel=self._visit.channel,
                ts=self.ts,
                markdown_text=rest or None,
                blocks=[dict(block) for block in below],
                metadata=write_metadata(PostMetadata(self._key)),
            )

    def stop_stream(self, *, is_last: bool) -> None:
        """End the stream as it is; ``is_last`` as in :meth:`edit`."""
        with translate_slack_errors(self._visit.channel):
            self._select_client(is_last=is_last).chat_stopStream(channel=self._visit.channel, ts=self.ts)

    def post_answer(self, text: str, below: BlocksBelow = (), *, mark: str = "") -> None:
        """Post it at once; ``mark`` stands after its text. It carries its key, so that it is found again."""
        with translate_slack_errors(self._visit.channel):
            answer = self._retrying_client.chat_postMessage(
                channel=self._visit.channel,
                thread_ts=self._visit.thread,
                text=_format_fallback(text),
                blocks=_build_blocks(text + mark, below),
                metadata=write_metadata(PostMetadata(self._key)),
                unfurl_links=False,
                unfurl_media=False,
            )
        self._set_timestamp(str(answer["ts"]))

    def edit_answer(self, text: str, below: BlocksBelow = (), *, is_last: bool) -> None:
        """Put this in its place; ``is_last``: it is the whole answer, and worth waiting for."""
        with translate_slack_errors(self._visit.channel):
            self._select_client(is_last=is_last).chat_update(
                channel=self._visit.channel,
                ts=self.ts,
                text=_format_fallback(text),
                blocks=_build_blocks(text, below),
                metadata=write_metadata(PostMetadata(self._key)),
                parse="none",
            )

    def _select_client(self, *, is_last: bool) -> WebClient:
        return self._retrying_client if is_last else self._no_retry_client

    def _set_timestamp(self, ts: str) -> None:
        self.ts = ts
        self._on_begin(ts)


def _build_recipient(slack_request: SlackRequest) -> dict[str, Any]:
    """For whom it streams; in direct messages Slack knows, and has been seen to refuse being told."""
    return (
        {}
        if slack_request.is_direct
        else {"recipient_team_id": slack_request.team, "recipient_user_id": slack_request.user}
    )


def _build_blocks(text: str, below: BlocksBelow) -> list[dict[str, Any]]:
    return [{"type": "markdown", "text": text or WRITING_MARK}, *(dict(block) for block in below)]


def _format_fallback(text: str) -> str:
    """Without the addresses of links, which nobody wants to hear."""
    return escape_mrkdwn(truncate_text(_MARKDOWN_LINK.sub(r"\1", text), _MAX_FALLBACK)) or WRITING_MARK
