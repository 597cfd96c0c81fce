"""Turns of a conversation with a model: what one of them gives, and when it is asked for again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tenacity import RetryCallState, Retrying, retry_if_exception_type, stop_after_attempt, wait_exponential

from bot.domain.errors import ModelBusy
from bot.domain.operations.usage import NO_USAGE, Usage
from bot.ports import ToolCall, TurnEnd, TurnUsage

# seconds of a pause that the model may ask for
_MAX_PAUSE_SECONDS = 60.0
_BACKOFF = wait_exponential(multiplier=1, min=1, max=8)
_MAX_ATTEMPTS = 3


@dataclass
class ModelTurn:
    """The result of one turn of the model, besides its text."""

    calls: list[ToolCall] = field(default_factory=list)
    usage: Usage = NO_USAGE
    end: TurnEnd | None = None

    def note_event(self, event: ToolCall | TurnUsage | TurnEnd) -> None:
        """Record an event other than text."""
        match event:
            case ToolCall():
                self.calls.append(event)
            case TurnUsage():
                self.usage = event.usage
            case TurnEnd():
                self.end = event


def build_turn_retrying(get_seconds_left: Callable[[], float], sleep: Callable[[float], None]) -> Retrying:
    """Build the attempts at one turn: three while the model is busy, if there is time for the pause between them.

    ``get_seconds_left`` says how much time the conversation has left.
    """
    return Retrying(
        retry=retry_if_exception_type(ModelBusy),
        wait=_compute_pause,
        stop=lambda state: (
            stop_after_attempt(_MAX_ATTEMPTS)(state)
            or _compute_pause(state) >= min(get_seconds_left(), _MAX_PAUSE_SECONDS)
        ),
        sleep=sleep,
        reraise=True,
    )


def _compute_pause(state: RetryCallState) -> float:
    """Return the seconds until the model is asked again: what it asks for, else increasing pauses."""
    error = state.outcome.exception() if state.outcome else None
    requested = error.retry_after if isinstance(error, ModelBusy) else None
    return requested if requested is not None else float(_BACKOFF(state))
