"""Answers in threads as they are written: streamed, or posted and edited where Slack does not stream.

A stream can't be found again by a key while it runs, so its timestamp is handed out at once. Slack ends a stream
by itself after about five minutes; what is to be shown after that, or in place of what was shown, is an edit.
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
    """``AnswerDisplays`` over the Web API. ``clock`` gives seconds that only go up."""

    def __init__(
        self,
        client: WebClient,
        messenger: SlackMessenger,
        clock: Callable[[], float],
        sleep: Callable[[float], None],
    ) -> None:
        self._client = client
        # what comes in between is never waited for: the next call brings it too
        self._no_retry_client = BoundedWebClient(
            client.token, base_url=client.base_url, timeout=10, retry_handlers=[]
        )
        self._messenger = messenger
        self._clock = clock
        self._sleep = sleep

    def open_display(
        self, slack_request: SlackRequest, key: str, begun: Callable[[str], None], message: str = ""
    ) -> AnswerDisplay:
        """A place for an answer. See :class:`bot.ports.Displays`."""
        answer = AnswerMessage(self._client, self._no_retry_client, slack_request, key, begun, message)
        return _SlackAnswerDisplay(answer, DisplayThrottle(self._clock, self._sleep))

    def find_earlier_message(self, slack_request: SlackRequest, key: str, since: str) -> str:
        """The message that an earlier try began; one in the thread that has no key yet can be no other's."""
        for ts, found in self._messenger.list_own_replies(slack_request.channel, slack_request.thread, since):
            if found in ("", key):
                return ts
        return ""


class _SlackAnswerDisplay:
    """``AnswerDisplay`` of one answer: what it says, while the state knows how that is shown."""

    def __init__(self, message: AnswerMessage, pace: DisplayThrottle) -> None:
        self._message = message
        self._throttle = pace
        self._state: DisplayState = Editing(message, pace) if message.ts else New(message, pace)
        self._text = ""
        self._has_status = True

    def show_status(self, doing: str) -> None:
        """Say what the bot does, or nothing any more. A courtesy: without it the answer is as good."""
        if not self._has_status or not self._state.can_show_status:
            return
        try:
            self._message.set_status(doing)
        except (SlackCallRefused, SlackUnavailable) as error:
            log.info("no status [%s]: %s", self._message.reference, error)
            self._has_status = False

    def append_text(self, text: str) -> None:
        """Add Markdown."""
        self._text += text
        if self._state.is_worth_sending(self._text):
            self._update_message()

    def replace_text(self, text: str) -> None:
        """Show this in place of what was shown so far; what streams can't be taken back, but edited."""
        self._text = text
        self._state = self._state.handle_replacement()
        self._update_message()

    def finish(self, text: str, below: Sequence[Mapping[str, Any]]) -> str:
        """Make it the whole answer."""
        self._state = self._state.finish_answer(text, below)
        return self._message.ts

    def _update_message(self) -> None:
        """Bring the message up to date, if Slack lets us now."""
        if self._text == self._state.sent or not self._throttle.is_due:
            return
        try:
            self._state = self._state.send(self._text)
        except SlackCallRefused as error:
            self._handle_refusal(error)
        except SlackUnavailable as error:
            self._handle_no_response(error)

    def _handle_refusal(self, error: SlackCallRefused) -> None:
        """Stop, or go on by editing."""
        if error.code == STOPPED_BY_USER:
            self._state = self._state.handle_stop()
            raise AnswerCancelled("The asker stopped the answer.") from error
        self._state = self._state.handle_refusal(error, self._text)

    def _handle_no_response(self, error: SlackUnavailable) -> None:
        """Wait where Slack asks for it. Else it may have taken the piece."""
        self._throttle.apply_retry_after(error)
        if error.retry_after is not None and not isinstance(self._state, Editing):
            return
        log.info("not known whether Slack took a piece [%s]: %s", self._message.reference, error)
        self._throttle.delay_sending(EDIT_PAUSE)
        self._state = self._state.handle_no_response(error)
