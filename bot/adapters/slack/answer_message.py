"""The message of one answer. Each method is a call of the Web API, with errors of the domain."""

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

# shown in place of text that is still to come
WRITING_MARK = "…"
# characters of the text for notifications: Slack refuses an edit with more than 4,000, and escaping takes up to 5
_MAX_FALLBACK = 800
_MAX_STATUS = 50
_MARKDOWN_LINK = re.compile(r"\[([^\[\]]*)\]\(https://[^()\s]*\)")

BlocksBelow = Sequence[Mapping[str, Any]]


class AnswerMessage:
    """One message in a thread, below a question. All methods may raise SlackCallRefused or SlackUnavailable.

    ``retrying_client`` waits when Slack asks for it. ``no_retry_client`` never does: pieces in between are not
    worth a wait, because the next call contains them too. ``on_begin`` is called with the timestamp once there is
    a message.
    """

    def __init__(
        self,
        retrying_client: WebClient,
        no_retry_client: WebClient,
        slack_request: SlackRequest,
        key: str,
        on_begin: Callable[[str], None],
        ts: str = "",
    ) -> None:
        self._retrying_client = retrying_client
        self._no_retry_client = no_retry_client
        self._slack_request = slack_request
        self._key = key
        self._on_begin = on_begin
        self.ts = ts

    @property
    def reference(self) -> str:
        """The name of the question in logs."""
        return self._slack_request.reference

    def set_status(self, doing: str) -> None:
        """Show below the thread what the bot does, or remove the status if ``doing`` is empty."""
        with translate_slack_errors(self._slack_request.channel):
            self._no_retry_client.assistant_threads_setStatus(
                channel_id=self._slack_request.channel,
                thread_ts=self._slack_request.thread,
                status=truncate_text(doing, _MAX_STATUS),
            )

    def start_stream(self, text: str) -> None:
        """Begin a message that streams."""
        with translate_slack_errors(self._slack_request.channel):
            answer = self._no_retry_client.chat_startStream(
                channel=self._slack_request.channel,
                thread_ts=self._slack_request.thread,
                markdown_text=text,
                **_build_recipient(self._slack_request),
            )
        self._set_timestamp(str(answer["ts"]))

    def append_to_stream(self, text: str) -> None:
        """Add text to the stream."""
        with translate_slack_errors(self._slack_request.channel):
            self._no_retry_client.chat_appendStream(
                channel=self._slack_request.channel, ts=self.ts, markdown_text=text
            )

    def complete_stream(self, rest: str, below: BlocksBelow) -> None:
        """End the stream with the rest of the answer and the blocks below it."""
        with translate_slack_errors(self._slack_request.channel):
            self._retrying_client.chat_stopStream(
                channel=self._slack_request.channel,
                ts=self.ts,
                markdown_text=rest or None,
                blocks=[dict(block) for block in below],
                metadata=write_metadata(PostMetadata(self._key)),
            )

    def stop_stream(self, *, is_last: bool) -> None:
        """End the stream without more text. ``is_last`` is as in :meth:`edit_answer`."""
        with translate_slack_errors(self._slack_request.channel):
            self._select_client(is_last=is_last).chat_stopStream(channel=self._slack_request.channel, ts=self.ts)

    def post_answer(self, text: str, below: BlocksBelow = (), *, mark: str = "") -> None:
        """Post a message with its key, so that it can be found. ``mark`` follows its text."""
        with translate_slack_errors(self._slack_request.channel):
            answer = self._retrying_client.chat_postMessage(
                channel=self._slack_request.channel,
                thread_ts=self._slack_request.thread,
                text=_format_fallback(text),
                blocks=_build_blocks(text + mark, below),
                metadata=write_metadata(PostMetadata(self._key)),
                unfurl_links=False,
                unfurl_media=False,
            )
        self._set_timestamp(str(answer["ts"]))

    def edit_answer(self, text: str, below: BlocksBelow = (), *, is_last: bool) -> None:
        """Replace the content of the message. ``is_last`` means that it is the whole answer, and worth a wait."""
        with translate_slack_errors(self._slack_request.channel):
            self._select_client(is_last=is_last).chat_update(
                channel=self._slack_request.channel,
                ts=self.ts,
                text=_format_fallback(text),
                blocks=_build_blocks(text, below),
                metadata=write_metadata(PostMetadata(self._key)),
                parse="none",
            )

    def _select_client(self, *, is_last: bool) -> WebClient:
        """Return the client that waits for the last call, else the one that never does."""
        return self._retrying_client if is_last else self._no_retry_client

    def _set_timestamp(self, ts: str) -> None:
        """Keep the timestamp of the message and report it."""
        self.ts = ts
        self._on_begin(ts)


def _build_recipient(slack_request: SlackRequest) -> dict[str, Any]:
    """Return the arguments that name the recipient of a stream.

    In direct messages Slack knows the recipient, and has refused calls that name one.
    """
    return (
        {}
        if slack_request.is_direct
        else {"recipient_team_id": slack_request.team, "recipient_user_id": slack_request.user}
    )


def _build_blocks(text: str, below: BlocksBelow) -> list[dict[str, Any]]:
    """Return the blocks of a message."""
    return [{"type": "markdown", "text": text or WRITING_MARK}, *(dict(block) for block in below)]


def _format_fallback(text: str) -> str:
    """Return the text for notifications, without the addresses of links, which are no use in speech."""
    return escape_mrkdwn(truncate_text(_MARKDOWN_LINK.sub(r"\1", text), _MAX_FALLBACK)) or WRITING_MARK
