"""Providers of models: all that the bot has to know about one, in one value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from bot.domain.operations.usage import PriceList
from bot.ports.model.llm import ChatModel, Model
from bot.ports.probes import ModelProbe


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


class ModelConnection(Model, ChatModel, Protocol):
    """A connection to a provider's models. May be shared by threads."""

    def close(self) -> None:
        """Close the connection."""


@dataclass(frozen=True, slots=True)
class ModelProvider:
    """A provider of models.

    ``choice`` is the value of PRDIGEST_MODEL_PROVIDER that selects it, ``name`` is its name for people, and
    ``place`` says in documents where its models run. ``key_variable`` and ``address_variable`` are the settings
    (as variables) that hold its key and its address; a cloud has no key. Without a key no model is called, unless
    ``is_key_optional``. ``prices`` has at least one model; the most expensive one stands for models that it does
    not list. ``connect`` opens a connection. ``probe`` creates the doctor's check, with the seconds that one call
    may take. Both import what they need when they are called, because SDKs take long to import.

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
    probe: Callable[[ModelAccess, float], ModelProbe]
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
