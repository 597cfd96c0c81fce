"""Answers in threads as they are written: streamed, or posted and edited where Slack does not stream.

A stream can't be found by a key while it runs, so its timestamp is reported at once. Slack ends a stream by itself
after about five minutes. Later text, and text that replaces what was shown, is an edit.

::

    NEW ──> STREAMING ──> FINISHED         Slack streams it
     │          └──> EDITING ──> FINISHED  the stream is over, or its text was replaced
     ├──> EDITING                          Slack does not stream here
     ├──> HIDDEN ──> FINISHED              Slack accepts no message now: only the whole answer counts
     └──> UNKNOWN                          it is unknown whether there is a message
"""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from enum import Enum, auto
from typing import Any

from slack_sdk import WebClient
from slack_sdk.web import SlackResponse

from bot.errors import AnswerCancelled, SlackCallRefused, SlackUnavailable
from bot.platform import deadlines
from bot.platform.slack.blocks import TaskCard, TaskStatus, escape_mrkdwn
from bot.platform.slack.client import MAX_PAUSE, BoundedWebClient, translate_slack_errors
from bot.platform.slack.messenger import PostMetadata, write_metadata
from bot.platform.slack.requests import SlackRequest
from impact.text.strings import truncate_text

log = logging.getLogger(__name__)

# seconds between two pieces: Slack accepts a hundred a minute for all streams of a workspace together
_APPEND_PAUSE = 1.0
# seconds between two edits: each sends the whole text, and Slack accepts fifty a minute
_EDIT_PAUSE = 3.0
_MIN_APPENDED = 200  # characters that are worth a call
_WRITING_MARK = "…"  # shown in place of text that is still to come
# characters of the text for notifications: Slack refuses an edit with more than 4,000, and escaping takes up to 5
_MAX_FALLBACK = 800
_MAX_STATUS = 50
# cards, of the fifty blocks of a message, and characters of a title: with those of the longest answer, they fit
_MAX_TASKS, _MAX_TASK_TITLE = 24, 80
_MARKDOWN_LINK = re.compile(r"\[([^\[\]]*)\]\(https://[^()\s]*\)")
# Slack's errors for a stream that has ended, one that the asker stopped, and an edit of a message that streams
_STREAM_ENDED, _STOPPED_BY_USER = "message_not_in_streaming_state", "stopped_by_user"
_STREAM_CONFLICT = "streaming_state_conflict"

_Blocks = Sequence[Mapping[str, Any]]


class _Mode(Enum):
    NEW = auto()
    STREAMING = auto()
    EDITING = auto()
    HIDDEN = auto()
    UNKNOWN = auto()
    FINISHED = auto()


class SlackAnswerDisplay:
    """``AnswerDisplay`` of one answer in a thread, below its question.

    It calls ``on_begin`` with the timestamp once there is a message. ``message`` is the one that an earlier
    attempt began. ``clock`` returns seconds that only go up; ``sleep`` takes seconds. ``session`` is the title of
    a session of Slack, which has a button to stop it; without one, as of an app that is no agent, there is none.
    """

    def __init__(
        self,
        client: WebClient,
        slack_request: SlackRequest,
        key: str,
        on_begin: Callable[[str], None],
        message: str,
        clock: Callable[[], float],
        sleep: Callable[[float], None],
        session: str = "",
    ) -> None:
        self._client = client
        # a piece in between is not worth a wait: the next call contains it too
        self._hasty_client = BoundedWebClient(
            client.token, base_url=client.base_url, timeout=10, retry_handlers=[]
        )
        self._request = slack_request
        self._metadata = write_metadata(PostMetadata(key))
        self._on_begin = on_begin
        self._ts = message
        self._clock = clock
        self._sleep = sleep
        self._mode = _Mode.EDITING if message else _Mode.NEW
        self._text = self._sent = ""  # what there is, and what Slack shows of it
        self._tasks: dict[str, TaskCard] = {}
        self._unsent: dict[str, None] = {}  # ids of cards that Slack shows otherwise, or not at all
        # who stops the answer ends what it waits for, not the calls that show what there is
        self._ending = deadlines.get_limit().ending
        # whether the message is known to stream; of one of an earlier attempt, Slack says so when it is edited
        self._is_open = False
        self._doubt: SlackUnavailable | None = None
        self._has_status = True
        # what Slack shows of the session: not known before the first call, as an earlier attempt may have set it
        self._session, self._status = session, ""
        # by the clock: the time of the next call, and the end of the pause that Slack asked for
        self._next_send_at = self._free_at = 0.0

    def show_status(self, doing: str) -> None:
        if self._session:
            self._set_session("processing" if doing else "active")
            return
        if not self._has_status or self._mode not in (_Mode.NEW, _Mode.HIDDEN, _Mode.UNKNOWN):
            return
        channel, thread = self._request.channel, self._request.thread
        try:
            with translate_slack_errors(channel):
                self._hasty_client.assistant_threads_setStatus(
                    channel_id=channel, thread_ts=thread, status=truncate_text(doing, _MAX_STATUS)
                )
        except (SlackCallRefused, SlackUnavailable) as error:
            log.info("no status [%s]: %s", self._request.reference, error)
            self._has_status = False

    def _set_session(self, status: str) -> None:
        """Set the status of the session: Slack begins one with the first, and ends no work by itself."""
        if not self._session or self._status == status:
            return
        client = self._hasty_client if status == "processing" else self._client
        channel, thread, asker = self._request.channel, self._request.thread, self._request.user
        place = {"channel_id": channel, "thread_ts": thread, "initiator_user_id": asker}
        try:
            with deadlines.bound_work(math.inf, self._ending), translate_slack_errors(channel):
                client.agents_sessions_setStatus(**place, status=status, title=self._session)
            self._status = status
        except (SlackCallRefused, SlackUnavailable) as error:
            log.info("no session [%s]: %s", self._request.reference, error)

    def show_tasks(self, *tasks: TaskCard) -> None:
        for task in tasks:
            if task.id in self._tasks or len(self._tasks) < _MAX_TASKS:
                self._tasks[task.id] = replace(task, title=truncate_text(task.title, _MAX_TASK_TITLE))
                self._unsent[task.id] = None
        self._update_message()

    def append_text(self, text: str) -> None:
        self._text += text
        # the number of edits is limited by their pauses
        if self._mode is _Mode.EDITING or len(self._text) - len(self._sent) >= _MIN_APPENDED:
            self._update_message()

    def replace_text(self, text: str) -> None:
        self._text = text
        if self._mode is _Mode.STREAMING:
            self._switch_to_editing(is_open=True)
        self._update_message()

    def finish(self, text: str, below: _Blocks) -> str:
        if self._doubt:
            # it has to be looked for before the answer is posted
            raise self._doubt
        # what was being read when the answer ended was not read
        running = [task for task in self._tasks.values() if task.status is TaskStatus.RUNNING]
        self._tasks |= {task.id: replace(task, status=TaskStatus.FAILED) for task in running}
        self._unsent |= {task.id: None for task in running}
        self._wait_until_free()
        if self._mode in (_Mode.NEW, _Mode.HIDDEN):
            self._post(text, below)
        elif self._mode is _Mode.STREAMING and text.startswith(self._sent):
            self._complete_stream(text, below)
        else:
            self._is_open = self._is_open or self._mode is _Mode.STREAMING
            self._edit_whole(text, below)
        self._mode = _Mode.FINISHED
        self._set_session("active")
        return self._ts

    # --- while it is written

    def _update_message(self) -> None:
        """Bring the message up to date if Slack accepts a call now."""
        if (self._text == self._sent and not self._unsent) or self._clock() < self._next_send_at:
            return
        try:
            if self._mode is _Mode.NEW:
                self._start_stream()
            elif self._mode is _Mode.STREAMING:
                self._append_to_stream()
            elif self._mode is _Mode.EDITING:
                self._edit_so_far()
        except SlackCallRefused as error:
            if error.code == _STOPPED_BY_USER:
                self._switch_to_editing(is_open=False)
                raise AnswerCancelled("The asker stopped the answer.") from error
            self._handle_refusal(error)
        except SlackUnavailable as error:
            self._handle_no_response(error)

    def _handle_refusal(self, error: SlackCallRefused) -> None:
        """Go on without a stream. Raises SlackUnavailable."""
        if self._mode is _Mode.STREAMING:
            log.info("the stream is over [%s]: %s", self._request.reference, error.code)
            self._switch_to_editing(is_open=error.code != _STREAM_ENDED)
            return
        log.info("Slack does not stream here [%s]: %s", self._request.reference, error.code)
        try:
            self._post(self._text, mark=_WRITING_MARK)
        except SlackCallRefused as refusal:
            # if Slack refuses the whole answer too, the asker is told then
            log.info("nothing is shown [%s]: %s", self._request.reference, refusal)
            self._mode = _Mode.HIDDEN
        else:
            self._delay_sending(_EDIT_PAUSE)
            self._mode = _Mode.EDITING
            self._note_sent()

    def _handle_no_response(self, error: SlackUnavailable) -> None:
        """Wait if Slack asks for a pause. Otherwise it may have shown the piece: an edit is right in any case."""
        self._keep_pause(error)
        if error.retry_after is not None and self._mode is not _Mode.EDITING:
            return
        log.info("not known whether Slack took a piece [%s]: %s", self._request.reference, error)
        self._delay_sending(_EDIT_PAUSE)
        if self._mode is _Mode.NEW:
            self._mode, self._doubt = _Mode.UNKNOWN, error
        elif self._mode is _Mode.STREAMING:
            self._switch_to_editing(is_open=True)

    def _switch_to_editing(self, *, is_open: bool) -> None:
        self._mode, self._is_open = _Mode.EDITING, is_open

    # --- pauses

    def _delay_sending(self, seconds: float) -> None:
        self._next_send_at = max(self._next_send_at, self._clock() + seconds)

    def _keep_pause(self, error: SlackCallRefused | SlackUnavailable) -> None:
        """Send nothing before the end of the pause that Slack asks for, if it asks for one."""
        if isinstance(error, SlackUnavailable) and error.retry_after is not None:
            self._free_at = self._clock() + error.retry_after
            self._delay_sending(error.retry_after)

    def _wait_until_free(self) -> None:
        """Wait for the end of the pause. Raises SlackUnavailable if that is too long for a job."""
        left = self._free_at - self._clock()
        if left > MAX_PAUSE:
            raise SlackUnavailable("Slack limits the rate: try again in a few minutes.", left)
        if left > 0:
            self._sleep(left)

    # --- the calls

    def _call(self, method: Callable[..., SlackResponse], **arguments: Any) -> SlackResponse:
        with (
            deadlines.bound_work(math.inf, self._ending),
            translate_slack_errors(self._request.channel),
        ):
            return method(channel=self._request.channel, **arguments)

    def _note_sent(self) -> None:
        self._sent = self._text
        self._unsent.clear()

    def _list_chunks(self, text: str) -> list[dict[str, Any]]:
        """Return the cards that changed, and the next piece of text: a stream takes both in this form alone."""
        changed = [self._tasks[name] for name in self._unsent]
        cards = [
            {"type": "task_update", "id": task.id, "title": task.title, "status": task.status.value}
            for task in changed
        ]
        return [*cards, *([{"type": "markdown_text", "text": text}] if text else [])]

    def _start_stream(self) -> None:
        request = self._request
        # in direct messages Slack knows the recipient, and has refused calls that name one
        recipient = (
            {} if request.is_direct else {"recipient_team_id": request.team, "recipient_user_id": request.user}
        )
        start = self._hasty_client.chat_startStream
        chunks = self._list_chunks(self._text)
        self._begin(self._call(start, thread_ts=request.thread, chunks=chunks, **recipient))
        self._delay_sending(_APPEND_PAUSE)
        self._mode = _Mode.STREAMING
        self._note_sent()

    def _append_to_stream(self) -> None:
        chunks = self._list_chunks(self._text[len(self._sent) :])
        self._call(self._hasty_client.chat_appendStream, ts=self._ts, chunks=chunks)
        self._delay_sending(_APPEND_PAUSE)
        self._note_sent()

    def _complete_stream(self, text: str, below: _Blocks) -> None:
        """End the stream with the rest of the answer, or edit. A stream that the asker stopped keeps its text."""
        chunks, blocks = self._list_chunks(text[len(self._sent) :]) or None, [dict(block) for block in below]
        stop = self._client.chat_stopStream
        try:
            self._call(stop, ts=self._ts, chunks=chunks, blocks=blocks, metadata=self._metadata)
            # with the stream, Slack ends the work of its session
            self._status = "active"
        except SlackCallRefused as error:
            log.info("the stream did not end by itself [%s]: %s", self._request.reference, error)
            self._switch_to_editing(is_open=error.code not in (_STREAM_ENDED, _STOPPED_BY_USER))
            self._edit_whole(self._sent if error.code == _STOPPED_BY_USER else text, below)

    def _edit_so_far(self) -> None:
        """Replace the text. A failure is only logged, because the next edit contains the text too."""
        self._end_stream(self._hasty_client)
        try:
            self._edit(self._hasty_client, self._text)
        except (SlackCallRefused, SlackUnavailable) as error:
            self._keep_pause(error)
            log.info("not edited [%s]: %s", self._request.reference, error)
        self._delay_sending(_EDIT_PAUSE)
        self._note_sent()

    def _edit_whole(self, text: str, below: _Blocks) -> None:
        self._end_stream(self._client)
        self._edit(self._client, text, below)

    def _end_stream(self, client: WebClient) -> None:
        if self._is_open:
            self._stop_stream(client)
            self._is_open = False

    def _stop_stream(self, client: WebClient) -> None:
        """End the stream, because a message that streams can't be edited. One that has ended is only logged."""
        try:
            self._call(client.chat_stopStream, ts=self._ts)
        except SlackCallRefused as error:
            log.info("the stream was over [%s]: %s", self._request.reference, error)

    def _edit(self, client: WebClient, text: str, below: _Blocks = ()) -> None:
        content = {**self._build_content(text, below), "metadata": self._metadata, "parse": "none"}
        try:
            self._call(client.chat_update, ts=self._ts, **content)
        except SlackCallRefused as error:
            if error.code != _STREAM_CONFLICT:
                raise
            self._stop_stream(client)
            self._call(client.chat_update, ts=self._ts, **content)

    def _post(self, text: str, below: _Blocks = (), mark: str = "") -> None:
        """Post a message with its key, so that it can be found. ``mark`` follows its text."""
        content = {**self._build_content(text, below, mark), "unfurl_links": False, "unfurl_media": False}
        thread, post = self._request.thread, self._client.chat_postMessage
        self._begin(self._call(post, thread_ts=thread, metadata=self._metadata, **content))

    def _begin(self, answer: SlackResponse) -> None:
        self._ts = str(answer["ts"])
        self._on_begin(self._ts)

    def _build_content(self, text: str, below: _Blocks, mark: str = "") -> dict[str, Any]:
        """Return the blocks of a message, and its text for notifications: addresses are no use in speech."""
        fallback = escape_mrkdwn(truncate_text(_MARKDOWN_LINK.sub(r"\1", text), _MAX_FALLBACK)) or _WRITING_MARK
        markdown = {"type": "markdown", "text": f"{text}{mark}" or _WRITING_MARK}
        cards = [
            {"type": "task_card", "task_id": task.id, "title": task.title, "status": task.status.value}
            for task in self._tasks.values()
        ]
        return {"text": fallback, "blocks": [*cards, markdown, *(dict(block) for block in below)]}
