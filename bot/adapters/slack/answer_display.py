"""Answers in threads as they are written: streamed, or posted and edited where Slack does not stream.

A stream can't be found again by a key while it runs, so its timestamp is handed out at once. Slack ends a stream
by itself after about five minutes; what is to be shown after that, or in place of what was shown, is an edit.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from functools import partial
from typing import Any

from slack_sdk import WebClient

from bot.adapters.slack.errors import translate_slack_errors
from bot.adapters.slack.messenger import SlackMessenger
from bot.adapters.slack.metadata import PostMetadata, write_metadata
from bot.adapters.slack.transport import LONGEST_PAUSE, BoundedWebClient
from bot.domain.conversations.slack_request import Visit
from bot.domain.errors import AnswerStopped, SlackRefused, SlackUnavailable
from bot.domain.text.strings import shorten
from bot.ports import Display
from bot.render.blocks.mrkdwn import escape

log = logging.getLogger(__name__)

# characters and seconds between two calls: Slack takes a hundred a minute of all streams of a workspace together
_PIECE, _PAUSE = 200, 1.0
# an edit shows all again, and Slack takes fifty a minute
_EDIT_PAUSE = 3.0
# what notifications show; Slack refuses an edit with more than 4,000 characters of it, five for an escaped one
_SPOKEN = 800
_OVER, _STOPPED = "message_not_in_streaming_state", "stopped_by_user"
# an edit of a message that streams
_STREAMS = "streaming_state_conflict"
_LONGEST_STATUS = 50
_WRITING = "…"
_LINK = re.compile(r"\[([^\[\]]*)\]\(https://[^()\s]*\)")


class SlackDisplays:
    """``Displays`` over the Web API. ``clock`` gives seconds that only go up."""

    def __init__(
        self,
        client: WebClient,
        messenger: SlackMessenger,
        clock: Callable[[], float],
        sleep: Callable[[float], None],
    ) -> None:
        self._client = client
        # what comes in between is never waited for: the next call brings it too
        self._hurried = BoundedWebClient(client.token, base_url=client.base_url, timeout=10, retry_handlers=[])
        self._messenger = messenger
        self._clock = clock
        self._sleep = sleep

    def open(self, visit: Visit, key: str, begun: Callable[[str], None], message: str = "") -> Display:
        """A place for an answer. See :class:`bot.ports.Displays`."""
        return _SlackDisplay(self._client, self._hurried, visit, key, begun, message, self._clock, self._sleep)

    def begun_before(self, visit: Visit, key: str, since: str) -> str:
        """The message that an earlier try began; one in the thread that has no key yet can be no other's."""
        for ts, found in self._messenger.own_replies(visit.channel, visit.thread, since):
            if found in ("", key):
                return ts
        return ""


class _Mode(Enum):
    NEW = "new"
    STREAMING = "streaming"
    EDITING = "editing"


class _SlackDisplay:
    """``Display`` of one answer."""

    def __init__(
        self,
        client: WebClient,
        hurried: WebClient,
        visit: Visit,
        key: str,
        begun: Callable[[str], None],
        message: str,
        clock: Callable[[], float],
        sleep: Callable[[float], None],
    ) -> None:
        self._client = client
        self._hurried = hurried
        self._visit = visit
        self._key = key
        self._begun = begun
        self._clock = clock
        self._sleep = sleep
        self._message = message
        self._mode = _Mode.EDITING if message else _Mode.NEW
        # whether the message is known to stream; of one that an earlier try began, Slack says so
        self._is_open = False
        self._text = self._sent = ""
        # seconds of the clock: when to send again, and until when Slack asked us to wait
        self._next = self._free = 0.0
        self._is_refused = self._was_stopped = False
        self._has_status = True
        self._doubt: SlackUnavailable | None = None

    # what the answer says

    def status(self, doing: str) -> None:
        """Say what the bot does, or nothing any more. A courtesy: without it the answer is as good."""
        if not self._has_status or self._mode is not _Mode.NEW:
            return
        try:
            with translate_slack_errors(self._visit.channel):
                self._hurried.assistant_threads_setStatus(
                    channel_id=self._visit.channel,
                    thread_ts=self._visit.thread,
                    status=shorten(doing, _LONGEST_STATUS),
                )
        except (SlackRefused, SlackUnavailable) as error:
            log.info("no status [%s]: %s", self._visit.reference, error)
            self._has_status = False

    def show(self, text: str) -> None:
        """Add Markdown."""
        self._text += text
        waiting = len(self._text) - len(self._sent)
        if self._clock() >= self._next and (waiting >= _PIECE or self._mode is _Mode.EDITING):
            self._flush()

    def replace(self, text: str) -> None:
        """Show this in place of what was shown so far; what streams can't be taken back, but edited."""
        self._text = text
        if self._mode is _Mode.STREAMING:
            self._mode = _Mode.EDITING
        if self._clock() >= self._next:
            self._flush()

    def finish(self, text: str, below: Sequence[Mapping[str, Any]]) -> str:
        """Make it the whole answer."""
        if self._doubt:
            raise self._doubt
        blocks = [dict(block) for block in below]
        self._wait()
        if self._mode is _Mode.NEW:
            return self._post([_markdown(text), *blocks], text)
        if self._mode is _Mode.STREAMING and text.startswith(self._sent) and self._stopped(text, blocks):
            return self._message
        shown = self._sent if self._was_stopped else text
        self._edit(shown, [_markdown(shown), *blocks], self._client, is_last=True)
        return self._message

    # how it comes about

    def _flush(self) -> None:
        """Bring the message up to date, if Slack lets us now."""
        if self._text == self._sent or self._is_refused or self._doubt:
            return
        try:
            self._send()
        except SlackRefused as error:
            self._refused(error)
        except SlackUnavailable as error:
            self._unanswered(error)

    def _unanswered(self, error: SlackUnavailable) -> None:
        """Wait where Slack asks for it. Else it may have taken the piece: an edit is right in either case."""
        if self._mode is not _Mode.EDITING and error.retry_after is not None:
            self._asked(error)
            return
        log.info("not known whether Slack took a piece [%s]: %s", self._visit.reference, error)
        self._asked(error)
        self._later(_EDIT_PAUSE)
        if self._message:
            self._mode = _Mode.EDITING
        else:
            # there may be a message by now; when the answer is whole, somebody must look before posting it
            self._doubt = error

    def _send(self) -> None:
        match self._mode:
            case _Mode.NEW:
                self._start()
            case _Mode.STREAMING:
                self._append()
            case _Mode.EDITING:
                self._edit(self._text, [_markdown(self._text)], self._hurried, is_last=False)
        self._sent = self._text
        self._later(_EDIT_PAUSE if self._mode is _Mode.EDITING else _PAUSE)

    def _append(self) -> None:
        with translate_slack_errors(self._visit.channel):
            self._hurried.chat_appendStream(
                channel=self._visit.channel, ts=self._message, markdown_text=self._text[len(self._sent) :]
            )

    def _start(self) -> None:
        with translate_slack_errors(self._visit.channel):
            answer = self._hurried.chat_startStream(
                channel=self._visit.channel,
                thread_ts=self._visit.thread,
                markdown_text=self._text,
                **_recipient(self._visit),
            )
        self._mode, self._is_open = _Mode.STREAMING, True
        self._tell(str(answer["ts"]))

    def _refused(self, error: SlackRefused) -> None:
        """Stop, or go on by editing."""
        if error.code == _STOPPED:
            self._mode, self._is_open = _Mode.EDITING, False
            raise AnswerStopped("The asker stopped the answer.") from error
        if self._mode is _Mode.NEW:
            log.info("Slack does not stream here [%s]: %s", self._visit.reference, error.code)
            self._begin_editing()
        else:
            log.info("the stream is over [%s]: %s", self._visit.reference, error.code)
            self._mode, self._is_open = _Mode.EDITING, error.code != _OVER

    def _begin_editing(self) -> None:
        """Post what there is, and edit it. Where Slack takes no post either, the end of the answer will say so."""
        try:
            self._post([_markdown(self._text + _WRITING)], self._text)
        except SlackRefused as error:
            log.info("nothing is shown [%s]: %s", self._visit.reference, error)
            self._is_refused = True
            return
        self._mode, self._sent = _Mode.EDITING, self._text
        self._later(_EDIT_PAUSE)

    def _stopped(self, text: str, blocks: list[dict[str, Any]]) -> bool:
        """End the stream with the rest of the answer; whether that was possible."""
        rest = text[len(self._sent) :]
        try:
            with translate_slack_errors(self._visit.channel):
                self._client.chat_stopStream(
                    channel=self._visit.channel,
                    ts=self._message,
                    markdown_text=rest or None,
                    blocks=blocks,
                    metadata=write_metadata(PostMetadata(self._key)),
                )
        except SlackRefused as error:
            log.info("the stream did not end by itself [%s]: %s", self._visit.reference, error)
            self._is_open = error.code not in (_OVER, _STOPPED)
            self._was_stopped = error.code == _STOPPED
            return False
        return True

    def _post(self, blocks: list[dict[str, Any]], text: str) -> str:
        """One message at once. It carries its key, so that it is found again."""
        with translate_slack_errors(self._visit.channel):
            answer = self._client.chat_postMessage(
                channel=self._visit.channel,
                thread_ts=self._visit.thread,
                text=_spoken(text),
                blocks=blocks,
                metadata=write_metadata(PostMetadata(self._key)),
                unfurl_links=False,
                unfurl_media=False,
            )
        self._tell(str(answer["ts"]))
        return self._message

    def _edit(self, text: str, blocks: list[dict[str, Any]], client: WebClient, *, is_last: bool) -> None:
        if self._is_open:
            self._close(client)
        try:
            self._update(text, blocks, client)
        except (SlackRefused, SlackUnavailable) as error:
            if is_last:
                raise
            self._asked(error)
            log.info("not edited [%s]: %s", self._visit.reference, error)

    def _update(self, text: str, blocks: list[dict[str, Any]], client: WebClient) -> None:
        edit = partial(
            client.chat_update,
            channel=self._visit.channel,
            ts=self._message,
            text=_spoken(text),
            blocks=blocks,
            metadata=write_metadata(PostMetadata(self._key)),
            parse="none",
        )
        try:
            with translate_slack_errors(self._visit.channel):
                edit()
        except SlackRefused as error:
            if error.code != _STREAMS:
                raise
            self._close(client)
            with translate_slack_errors(self._visit.channel):
                edit()

    def _close(self, client: WebClient) -> None:
        """A message that streams can't be edited."""
        try:
            with translate_slack_errors(self._visit.channel):
                client.chat_stopStream(channel=self._visit.channel, ts=self._message)
        except SlackRefused as error:
            log.info("the stream was over [%s]: %s", self._visit.reference, error)
        self._is_open = False

    def _tell(self, ts: str) -> None:
        self._message = ts
        self._begun(ts)

    def _later(self, seconds: float) -> None:
        self._next = max(self._next, self._clock() + seconds)

    def _asked(self, error: SlackRefused | SlackUnavailable) -> None:
        """Send nothing before the end of the pause that Slack wants, if it wants one."""
        if isinstance(error, SlackUnavailable) and error.retry_after is not None:
            self._free = self._clock() + error.retry_after
            self._later(error.retry_after)

    def _wait(self) -> None:
        """Until Slack takes something again. Raises SlackUnavailable: that is too long for a job."""
        left = self._free - self._clock()
        if left > LONGEST_PAUSE:
            raise SlackUnavailable("Slack asks for a pause: try again in a few minutes.", left)
        if left > 0:
            self._sleep(left)


def _recipient(visit: Visit) -> dict[str, Any]:
    """For whom it streams; in direct messages Slack knows, and has been seen to refuse being told."""
    return {} if visit.is_direct else {"recipient_team_id": visit.team, "recipient_user_id": visit.user}


def _markdown(text: str) -> dict[str, Any]:
    return {"type": "markdown", "text": text or _WRITING}


def _spoken(text: str) -> str:
    """Without the addresses of links, which nobody wants to hear."""
    return escape(shorten(_LINK.sub(r"\1", text), _SPOKEN)) or _WRITING
