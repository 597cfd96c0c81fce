"""Providers of models: all that the bot has to know of one, in one value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from bot.domain.operations.usage import PriceList
from bot.ports.llm import ChatModel, Model
from bot.ports.probes import ModelProbe


@dataclass(frozen=True, slots=True)
class ModelAccess:
    """How a provider is reached: with which key, at which address."""

    key: str = field(repr=False)
    address: str


class ModelConnection(Model, ChatModel, Protocol):
    """A way to a provider's models. May be shared by threads."""

    def close(self) -> None:
        """Let go of it."""


@dataclass(frozen=True, slots=True)
class ModelProvider:
    """A provider of models.

    ``name`` is what people call it. ``key_variable`` and ``address_variable`` are the settings (as variables) that
    hold its key and its address: with a key it is in use. ``prices`` has at least one model, the dearest of which
    stands for those that it does not know. ``connect`` opens a way to it; ``probe`` is how the doctor asks it,
    with the seconds that one call may take. Both import what they need when they are called, as SDKs take long.
    """

    name: str
    key_variable: str
    address_variable: str
    prices: PriceList
    connect: Callable[[ModelAccess], ModelConnection]
    probe: Callable[[ModelAccess, float], ModelProbe]

    def __post_init__(self) -> None:
        if not self.prices.prices:
            raise ValueError(f"name what one model of {self.name} costs: budgets rest on it")
