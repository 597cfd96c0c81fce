"""Providers of models: all that the bot has to know about one, in one value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from bot.domain.operations.usage import PriceList
from bot.ports.model.batches import ModelBatches
from bot.ports.model.llm import ChatModel, Model
from bot.ports.probes import ModelProbe


@dataclass(frozen=True, slots=True)
class ModelAccess:
    """The key and the address with which a provider is called.

    A cloud has neither: it has a region, Google's also a project, and its own credentials. ``context_tokens`` is
    the length of the models' context window as the operator set it, or None.
    """

    key: str = field(repr=False)
    address: str
    region: str = ""
    project: str = ""
    context_tokens: int | None = None


class ModelConnection(Model, ChatModel, Protocol):
    """A connection to a provider's models. May be shared by threads."""

    def close(self) -> None:
        """Close the connection."""


@dataclass(frozen=True, slots=True)
class ModelProvider:
    """A provider of models.

    ``name`` is its name for people. ``key_variable`` and ``address_variable`` are the settings (as variables) that
    hold its key and its address; the provider is in use if the key is set. ``prices`` has at least one model; the
    most expensive one stands for models that it does not list. ``connect`` opens a connection. ``probe`` creates
    the doctor's check, with the seconds that one call may take. Both import what they need when they are called,
    because SDKs take long to import. ``connect_batches`` opens a connection for message batches; None if the
    provider has none.

    A provider that needs no key is in use if PRDIGEST_MODEL_PROVIDER has the value ``choice``, and
    ``required_variables`` are the settings that it then needs, each with an example. A cloud has no key at all.
    ``prices_variable`` is the setting with the prices of a provider that has no price list.
    """

    name: str
    key_variable: str
    address_variable: str
    prices: PriceList
    connect: Callable[[ModelAccess], ModelConnection]
    probe: Callable[[ModelAccess, float], ModelProbe]
    connect_batches: Callable[[ModelAccess], ModelBatches] | None = None
    choice: str = ""
    required_variables: Mapping[str, str] = field(default_factory=dict)
    prices_variable: str = ""

    def __post_init__(self) -> None:
        if not self.prices.prices and not self.prices_variable:
            raise ValueError(f"name what one model of {self.name} costs: budgets rest on it")

    @property
    def is_cloud(self) -> bool:
        """Whether it is called with the credentials of a cloud."""
        return bool(self.choice) and not self.key_variable
