"""The states of an answer that is being shown, and what leads from one to the next.

::

    New ──> Streaming ──> Finished        Slack streams it
     │          └──> Editing ──> Finished  the stream is over, or what it showed was replaced
     ├──> Editing                          Slack does not stream here
     ├──> Hidden ──> Finished              Slack takes no message now
     └──> Unknown                          nobody knows whether there is one
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace

from bot.adapters.slack.answer_message import WRITING_MARK, AnswerMessage, BlocksBelow
from bot.adapters.slack.display_throttle import APPEND_PAUSE, EDIT_PAUSE, DisplayThrottle
from bot.domain.errors import SlackCallRefused, SlackUnavailable

log = logging.getLogger(__name__)

# codes of Slack: a stream that has ended, or that the asker stopped, and an edit of a message that streams
STREAM_ENDED, STOPPED_BY_USER = "message_not_in_streaming_state", "stopped_by_user"
_STREAM_CONFLICT = "streaming_state_conflict"
# characters that are worth a call
_MIN_APPENDED = 200


@dataclass(frozen=True, slots=True)
class DisplayState:
    """How an answer is shown now: ``sent`` is the Markdown that Slack shows. Each method returns the next state.

    What is not said otherwise below is what a state does that waits for the end.
    """

    message: AnswerMessage
    throttle: DisplayThrottle
    sent: str = ""

    @property
    def can_show_status(self) -> bool:
        """Whether a status stands where the answer will."""
        return False

    def is_worth_sending(self, text: str) -> bool:
        """Whether that text is so much more than what is shown that it is worth a call."""
        return len(text) - len(self.sent) >= _MIN_APPENDED

    def send(self, text: str) -> DisplayState:
        """Show all of the text there is so far. Raises SlackRefused, SlackUnavailable."""
        return self

    def handle_refusal(self, error: SlackCallRefused, text: str) -> DisplayState:
        """Go on after Slack refused ``send``. Raises SlackUnavailable."""
        return self

    def handle_no_response(self, error: SlackUnavailable) -> DisplayState:
        """Go on where nobody knows whether Slack did what ``send`` asks for: an edit is right in either case."""
        return self

    def handle_replacement(self) -> DisplayState:
        """Go on where what is shown is not the beginning of the answer any more."""
        return self

    def handle_stop(self) -> DisplayState:
        """Go on where the asker stopped the answer."""
        return Editing(self.message, self.throttle, self.sent)

    def finish_answer(self, text: str, below: BlocksBelow) -> DisplayState:
        """Make it the whole answer, with blocks below. Raises SlackRefused, SlackUnavailable."""
        self.throttle.wait_until_free()
        self.message.post_answer(text, below)
        return Finished(self.message, self.throttle, text)


class New(DisplayState):
    """There is no message yet."""

    @property
    def can_show_status(self) -> bool:
        return True

    def send(self, text: str) -> DisplayState:
        self.message.start_stream(text)
        self.throttle.delay_sending(APPEND_PAUSE)
        return Streaming(self.message, self.throttle, text)

    def handle_refusal(self, error: SlackCallRefused, text: str) -> DisplayState:
        """Post what there is, to edit it. Where Slack takes no post either, the end of the answer will say so."""
        log.info("Slack does not stream here [%s]: %s", self.message.reference, error.code)
        try:
            self.message.post_answer(text, mark=WRITING_MARK)
        except SlackCallRefused as refusal:
            log.info("nothing is shown [%s]: %s", self.message.reference, refusal)
            return Hidden(self.message, self.throttle)
        self.throttle.delay_sending(EDIT_PAUSE)
        return Editing(self.message, self.throttle, text)

    def handle_no_response(self, error: SlackUnavailable) -> DisplayState:
        return Unknown(self.message, self.throttle, error=error)


class Hidden(DisplayState):
    """Slack takes no message: what it says to the whole answer counts."""

    @property
    def can_show_status(self) -> bool:
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown(DisplayState):
    """There may be a message: somebody must look before the answer is posted."""

    error: SlackUnavailable

    @property
    def can_show_status(self) -> bool:
        return True

    def finish_answer(self, text: str, below: BlocksBelow) -> DisplayState:
        raise self.error


class Streaming(DisplayState):
    """The message streams: it can be added to, and not be edited."""

    def send(self, text: str) -> DisplayState:
        self.message.append_to_stream(text[len(self.sent) :])
        self.throttle.delay_sending(APPEND_PAUSE)
        return replace(self, sent=text)

    def handle_refusal(self, error: SlackCallRefused, text: str) -> DisplayState:
        log.info("the stream is over [%s]: %s", self.message.reference, error.code)
        return self._switch_to_editing(is_open=error.code != STREAM_ENDED)

    def handle_no_response(self, error: SlackUnavailable) -> DisplayState:
        return self._switch_to_editing(is_open=True)

    def handle_replacement(self) -> DisplayState:
        return self._switch_to_editing(is_open=True)

    def finish_answer(self, text: str, below: BlocksBelow) -> DisplayState:
        """End the stream with the rest, or edit. A stream that the asker stopped stays as far as it came."""
        self.throttle.wait_until_free()
        if not text.startswith(self.sent):
            return self._switch_to_editing(is_open=True).finish_answer(text, below)
        try:
            self.message.complete_stream(text[len(self.sent) :], below)
        except SlackCallRefused as error:
            log.info("the stream did not end by itself [%s]: %s", self.message.reference, error)
            rest = self._switch_to_editing(is_open=error.code not in (STREAM_ENDED, STOPPED_BY_USER))
            return rest.finish_answer(self.sent if error.code == STOPPED_BY_USER else text, below)
        return Finished(self.message, self.throttle, text)

    def _switch_to_editing(self, *, is_open: bool) -> Editing:
        return Editing(self.message, self.throttle, self.sent, is_open)


@dataclass(frozen=True, slots=True)
class Editing(DisplayState):
    """The message is edited. ``is_open``: it is known to stream; of one that was begun before, Slack says so."""

    is_open: bool = False

    def is_worth_sending(self, text: str) -> bool:
        return True

    def send(self, text: str) -> DisplayState:
        closed = self._end_stream(is_last=False)
        try:
            closed._edit_message(text, (), is_last=False)
        except (SlackCallRefused, SlackUnavailable) as error:
            self.throttle.apply_retry_after(error)
            log.info("not edited [%s]: %s", self.message.reference, error)
        self.throttle.delay_sending(EDIT_PAUSE)
        return replace(closed, sent=text)

    def finish_answer(self, text: str, below: BlocksBelow) -> DisplayState:
        self.throttle.wait_until_free()
        self._end_stream(is_last=True)._edit_message(text, below, is_last=True)
        return Finished(self.message, self.throttle, text)

    def _end_stream(self, *, is_last: bool) -> Editing:
        """End the stream, if there is one."""
        if self.is_open:
            self._stop_stream(is_last=is_last)
        return replace(self, is_open=False)

    def _edit_message(self, text: str, below: BlocksBelow, *, is_last: bool) -> None:
        try:
            self.message.edit_answer(text, below, is_last=is_last)
        except SlackCallRefused as error:
            if error.code != _STREAM_CONFLICT:
                raise
            self._stop_stream(is_last=is_last)
            self.message.edit_answer(text, below, is_last=is_last)

    def _stop_stream(self, *, is_last: bool) -> None:
        """A message that streams can't be edited."""
        try:
            self.message.stop_stream(is_last=is_last)
        except SlackCallRefused as error:
            log.info("the stream was over [%s]: %s", self.message.reference, error)


class Finished(DisplayState):
    """It is the whole answer."""

    def finish_answer(self, text: str, below: BlocksBelow) -> DisplayState:
        """Put something else in its place."""
        return Editing(self.message, self.throttle, self.sent).finish_answer(text, below)
