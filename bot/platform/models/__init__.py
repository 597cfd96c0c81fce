"""Language models: one question with one answer, conversations with tools, and who provides them.

A provider is a package of this room with its connection, check and prices behind one ``ModelProvider``, which the
registry names.
"""

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
    """A question to a model that answers in JSON of a schema. ``version`` identifies the instructions.

    ``need`` says how early the call is left out when the budget runs low. It does not change the answer.
    """

    model: str
    version: str
    system: str
    user: str
    schema: Mapping[str, Any]
    max_tokens: int
    need: CallPurpose = CallPurpose.USUAL

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
    """Text in a turn.

    All content up to a ``stable`` part is the same in many conversations, so the prompt cache should keep it.
    """

    text: str
    stable: bool = False


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a tool call, for the model. ``call`` is the id of the call."""

    call: str
    text: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Turn:
    """The contribution of one side. Blank text is left out everywhere.

    ``model_blocks`` is a turn of the model in its own format, which has to be sent back unchanged.
    """

    by: Literal["person", "model"]
    parts: tuple[TextPart | ToolResult, ...] = ()
    model_blocks: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Chat:
    """A conversation so far, for the model to continue.

    The model has ``seconds`` for its turn, and may not pause for more than ``silence`` seconds. Each of ``tools``
    has a ``name``, a ``description`` and an ``input_schema``, the JSON schema of its arguments. With a ``schema``,
    text in which a turn ends is JSON of that schema; it stays the same throughout a conversation. ``need`` is as
    in a prompt.
    """

    model: str
    system: str
    tools: tuple[Mapping[str, Any], ...]
    turns: tuple[Turn, ...]
    max_tokens: int
    silence: float
    seconds: float
    may_use_tools: bool = True
    schema: Mapping[str, Any] | None = None
    need: CallPurpose = CallPurpose.USUAL


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool that the model asks for. ``arguments`` are as the model wrote them, not checked."""

    id: str
    name: str
    arguments: Mapping[str, Any]


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
        reader that needs no more text then neither waits nor pays for it.

        Raises:
            ModelBusy: there is no usable answer, or it broke off.
            ModelRequestRejected, ModelRefusal: the service or the model refuses.
        """


class ModelConnection(Model, ChatModel, Protocol):
    """A connection to a provider's models. May be shared by threads."""

    def close(self) -> None:
        """Close the connection."""


@dataclass(frozen=True, slots=True)
class ModelAccess:
    """The key and the address with which a provider is called.

    A cloud has neither: it has its own credentials. ``options`` has the values of the settings that the provider
    reads besides, by variable.
    """

    key: str = field(repr=False)
    address: str
    options: Mapping[str, object] = field(default_factory=dict, repr=False)

    def get_text(self, variable: str) -> str:
        """Return an option as text; empty if it is not set."""
        value = self.options.get(variable)
        return value if isinstance(value, str) else ""

    def get_number(self, variable: str) -> int | None:
        """Return an option as a number; None if it is not set."""
        value = self.options.get(variable)
        return value if isinstance(value, int) else None


@dataclass(frozen=True, slots=True)
class ModelProvider:
    """All that the bot has to know about a provider of models.

    ``choice`` is the value of PRDIGEST_MODEL_PROVIDER that selects it, ``name`` is its name for people, and
    ``place`` says in documents where its models run. ``key_variable`` and ``address_variable`` are the settings
    (as variables) that hold its key and its address; a cloud has no key. Without a key no model is called, unless
    ``is_key_optional``. ``prices`` has at least one model; the most expensive one stands for models that it does
    not list. ``connect`` opens a connection. All functions import what they need when they are called, because
    SDKs take long to import.

    The doctor calls the others, with the seconds that a call may take. ``find_models`` returns by name whether the
    service has a model, None if it lists no models, as some gateways. ``try_model`` tries what the bot needs of a
    model on a server that may lack it, and takes some tokens. Both raise ModelRequestRejected if the key is wrong,
    and ModelBusy if there is no usable answer.

    ``required_variables`` are the settings that it needs, each with an example. ``option_variables`` are those
    whose values it gets besides key and address. ``prices_variable`` is the setting with the prices of a provider
    that has no price list.
    """

    choice: str
    name: str
    place: str
    key_variable: str
    address_variable: str
    prices: PriceList
    connect: Callable[[ModelAccess], ModelConnection]
    find_models: Callable[[ModelAccess, Sequence[str], float], Mapping[str, bool | None]]
    try_model: Callable[[ModelAccess, str, float], Iterable[Finding]] | None = None
    is_key_optional: bool = False
    required_variables: Mapping[str, str] = field(default_factory=dict)
    option_variables: tuple[str, ...] = ()
    prices_variable: str = ""

    def __post_init__(self) -> None:
        if not self.prices.prices and not self.prices_variable:
            raise ValueError(f"name what one model of {self.name} costs: budgets rest on it")

    @property
    def is_cloud(self) -> bool:
        """Whether it is called with the credentials of a cloud."""
        return not self.key_variable
