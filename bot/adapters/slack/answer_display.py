"""Display of answers in threads as they are written: streamed, or posted and edited if Slack does not stream.

A stream can't be found by a key while it runs, so its timestamp is reported at once. Slack ends a stream by itself
after about five minutes. Later text, and text that replaces what was shown, is an edit.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from slack_sdk import WebClient

from bot.adapters.slack.answer_message import AnswerMessage
from bot.adapters.slack.display_states import STOPPED_BY_USER, DisplayState, Editing, New
from bot.adapters.slack.display_throttle import EDIT_PAUSE, DisplayThrottle
from bot.adapters.slack.messenger import SlackMessenger
from bot.adapters.slack.transport import BoundedWebClient
from bot.domain.conversations.slack_request import SlackRequest
from bot.domain.errors import AnswerCancelled, SlackCallRefused, SlackUnavailable
from bot.ports import AnswerDisplay

log = logging.getLogger(__name__)


class SlackAnswerDisplays:
    """``AnswerDisplays`` over the Web API. ``clock`` returns seconds that only go up; ``sleep`` takes seconds."""

    def __init__(
        self,
        client: WebClient,
        messenger: SlackMessenger,
        clock: Callable[[], float],
        sleep: Callable[[float], None],
    ) -> None:
        self._client = client
        # a piece in between is not worth a wait: the next call contains it too
        self._no_retry_client = BoundedWebClient(
            client.token, base_url=client.base_url, timeout=10, retry_handlers=[]
        )
        self._messenger = messenger
        self._clock = clock
        self._sleep = sleep

    def open_display(
        self, slack_request: SlackRequest, key: str, on_begin: Callable[[str], None], message: str = ""
    ) -> AnswerDisplay:
        """Open a display for an answer. See :class:`bot.ports.AnswerDisplays`."""
        answer = AnswerMessage(self._client, self._no_retry_client, slack_request, key, on_begin, message)
        return _SlackAnswerDisplay(answer, DisplayThrottle(self._clock, self._sleep))

    def find_earlier_message(self, slack_request: SlackRequest, key: str, since: str) -> str:
        """Find the message that an earlier attempt began after ``since``, or an empty text.

        A message of the bot in the thread that has no key yet can belong to no other answer.
        """
        for ts, message_key in self._messenger.list_own_replies(
            slack_request.channel, slack_request.thread, since
        ):
            if message_key in ("", key):
                return ts
        return ""


class _SlackAnswerDisplay:
    """``AnswerDisplay`` of one answer: it holds the text, and its state decides how to show it."""

    def __init__(self, message: AnswerMessage, throttle: DisplayThrottle) -> None:
        self._message = message
        self._throttle = throttle
        self._state: DisplayState = Editing(message, throttle) if message.ts else New(message, throttle)
        self._text = ""
        self._has_status = True

    def show_status(self, doing: str) -> None:
        """Show what the bot does, or remove the status if ``doing`` is empty.

        A failure does not affect the answer.
        """
        if not self._has_status or not self._state.can_show_status:
            return
        try:
            self._message.set_status(doing)
        except (SlackCallRefused, SlackUnavailable) as error:
            log.info("no status [%s]: %s", self._message.reference, error)
            self._has_status = False

    def append_text(self, text: str) -> None:
        """Add Markdown to the answer."""
        self._text += text
        if self._state.is_worth_sending(self._text):
            self._update_message()

    def replace_text(self, text: str) -> None:
        """Show this in place of the text shown so far.

        A stream can't be changed, so it becomes an edited message.
        """
        self._text = text
        self._state = self._state.handle_replacement()
        self._update_message()

    def finish(self, text: str, below: Sequence[Mapping[str, Any]]) -> str:
        """Make this the whole answer."""
        self._state = self._state.finish_answer(text, below)
        return self._message.ts

    def _update_message(self) -> None:
        """Bring the message up to date if Slack accepts a call now."""
        if self._text == self._state.sent or not self._throttle.is_due:
            return
        try:
            self._state = self._state.send(self._text)
        except SlackCallRefused as error:
            self._handle_refusal(error)
        except SlackUnavailable as error:
            self._handle_no_response(error)

    def _handle_refusal(self, error: SlackCallRefused) -> None:
        """Stop if the asker stopped the answer, else continue in the next state."""
        if error.code == STOPPED_BY_USER:
            self._state = self._state.handle_stop()
            raise AnswerCancelled("The asker stopped the answer.") from error
        self._state = self._state.handle_refusal(error, self._text)

    def _handle_no_response(self, error: SlackUnavailable) -> None:
        """Wait if Slack asks for a pause. Otherwise Slack may have shown the piece."""
        self._throttle.apply_retry_after(error)
        if error.retry_after is not None and not isinstance(self._state, Editing):
            return
        log.info("not known whether Slack took a piece [%s]: %s", self._message.reference, error)
        self._throttle.delay_sending(EDIT_PAUSE)
        self._state = self._state.handle_no_response(error)
