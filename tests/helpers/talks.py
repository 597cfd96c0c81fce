"""Turns of a model, heard to their end or as far as somebody wants to."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field

from bot.errors import ModelError
from bot.platform.models import Chat, ChatEvent, ChatModel, TextDelta, ToolCall, Turn, TurnEnd, TurnUsage
from bot.usage import NO_USAGE, Usage


@dataclass
class Reply:
    turn: Turn = field(default_factory=lambda: Turn("model"))
    calls: tuple[ToolCall, ...] = ()
    usage: Usage = NO_USAGE
    is_cut: bool = False
    words: str = ""
    events: list[ChatEvent] = field(default_factory=list)

    def note(self, event: ChatEvent) -> None:
        """Take one more event."""
        self.events.append(event)
        match event:
            case TextDelta(text):
                self.words += text
            case ToolCall():
                self.calls += (event,)
            case TurnUsage(usage):
                self.usage = usage
            case TurnEnd(turn, is_cut):
                self.turn, self.is_cut = turn, is_cut


def converse(model: ChatModel, chat: Chat, hear: Callable[[str], bool] = lambda _: True) -> Reply:
    """Hear a turn; ``hear`` gets its words, and says whether to go on.

    An error of the model's gets what the turn had taken by then, as far as the model told.
    """
    reply = Reply()
    try:
        with closing(model.stream_turn(chat)) as events:
            for event in events:
                reply.note(event)
                if isinstance(event, TextDelta) and not hear(event.text):
                    break
    except ModelError as error:
        error.usage = reply.usage
        raise
    return reply
