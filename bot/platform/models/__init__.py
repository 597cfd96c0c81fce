"""Language models: questions, conversations with tools, and providers, each a package behind one value."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from bot.platform.finding import Finding
from bot.usage import CallPurpose, PriceList, Usage


@dataclass(frozen=True, slots=True)
class Prompt:
    """A question to a model that answers in JSON of a schema."""

    model: str
    version: str  # of the instructions
    system: str
    user: str
    schema: Mapping[str, Any]
    max_tokens: int
    need: CallPurpose = CallPurpose.USUAL  # how early the call is left out when the budget runs low

    @property
    def fingerprint(self) -> str:
        """64 hexadecimal digits, equal for equal model, version, schema and rendered input."""
        parts = [self.model, self.version, self.system, self.user, self.schema]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Completion:
    """A complete answer of a model that was not refused, and the tokens that it used."""

    text: str
    usage: Usage


class Model(Protocol):
    """A language model."""

    def complete(self, prompt: Prompt) -> Completion:
        """Ask once. Raises ModelBusy, ModelRequestRejected, ModelRefusal or ModelAnswerTruncated."""


@dataclass(frozen=True, slots=True)
class TextPart:
    """Text in a turn."""

    text: str
    stable: bool = False  # all content up to it is the same in many conversations: the prompt cache should keep it


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a tool call, for the model."""

    call: str  # its id
    text: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Turn:
    """The contribution of one side. Blank text is left out everywhere."""

    by: Literal["person", "model"]
    parts: tuple[TextPart | ToolResult, ...] = ()
    model_blocks: tuple[
        Mapping[str, Any], ...
    ] = ()  # a turn of the model as it wrote it, to be sent back unchanged


@dataclass(frozen=True, slots=True)
class Chat:
    """A conversation so far, for the model to continue. ``need`` is as in a prompt."""

    model: str
    system: str
    tools: tuple[Mapping[str, Any], ...]  # each with name, description, and the input_schema of its arguments
    turns: tuple[Turn, ...]
    max_tokens: int
    silence: float  # seconds for which the model may pause
    seconds: float  # for its turn
    may_use_tools: bool = True
    schema: Mapping[str, Any] | None = None  # of text in which a turn ends; the same throughout a conversation
    need: CallPurpose = CallPurpose.USUAL


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool that the model asks for."""

    id: str
    name: str
    arguments: Mapping[str, Any]  # as the model wrote them, not checked


@dataclass(frozen=True, slots=True)
class TextDelta:
    """The next part of the model's text."""

    text: str


@dataclass(frozen=True, slots=True)
class TurnUsage:
    """The tokens that the turn has used so far. It replaces what an earlier event reported."""

    usage: Usage


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """The end of the model's turn: complete, or cut at its token limit. Calls before it wait for their results."""

    turn: Turn
    is_cut: bool = False


ChatEvent = TextDelta | ToolCall | TurnUsage | TurnEnd


class ChatModel(Protocol):
    """A language model for conversations."""

    def stream_turn(self, chat: Chat) -> Generator[ChatEvent, None, None]:
        """Ask for the model's next turn; yield its events as they come, ``TurnEnd`` last.

        No request is sent before the first event is read. Close the generator to end the call at any point: a
        reader that needs no more text then neither waits nor pays for it. Raises ModelBusy if there is no usable
        answer, or it broke off, and ModelRequestRejected or ModelRefusal.
        """


class ModelConnection(Model, ChatModel, Protocol):
    """A connection to a provider's models. May be shared by threads."""

    def close(self) -> None:
        """Close the connection."""


@dataclass(frozen=True, slots=True)
class ModelAccess:
    """The key and the address with which a provider is called. A cloud has neither: it has its own credentials."""

    key: str = field(repr=False)
    address: str
    # the values of the settings that the provider reads besides, by variable
    options: Mapping[str, Any] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class ModelProvider:
    """All that the bot has to know about a provider of models. Settings are named as variables.

    All functions import what they need when they are called, because SDKs take long to import. The doctor calls
    ``find_models`` and ``try_model``, with the seconds that a call may take. Both raise ModelRequestRejected if
    the key is wrong, and ModelBusy if there is no usable answer.
    """

    choice: str  # the value of PRDIGEST_MODEL_PROVIDER that selects it
    name: str  # for people
    place: str  # where its models run, for documents
    key_variable: str  # a cloud has none
    address_variable: str
    prices: PriceList  # of at least one model; the most expensive one stands for those that it does not list
    connect: Callable[[ModelAccess], ModelConnection]
    # by name whether the service has a model; None if it lists no models, as some gateways
    find_models: Callable[[ModelAccess, Sequence[str], float], Mapping[str, bool | None]]
    # tries what the bot needs of a model on a server that may lack it, and takes some tokens
    try_model: Callable[[ModelAccess, str, float], Iterable[Finding]] | None = None
    is_key_optional: bool = False  # without a key no model is called otherwise
    required_variables: Mapping[str, str] = field(
        default_factory=dict
    )  # the settings that it needs, with examples
    option_variables: tuple[str, ...] = ()  # settings whose values it gets besides key and address
    prices_variable: str = ""  # the setting with the prices of a provider that has no price list

    def __post_init__(self) -> None:
        if not self.prices.prices and not self.prices_variable:
            raise ValueError(f"name what one model of {self.name} costs: budgets rest on it")

    @property
    def is_cloud(self) -> bool:
        """Whether it is called with the credentials of a cloud."""
        return not self.key_variable
