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

from bot.adapters.slack.answer_message import WRITING, AnswerMessage, Below
from bot.adapters.slack.display_pace import EDIT_PAUSE, PIECE_PAUSE, DisplayPace
from bot.domain.errors import SlackCallRefused, SlackUnavailable

log = logging.getLogger(__name__)

# codes of Slack: a stream that has ended, or that the asker stopped, and an edit of a message that streams
OVER, STOPPED = "message_not_in_streaming_state", "stopped_by_user"
_STREAMS = "streaming_state_conflict"
# characters that are worth a call
_PIECE = 200


@dataclass(frozen=True, slots=True)
class DisplayState:
    """How an answer is shown now: ``sent`` is the Markdown that Slack shows. Each method returns the next state.

    What is not said otherwise below is what a state does that waits for the end.
    """

    message: AnswerMessage
    pace: DisplayPace
    sent: str = ""

    @property
    def takes_status(self) -> bool:
        """Whether a status stands where the answer will."""
        return False

    def is_worth(self, text: str) -> bool:
        """Whether that text is so much more than what is shown that it is worth a call."""
        return len(text) - len(self.sent) >= _PIECE

    def send(self, text: str) -> DisplayState:
        """Show all of the text there is so far. Raises SlackRefused, SlackUnavailable."""
        return self

    def on_refusal(self, error: SlackCallRefused, text: str) -> DisplayState:
        """Go on after Slack refused ``send``. Raises SlackUnavailable."""
        return self

    def on_silence(self, error: SlackUnavailable) -> DisplayState:
        """Go on where nobody knows whether Slack did what ``send`` asks for: an edit is right in either case."""
        return self

    def on_replacement(self) -> DisplayState:
        """Go on where what is shown is not the beginning of the answer any more."""
        return self

    def on_stop(self) -> DisplayState:
        """Go on where the asker stopped the answer."""
        return Editing(self.message, self.pace, self.sent)

    def finish(self, text: str, below: Below) -> DisplayState:
        """Make it the whole answer, with blocks below. Raises SlackRefused, SlackUnavailable."""
        self.pace.wait_until_free()
        self.message.post(text, below)
        return Finished(self.message, self.pace, text)


class New(DisplayState):
    """There is no message yet."""

    @property
    def takes_status(self) -> bool:
        return True

    def send(self, text: str) -> DisplayState:
        self.message.start_stream(text)
        self.pace.delay(PIECE_PAUSE)
        return Streaming(self.message, self.pace, text)

    def on_refusal(self, error: SlackCallRefused, text: str) -> DisplayState:
        """Post what there is, to edit it. Where Slack takes no post either, the end of the answer will say so."""
        log.info("Slack does not stream here [%s]: %s", self.message.reference, error.code)
        try:
            self.message.post(text, mark=WRITING)
        except SlackCallRefused as refusal:
            log.info("nothing is shown [%s]: %s", self.message.reference, refusal)
            return Hidden(self.message, self.pace)
        self.pace.delay(EDIT_PAUSE)
        return Editing(self.message, self.pace, text)

    def on_silence(self, error: SlackUnavailable) -> DisplayState:
        return Unknown(self.message, self.pace, error=error)


class Hidden(DisplayState):
    """Slack takes no message: what it says to the whole answer counts."""

    @property
    def takes_status(self) -> bool:
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown(DisplayState):
    """There may be a message: somebody must look before the answer is posted."""

    error: SlackUnavailable

    @property
    def takes_status(self) -> bool:
        return True

    def finish(self, text: str, below: Below) -> DisplayState:
        raise self.error


class Streaming(DisplayState):
    """The message streams: it can be added to, and not be edited."""

    def send(self, text: str) -> DisplayState:
        self.message.append(text[len(self.sent) :])
        self.pace.delay(PIECE_PAUSE)
        return replace(self, sent=text)

    def on_refusal(self, error: SlackCallRefused, text: str) -> DisplayState:
        log.info("the stream is over [%s]: %s", self.message.reference, error.code)
        return self._edited(is_open=error.code != OVER)

    def on_silence(self, error: SlackUnavailable) -> DisplayState:
        return self._edited(is_open=True)

    def on_replacement(self) -> DisplayState:
        return self._edited(is_open=True)

    def finish(self, text: str, below: Below) -> DisplayState:
        """End the stream with the rest, or edit. A stream that the asker stopped stays as far as it came."""
        self.pace.wait_until_free()
        if not text.startswith(self.sent):
            return self._edited(is_open=True).finish(text, below)
        try:
            self.message.complete_stream(text[len(self.sent) :], below)
        except SlackCallRefused as error:
            log.info("the stream did not end by itself [%s]: %s", self.message.reference, error)
            rest = self._edited(is_open=error.code not in (OVER, STOPPED))
            return rest.finish(self.sent if error.code == STOPPED else text, below)
        return Finished(self.message, self.pace, text)

    def _edited(self, *, is_open: bool) -> Editing:
        return Editing(self.message, self.pace, self.sent, is_open)


@dataclass(frozen=True, slots=True)
class Editing(DisplayState):
    """The message is edited. ``is_open``: it is known to stream; of one that was begun before, Slack says so."""

    is_open: bool = False

    def is_worth(self, text: str) -> bool:
        return True

    def send(self, text: str) -> DisplayState:
        closed = self._close(is_last=False)
        try:
            closed._edit(text, (), is_last=False)
        except (SlackCallRefused, SlackUnavailable) as error:
            self.pace.heed(error)
            log.info("not edited [%s]: %s", self.message.reference, error)
        self.pace.delay(EDIT_PAUSE)
        return replace(closed, sent=text)

    def finish(self, text: str, below: Below) -> DisplayState:
        self.pace.wait_until_free()
        self._close(is_last=True)._edit(text, below, is_last=True)
        return Finished(self.message, self.pace, text)

    def _close(self, *, is_last: bool) -> Editing:
        """End the stream, if there is one."""
        if self.is_open:
            self._stop(is_last=is_last)
        return replace(self, is_open=False)

    def _edit(self, text: str, below: Below, *, is_last: bool) -> None:
        try:
            self.message.edit(text, below, is_last=is_last)
        except SlackCallRefused as error:
            if error.code != _STREAMS:
                raise
            self._stop(is_last=is_last)
            self.message.edit(text, below, is_last=is_last)

    def _stop(self, *, is_last: bool) -> None:
        """A message that streams can't be edited."""
        try:
            self.message.stop_stream(is_last=is_last)
        except SlackCallRefused as error:
            log.info("the stream was over [%s]: %s", self.message.reference, error)


class Finished(DisplayState):
    """It is the whole answer."""

    def finish(self, text: str, below: Below) -> DisplayState:
        """Put something else in its place."""
        return Editing(self.message, self.pace, self.sent).finish(text, below)
