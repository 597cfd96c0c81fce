"""How far one answer is, and what is to be shown of what happens in its talk with the model."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field
from typing import Protocol

from bot.domain.conversations.answer_end import AnswerEnd
from bot.domain.errors import ModelAnswerInvalid
from bot.domain.operations.usage import NO_USAGE, Usage
from bot.ports import AnswerDisplay, TextDelta, ToolCall, Turn
from bot.render.conversations.answers import describe_tools
from bot.render.conversations.streaming import AnswerMarkdown


class DisplayUpdate(Protocol):
    """A change of what is shown of an answer."""

    def apply_to(self, display: AnswerDisplay) -> None:
        """Show it. Raises AnswerStopped if the asker wants no more of the answer."""


@dataclass(frozen=True, slots=True)
class StatusUpdate:
    """What the bot does until the next words are shown."""

    activity: str

    def apply_to(self, display: AnswerDisplay) -> None:
        display.show_status(self.activity)


@dataclass(frozen=True, slots=True)
class Addition:
    """More Markdown below what is shown."""

    text: str

    def apply_to(self, display: AnswerDisplay) -> None:
        display.append_text(self.text)


@dataclass(frozen=True, slots=True)
class Replacement:
    """Markdown in place of all that was shown."""

    text: str

    def apply_to(self, display: AnswerDisplay) -> None:
        display.replace_text(self.text)


@dataclass(frozen=True, slots=True)
class TurnStart:
    """The model's next turn begins; ``is_again``: in place of one that broke off."""

    is_again: bool


@dataclass(frozen=True, slots=True)
class ToolsStart:
    """The model's turn is over, and what it asks of tools is looked up."""

    calls: tuple[ToolCall, ...]


# what happens in a talk with the model, as far as the asker sees something of it
AnswerEvent = TurnStart | TextDelta | ToolsStart


@dataclass(frozen=True, slots=True)
class ToolExchange:
    """What the model asked of a tool, and what it was told."""

    tool: str
    arguments: dict[str, object]
    result: str


@dataclass(frozen=True, slots=True)
class WrittenAnswer:
    """An answer: Markdown that may be shown, why it ends where it does, and what went into it.

    ``failure`` says why the model broke off, where it did.
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
    """The state of one answer. ``deadline`` is when it has to be written, in seconds of ``clock``.

    ``end`` is set as soon as it is known that no more words are wanted, or can come; ``failure`` says why the
    model broke off.
    """

    turns: tuple[Turn, ...]
    markdown: AnswerMarkdown
    clock: Callable[[], float]
    deadline: float
    usage: Usage = NO_USAGE
    rounds: int = 0
    may_use_tools: bool = True
    exchanges: list[ToolExchange] = field(default_factory=list)
    end: AnswerEnd | None = None
    failure: str = ""
    _turn_start_markdown: AnswerMarkdown = field(init=False)
    _shown_text: str = ""
    _shown_raw_text: str = ""

    def __post_init__(self) -> None:
        self._turn_start_markdown = copy(self.markdown)

    @property
    def seconds_left(self) -> float:
        """Seconds."""
        return self.deadline - self.clock()

    @property
    def text(self) -> str:
        """What there is of the answer; of tries that broke off, what was shown last."""
        if not self._is_lost:
            return self.markdown.shown_text
        return self._shown_text + ("\n```" if self._shown_text.count("```") % 2 else "")

    @property
    def raw_text(self) -> str:
        """The same as the model wrote it, for the thread's memory."""
        return self._shown_raw_text if self._is_lost else self.markdown.raw_text

    @property
    def _is_lost(self) -> bool:
        """Whether people saw more than the last try has."""
        return len(self._shown_text) > len(self.markdown.shown_text) and self._shown_text.startswith(
            self.markdown.shown_text
        )

    def handle_event(self, event: AnswerEvent) -> tuple[DisplayUpdate, ...]:
        """Note what happened; return what is to be shown of it."""
        match event:
            case TextDelta():
                return self._build_updates(self.markdown.feed(event.text))
            case ToolsStart():
                return (*self._build_updates(self.markdown.end_turn()), StatusUpdate(describe_tools(event.calls)))
            case TurnStart(is_again=True):
                # what was shown of it stays until there are other words
                self.markdown = copy(self._turn_start_markdown)
            case TurnStart():
                self._turn_start_markdown = copy(self.markdown)
        return ()

    def check_deadline(self) -> None:
        """Note where it is too late for more words: showing them takes time."""
        if self.seconds_left <= 0:
            self.end = self.end or AnswerEnd.LATE

    def end_answer(self, end: AnswerEnd) -> None:
        """Note that no more words will come, and why."""
        self.end = end
        self.markdown.end_answer(is_whole=end.is_whole)

    def build_answer(self) -> WrittenAnswer:
        """Return what was made. Raises ModelAnswerInvalid where that is nothing."""
        if not self.text.strip():
            raise ModelAnswerInvalid("the model wrote no answer", self.usage)
        end = self.end or AnswerEnd.COMPLETE
        if end is AnswerEnd.COMPLETE and self.markdown.is_cut:
            end = AnswerEnd.TOO_LONG
        return WrittenAnswer(
            self.text, self.raw_text, end, self.usage, tuple(self.exchanges), self.rounds, self.failure
        )

    def _build_updates(self, piece: str) -> tuple[DisplayUpdate, ...]:
        if not piece:
            return ()
        whole = self.markdown.shown_text
        is_more = whole == self._shown_text + piece
        self._shown_text, self._shown_raw_text = whole, self.markdown.raw_text
        return (Addition(piece) if is_more else Replacement(whole),)
