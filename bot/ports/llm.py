"""Language models: one question with one answer, and a talk in which the model may use tools."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from bot.domain.keyspace.keys import COMPLETION
from bot.domain.operations.budget import CallPurpose
from bot.domain.operations.usage import Usage


@dataclass(frozen=True, slots=True)
class Prompt:
    """One question to a model that answers in JSON of a schema. ``version`` names the instructions.

    ``need`` says how soon it is given up where money runs short; it changes no answer.
    """

    model: str
    version: str
    system: str
    user: str
    schema: Mapping[str, Any]
    max_tokens: int
    need: CallPurpose = CallPurpose.USUAL

    @property
    def key(self) -> str:
        """Address of the answer by content: equal for equal model, version, schema and rendered input."""
        parts = [self.model, self.version, self.system, self.user, self.schema]
        return COMPLETION.build_key(hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest())


@dataclass(frozen=True, slots=True)
class Completion:
    """What the model wrote, complete and not refused, and the tokens it took."""

    text: str
    usage: Usage


class Model(Protocol):
    """A language model."""

    def complete(self, prompt: Prompt) -> Completion:
        """Ask once. Raises ModelBusy, ModelRejected, ModelRefused or ModelTruncated."""


@dataclass(frozen=True, slots=True)
class TextPart:
    """Words in a turn. All up to a ``stable`` one is the same in many talks: the prompt cache shall keep it."""

    text: str
    stable: bool = False


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool said to the model."""

    call: str
    text: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Turn:
    """What one side says. ``given`` is a turn of the model's in its own form, which must go back as it came.

    Blank text says nothing: it is left out wherever it stands.
    """

    by: Literal["person", "model"]
    parts: tuple[TextPart | ToolResult, ...] = ()
    given: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Chat:
    """A talk so far, for the model to go on, within ``seconds`` and without ``silence`` (seconds) in between.

    Each of ``tools`` has a ``name``, a ``description`` and an ``input_schema``, the JSON schema of its arguments.
    """

    model: str
    system: str
    tools: tuple[Mapping[str, Any], ...]
    turns: tuple[Turn, ...]
    max_tokens: int
    silence: float
    seconds: float
    may_use_tools: bool = True


@dataclass(frozen=True, slots=True)
class ToolCall:
    """What the model wants of a tool; ``arguments`` are its own words and not checked."""

    id: str
    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More of the model's words, as they come."""

    text: str


@dataclass(frozen=True, slots=True)
class TurnUsage:
    """What the turn has taken so far, in place of what an earlier event told."""

    usage: Usage


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """The model's turn: whole, or cut at its limit of tokens. The calls before it wait for their results."""

    turn: Turn
    is_cut: bool = False


ChatEvent = TextDelta | ToolCall | TurnUsage | TurnEnd


class ChatModel(Protocol):
    """A language model that talks."""

    def stream_turn(self, chat: Chat) -> Generator[ChatEvent, None, None]:
        """Ask for the model's next turn; yield its events as they come, ``TurnEnd`` last.

        Nothing is asked before the first event is wanted. Close it: that ends the call wherever it is, so that
        whoever has had enough waits, and pays, for no more words.

        Raises ModelBusy (also when it breaks off in the middle), ModelRejected or ModelRefused.
        """
