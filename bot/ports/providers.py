"""Providers of models: all that the bot has to know about one, in one value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from bot.domain.operations.usage import PriceList
from bot.ports.batches import ModelBatches
from bot.ports.llm import ChatModel, Model
from bot.ports.probes import ModelProbe


@dataclass(frozen=True, slots=True)
class ModelAccess:
    """The key and the address with which a provider is called.

    A cloud has neither: it has a region, Google's also a project, and its own credentials.
    """

    key: str = field(repr=False)
    address: str
    region: str = ""
    project: str = ""


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

    A cloud has no key. ``cloud`` is the value of PRDIGEST_MODEL_PROVIDER that chooses it, and ``place_variables``
    are the settings that it then needs, each with an example.
    """

    name: str
    key_variable: str
    address_variable: str
    prices: PriceList
    connect: Callable[[ModelAccess], ModelConnection]
    probe: Callable[[ModelAccess, float], ModelProbe]
    connect_batches: Callable[[ModelAccess], ModelBatches] | None = None
    cloud: str = ""
    place_variables: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.prices.prices:
            raise ValueError(f"name what one model of {self.name} costs: budgets rest on it")
