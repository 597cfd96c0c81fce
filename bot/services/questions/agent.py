"""Answers one question: a talk with the model, in rounds of tools, shown as it is written and within limits."""

from __future__ import annotations

import logging
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field

from tenacity import RetryCallState, Retrying, retry_if_exception_type, stop_after_attempt, wait_exponential

from bot.domain.errors import AnswerStopped, ModelAnswerInvalid, ModelBusy, ModelError
from bot.domain.operations.usage import NOTHING, Usage
from bot.domain.text.strings import plural
from bot.ports import Chat, ChatModel, Display, Reply, Text, ToolCall, ToolResult, Turn
from bot.render.conversations.streaming import AnswerMarkdown, Links
from bot.services.questions.tools.toolbox import Toolbox
from bot.services.summaries.prompts import ANSWER, instructions

log = logging.getLogger(__name__)

# seconds that the model may want to be left in peace; who asks in a thread sees that the bot is at it
_LONGEST_PAUSE = 60.0
_BACKOFF = wait_exponential(multiplier=1, min=1, max=8)
_ATTEMPTS = 3
_ENOUGH = "No more tools: write the answer now from what you have, and say what is missing."
_LATE = "I stopped at four minutes; this is what I have."
_STOPPED = "Stopped, as you asked."
_BROKEN = "The model stopped in the middle ({}): this is what I have."
_LONG = "The answer was longer than a message may be: ask for a part of it."
_CUT = "The model's answer was cut at its length limit: ask for a part of it."


@dataclass(frozen=True, slots=True)
class Limits:
    """What one answer may take.

    ``rounds`` and ``calls`` bound the model's turns and the tools in each; ``tokens`` is of all prompts together.
    After ``reading`` seconds there are no more tools, after ``seconds`` no more words: Slack, the last edit and
    a slow network have the rest of the four minutes.
    """

    rounds: int = 8
    calls: int = 6
    tokens: int = 400_000
    output: int = 8_000
    reading: float = 140.0
    seconds: float = 210.0
    silence: float = 25.0


@dataclass(frozen=True, slots=True)
class Exchange:
    """What the model asked of a tool, and what it was told."""

    tool: str
    arguments: dict[str, object]
    result: str


@dataclass(frozen=True, slots=True)
class Written:
    """An answer: Markdown that may be shown, why it ends where it does, and what went into it."""

    text: str
    said: str
    note: str
    usage: Usage
    exchanges: tuple[Exchange, ...]
    rounds: int


def _pause(state: RetryCallState) -> float:
    """Seconds until the model is asked again: what it asks for, else ever longer."""
    error = state.outcome.exception() if state.outcome else None
    asked = error.retry_after if isinstance(error, ModelBusy) else None
    return asked if asked is not None else float(_BACKOFF(state))


class Answerer:
    """Talks with the model. ``clock`` gives seconds that only go up."""

    def __init__(
        self,
        model: ChatModel,
        name: str,
        clock: Callable[[], float],
        sleep: Callable[[float], None],
        limits: Limits = Limits(),
    ) -> None:
        self._model = model
        self._name = name
        self._clock = clock
        self._sleep = sleep
        self._limits = limits

    def answer(
        self,
        turns: tuple[Turn, ...],
        toolbox: Toolbox,
        links: Links,
        display: Display,
        started: float | None = None,
    ) -> Written:
        """Answer the question at the end of ``turns``. Its time counts from ``started``, or from now.

        Raises:
            ModelError: there is nothing to show. It carries what asking took.
            SlackUnavailable, StoreUnavailable: trying again may help.
        """
        begun = self._clock() if started is None else started
        talk = _Talk(turns, AnswerMarkdown(links), display, self._clock, begun + self._limits.seconds)
        note = self._note(talk, toolbox)
        if not talk.text.strip():
            raise ModelAnswerInvalid("the model wrote no answer", talk.usage)
        notes = [note] if note else [_LONG] if talk.markdown.is_cut else []
        return Written(talk.text, talk.said, " ".join(notes), talk.usage, tuple(talk.exchanges), talk.rounds)

    def _note(self, talk: _Talk, toolbox: Toolbox) -> str:
        """Talk to the end; why it ended early, or empty."""
        try:
            note = self._rounds(talk, toolbox)
        except ModelError as error:
            error.usage = talk.usage
            talk.close(is_whole=False)
            if not talk.text.strip():
                raise
            log.info("an answer breaks off: %s", error)
            return _BROKEN.format(error)
        talk.close(is_whole=note in ("", _CUT))
        return note

    def _rounds(self, talk: _Talk, toolbox: Toolbox) -> str:
        """Rounds of tools until the model has said all; why it ended before, or empty."""
        while talk.left > 0:
            reply = self._turn(talk, toolbox)
            talk.rounds += 1
            if talk.ended or not reply.calls or not talk.may_use_tools:
                return talk.ended or (_CUT if reply.is_cut else "")
            if not talk.pause():
                return talk.ended
            talk.display.status(_doing(reply.calls))
            results = [self._used(talk, toolbox, call, place) for place, call in enumerate(reply.calls)]
            late = talk.left < self._limits.seconds - self._limits.reading
            spent = talk.rounds >= self._limits.rounds - 1 or talk.usage.prompt > self._limits.tokens
            talk.may_use_tools = not (late or spent)
            more = () if talk.may_use_tools else (Text(_ENOUGH),)
            talk.turns = (*talk.turns, reply.turn, Turn("person", (*results, *more)))
        return _LATE

    def _used(self, talk: _Talk, toolbox: Toolbox, call: ToolCall, place: int) -> ToolResult:
        if place >= self._limits.calls:
            return ToolResult(call.id, f"Use up to {self._limits.calls} tools at a time.", is_error=True)
        found = toolbox.run(call.name, call.arguments)
        talk.exchanges.append(Exchange(call.name, dict(call.arguments), found.text))
        return ToolResult(call.id, found.text, found.is_error)

    def _turn(self, talk: _Talk, toolbox: Toolbox) -> Reply:
        """The model's next turn. One that breaks off is begun again, and then replaces what was shown of it."""
        retrying = Retrying(
            retry=retry_if_exception_type(ModelBusy),
            wait=_pause,
            stop=lambda state: (
                stop_after_attempt(_ATTEMPTS)(state) or _pause(state) >= min(talk.left, _LONGEST_PAUSE)
            ),
            sleep=self._sleep,
            reraise=True,
        )
        reply: Reply = retrying(self._asked, talk, toolbox, copy(talk.markdown))
        return reply

    def _asked(self, talk: _Talk, toolbox: Toolbox, before: AnswerMarkdown) -> Reply:
        talk.back_to(before)
        chat = Chat(
            model=self._name,
            system=instructions(ANSWER),
            tools=toolbox.definitions,
            turns=talk.turns,
            max_tokens=self._limits.output,
            silence=self._limits.silence,
            seconds=talk.left,
            may_use_tools=talk.may_use_tools,
        )
        try:
            reply = self._model.converse(chat, talk.hear)
        except ModelError as error:
            talk.took(error.usage)
            raise
        talk.took(reply.usage)
        return reply


@dataclass
class _Talk:
    """The state of one answer."""

    turns: tuple[Turn, ...]
    markdown: AnswerMarkdown
    display: Display
    clock: Callable[[], float]
    end: float
    usage: Usage = NOTHING
    rounds: int = 0
    may_use_tools: bool = True
    exchanges: list[Exchange] = field(default_factory=list)
    ended: str = ""
    _shown: str = ""
    _said: str = ""

    @property
    def left(self) -> float:
        """Seconds."""
        return self.end - self.clock()

    @property
    def text(self) -> str:
        """What there is of the answer; of tries that broke off, what was shown last."""
        if not self._is_lost:
            return self.markdown.shown
        return self._shown + ("\n```" if self._shown.count("```") % 2 else "")

    @property
    def said(self) -> str:
        """The same as the model wrote it, for the thread's memory."""
        return self._said if self._is_lost else self.markdown.said

    @property
    def _is_lost(self) -> bool:
        """Whether people saw more than the last try has."""
        return len(self._shown) > len(self.markdown.shown) and self._shown.startswith(self.markdown.shown)

    def took(self, usage: Usage) -> None:
        """A turn is over."""
        self.usage += usage

    def hear(self, words: str) -> bool:
        """More of the model's words; whether there may be still more."""
        self._show(self.markdown.feed(words))
        if self.left <= 0:
            self.ended = self.ended or _LATE
        return not self.ended

    def pause(self) -> bool:
        """The model uses tools; whether there may be still more words."""
        self._show(self.markdown.turn())
        return not self.ended

    def close(self, *, is_whole: bool) -> None:
        """No more words will come; ``is_whole``: the model was done."""
        self.markdown.end(is_whole=is_whole)

    def back_to(self, before: AnswerMarkdown) -> None:
        """Forget the words of a turn that broke off. What was shown of them stays until there are others."""
        self.markdown = copy(before)

    def _show(self, piece: str) -> None:
        if not piece:
            return
        whole = self.markdown.shown
        try:
            if whole == self._shown + piece:
                self.display.show(piece)
            else:
                self.display.replace(whole)
        except AnswerStopped:
            self.ended = _STOPPED
        self._shown, self._said = whole, self.markdown.said


def _doing(calls: tuple[ToolCall, ...]) -> str:
    """What is done for the model, for the status line."""
    diffs = sum(call.name == "read_diff" for call in calls)
    if diffs:
        return f"is reading {plural(diffs, 'diff')}…"
    searched = [call.arguments.get("where") for call in calls if call.name == "search"]
    if searched:
        return "is searching the descriptions…" if set(searched) == {"text"} else "is searching the diffs…"
    if any(call.name == "taken_back" for call in calls):
        return "is looking for reverts…"
    return "is going through the pull requests…"
