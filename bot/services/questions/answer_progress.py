"""The progress of one answer, and the display updates for the events of its conversation with the model."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field
from typing import Protocol

from bot.domain.conversations.answer_end import AnswerEnd
from bot.domain.operations.usage import Usage
from bot.platform.models.agent import AgentEvent, ToolEnd, ToolsStart, TurnStart
from bot.ports import AnswerDisplay, TextDelta
from bot.render.conversations.answers import describe_tools
from bot.render.conversations.streaming import AnswerMarkdown
from bot.services.questions.answer_inputs import ToolExchange


class DisplayUpdate(Protocol):
    """A change of the display of an answer."""

    def apply_to(self, display: AnswerDisplay) -> None:
        """Apply the update. Raises AnswerCancelled if the asker stopped the answer."""


@dataclass(frozen=True, slots=True)
class StatusUpdate:
    """The activity of the bot until the next text is shown."""

    activity: str

    def apply_to(self, display: AnswerDisplay) -> None:
        """Show the activity."""
        display.show_status(self.activity)


@dataclass(frozen=True, slots=True)
class Addition:
    """Markdown to append to the shown text."""

    text: str

    def apply_to(self, display: AnswerDisplay) -> None:
        """Append the text."""
        display.append_text(self.text)


@dataclass(frozen=True, slots=True)
class Replacement:
    """Markdown that replaces the shown text."""

    text: str

    def apply_to(self, display: AnswerDisplay) -> None:
        """Replace the text."""
        display.replace_text(self.text)


@dataclass(frozen=True, slots=True)
class WrittenAnswer:
    """An answer: Markdown that may be shown, the reason for its end, and what it is based on.

    ``failure`` is the error with which the model stopped, if it did.
    """

    text: str
    raw_text: str
    end: AnswerEnd
    usage: Usage
    exchanges: tuple[ToolExchange, ...]
    rounds: int
    failure: str = ""


@dataclass
class AnswerProgress:
    """What is shown of one answer, and the tools that it used."""

    markdown: AnswerMarkdown
    exchanges: list[ToolExchange] = field(default_factory=list)
    _turn_start_markdown: AnswerMarkdown = field(init=False)
    _shown_text: str = ""
    _shown_raw_text: str = ""

    def __post_init__(self) -> None:
        self._turn_start_markdown = copy(self.markdown)

    @property
    def text(self) -> str:
        """The text of the answer so far; after an interruption, the text shown before it."""
        if not self._is_lost:
            return self.markdown.shown_text
        return self._shown_text + ("\n```" if self._shown_text.count("```") % 2 else "")

    @property
    def raw_text(self) -> str:
        """The same as the model wrote it, for the thread's memory."""
        return self._shown_raw_text if self._is_lost else self.markdown.raw_text

    @property
    def _is_lost(self) -> bool:
        """Whether more text was shown than the last attempt has."""
        return len(self._shown_text) > len(self.markdown.shown_text) and self._shown_text.startswith(
            self.markdown.shown_text
        )

    def handle_event(self, event: AgentEvent) -> tuple[DisplayUpdate, ...]:
        """Record an event and return the display updates for it."""
        match event:
            case TextDelta():
                return self._build_updates(self.markdown.feed(event.text))
            case ToolsStart():
                return (*self._build_updates(self.markdown.end_turn()), StatusUpdate(describe_tools(event.calls)))
            case ToolEnd(call, result):
                self.exchanges.append(ToolExchange(call.name, dict(call.arguments), result.text))
            case TurnStart(is_again=True):
                # the text shown of the interrupted turn stays until there is new text
                self.markdown = copy(self._turn_start_markdown)
            case TurnStart():
                self._turn_start_markdown = copy(self.markdown)
        return ()

    def _build_updates(self, piece: str) -> tuple[DisplayUpdate, ...]:
        if not piece:
            return ()
        whole = self.markdown.shown_text
        is_more = whole == self._shown_text + piece
        self._shown_text, self._shown_raw_text = whole, self.markdown.raw_text
        return (Addition(piece) if is_more else Replacement(whole),)
