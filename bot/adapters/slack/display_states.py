"""States of an answer that is being shown, and the transitions between them.

::

    New ──> Streaming ──> Finished        Slack streams it
     │          └──> Editing ──> Finished  the stream is over, or its text was replaced
     ├──> Editing                          Slack does not stream here
     ├──> Hidden ──> Finished              Slack accepts no message now
     └──> Unknown                          it is unknown whether there is a message
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace

from bot.adapters.slack.answer_message import WRITING_MARK, AnswerMessage, BlocksBelow
from bot.adapters.slack.display_throttle import APPEND_PAUSE, EDIT_PAUSE, DisplayThrottle
from bot.domain.errors import SlackCallRefused, SlackUnavailable

log = logging.getLogger(__name__)

# Slack's errors for a stream that has ended, one that the asker stopped, and an edit of a message that streams
STREAM_ENDED, STOPPED_BY_USER = "message_not_in_streaming_state", "stopped_by_user"
_STREAM_CONFLICT = "streaming_state_conflict"
# characters that are worth a call
_MIN_APPENDED = 200


@dataclass(frozen=True, slots=True)
class DisplayState:
    """A state of the display. ``sent`` is the Markdown that Slack shows. Each method returns the next state.

    By default a state shows nothing before the end of the answer.
    """

    message: AnswerMessage
    throttle: DisplayThrottle
    sent: str = ""

    @property
    def can_show_status(self) -> bool:
        """Whether a status can stand in place of the answer."""
        return False

    def is_worth_sending(self, text: str) -> bool:
        """Return whether a text is so much longer than what is shown that it is worth a call."""
        return len(text) - len(self.sent) >= _MIN_APPENDED

    def send(self, text: str) -> DisplayState:
        """Show the text so far. Raises SlackCallRefused or SlackUnavailable."""
        return self

    def handle_refusal(self, error: SlackCallRefused, text: str) -> DisplayState:
        """Continue after Slack refused ``send``. Raises SlackUnavailable."""
        return self

    def handle_no_response(self, error: SlackUnavailable) -> DisplayState:
        """Continue when it is unknown whether ``send`` had its effect. An edit is right in either case."""
        return self

    def handle_replacement(self) -> DisplayState:
        """Continue when the text shown is not the beginning of the answer any more."""
        return self

    def handle_stop(self) -> DisplayState:
        """Continue after the asker stopped the answer."""
        return Editing(self.message, self.throttle, self.sent)

    def finish_answer(self, text: str, below: BlocksBelow) -> DisplayState:
        """Show the whole answer, with blocks below it. Raises SlackCallRefused or SlackUnavailable."""
        self.throttle.wait_until_free()
        self.message.post_answer(text, below)
        return Finished(self.message, self.throttle, text)


class New(DisplayState):
    """State without a message."""

    @property
    def can_show_status(self) -> bool:
        """True: there is no message yet."""
        return True

    def send(self, text: str) -> DisplayState:
        """Start a stream."""
        self.message.start_stream(text)
        self.throttle.delay_sending(APPEND_PAUSE)
        return Streaming(self.message, self.throttle, text)

    def handle_refusal(self, error: SlackCallRefused, text: str) -> DisplayState:
        """Post the text so far, to edit it later.

        If Slack refuses the post too, the call at the end of the answer reports that.
        """
        log.info("Slack does not stream here [%s]: %s", self.message.reference, error.code)
        try:
            self.message.post_answer(text, mark=WRITING_MARK)
        except SlackCallRefused as refusal:
            log.info("nothing is shown [%s]: %s", self.message.reference, refusal)
            return Hidden(self.message, self.throttle)
        self.throttle.delay_sending(EDIT_PAUSE)
        return Editing(self.message, self.throttle, text)

    def handle_no_response(self, error: SlackUnavailable) -> DisplayState:
        """Go to ``Unknown``: there may be a stream."""
        return Unknown(self.message, self.throttle, error=error)


class Hidden(DisplayState):
    """State in which Slack accepts no message. Only its response to the whole answer counts."""

    @property
    def can_show_status(self) -> bool:
        """True: there is no message."""
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown(DisplayState):
    """State in which there may be a message. Look for it before the answer is posted."""

    error: SlackUnavailable

    @property
    def can_show_status(self) -> bool:
        """True: no message is known."""
        return True

    def finish_answer(self, text: str, below: BlocksBelow) -> DisplayState:
        """Raise the error that left the state of the message unknown."""
        raise self.error


class Streaming(DisplayState):
    """State of a message that streams: text can be added, but not changed."""

    def send(self, text: str) -> DisplayState:
        """Add the new text to the stream."""
        self.message.append_to_stream(text[len(self.sent) :])
        self.throttle.delay_sending(APPEND_PAUSE)
        return replace(self, sent=text)

    def handle_refusal(self, error: SlackCallRefused, text: str) -> DisplayState:
        """Go on by editing: the stream is over, or does not accept text."""
        log.info("the stream is over [%s]: %s", self.message.reference, error.code)
        return self._switch_to_editing(is_open=error.code != STREAM_ENDED)

    def handle_no_response(self, error: SlackUnavailable) -> DisplayState:
        """Go on by editing: the stream may lack the text."""
        return self._switch_to_editing(is_open=True)

    def handle_replacement(self) -> DisplayState:
        """Go on by editing: a stream can't be changed."""
        return self._switch_to_editing(is_open=True)

    def finish_answer(self, text: str, below: BlocksBelow) -> DisplayState:
        """End the stream with the rest of the answer, or edit. A stream that the asker stopped keeps its text."""
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
        """Return the state for edits. ``is_open`` means that the stream may still run."""
        return Editing(self.message, self.throttle, self.sent, is_open)


@dataclass(frozen=True, slots=True)
class Editing(DisplayState):
    """State of a message that is edited.

    ``is_open`` means that it is known to stream. For a message of an earlier attempt, Slack reports it.
    """

    is_open: bool = False

    def is_worth_sending(self, text: str) -> bool:
        """Return True: the throttle limits the number of edits."""
        return True

    def send(self, text: str) -> DisplayState:
        """Replace the text. A failure is only logged, because the next edit contains the text too."""
        closed = self._end_stream(is_last=False)
        try:
            closed._edit_message(text, (), is_last=False)
        except (SlackCallRefused, SlackUnavailable) as error:
            self.throttle.apply_retry_after(error)
            log.info("not edited [%s]: %s", self.message.reference, error)
        self.throttle.delay_sending(EDIT_PAUSE)
        return replace(closed, sent=text)

    def finish_answer(self, text: str, below: BlocksBelow) -> DisplayState:
        """Replace the text by the whole answer."""
        self.throttle.wait_until_free()
        self._end_stream(is_last=True)._edit_message(text, below, is_last=True)
        return Finished(self.message, self.throttle, text)

    def _end_stream(self, *, is_last: bool) -> Editing:
        """End the stream if there is one."""
        if self.is_open:
            self._stop_stream(is_last=is_last)
        return replace(self, is_open=False)

    def _edit_message(self, text: str, below: BlocksBelow, *, is_last: bool) -> None:
        """Edit the message. If it streams, end the stream and edit again."""
        try:
            self.message.edit_answer(text, below, is_last=is_last)
        except SlackCallRefused as error:
            if error.code != _STREAM_CONFLICT:
                raise
            self._stop_stream(is_last=is_last)
            self.message.edit_answer(text, below, is_last=is_last)

    def _stop_stream(self, *, is_last: bool) -> None:
        """Stop the stream, because a message that streams can't be edited. One that has ended is only logged."""
        try:
            self.message.stop_stream(is_last=is_last)
        except SlackCallRefused as error:
            log.info("the stream was over [%s]: %s", self.message.reference, error)


class Finished(DisplayState):
    """State of a message that holds the whole answer."""

    def finish_answer(self, text: str, below: BlocksBelow) -> DisplayState:
        """Replace the answer by another one."""
        return Editing(self.message, self.throttle, self.sent).finish_answer(text, below)
