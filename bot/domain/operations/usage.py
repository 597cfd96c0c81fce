"""Tokens and their cost."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one or more model calls. ``input`` excludes tokens read from or written to the prompt cache.

    Tokens written to the cache are kept for five minutes (``cache_write``) or for an hour (``cache_write_hour``).
    """

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cache_write_hour: int = 0

    @property
    def prompt_tokens(self) -> int:
        """All tokens of the prompts, cached or not."""
        return self.input + self.cache_read + self.cache_write + self.cache_write_hour

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
            self.cache_write_hour + other.cache_write_hour,
        )


NO_USAGE = Usage()


@dataclass(frozen=True, slots=True)
class ModelPrice:
    """US dollars per million tokens of input and of output.

    The other figures are factors of the input price: for tokens read from the prompt cache, and tokens written
    to it for minutes or for an hour. A prompt of more than ``long_prompt`` tokens multiplies the whole cost by a
    factor.
    """

    input: float
    output: float
    cache_read: float = 1.0
    cache_write: float = 1.0
    cache_write_hour: float = 1.0
    long_prompt: float = math.inf
    long_prompt_factor: float = 1.0

    def cost(self, usage: Usage) -> float:
        """Return the cost of one call in US dollars."""
        factor = self.long_prompt_factor if usage.prompt_tokens > self.long_prompt else 1.0
        billed = (
            usage.input
            + self.cache_read * usage.cache_read
            + self.cache_write * usage.cache_write
            + self.cache_write_hour * usage.cache_write_hour
        )
        return factor * (billed * self.input + usage.output * self.output) / _MILLION


@dataclass(frozen=True, slots=True)
class PriceList:
    """The prices of a provider's models, by name. The cost of a model that is not in it is unknown, never zero.

    Without any price, no budget in dollars can count a call.
    """

    prices: Mapping[str, ModelPrice]

    def __getitem__(self, model: str) -> ModelPrice | None:
        return self.prices.get(model)

    def cost(self, model: str, usage: Usage) -> float | None:
        """Return the cost of one call in US dollars, None if the model's price is unknown."""
        price = self[model]
        return None if price is None else price.cost(usage)

    def cautious_cost(self, model: str, usage: Usage) -> float:
        """Return the cost for a budget: a model without known price counts as the most expensive one."""
        price = self[model]
        return max((each.cost(usage) for each in ((price,) if price else self.prices.values())), default=0.0)


# the prices of a provider that is free of charge, or whose prices are unknown
NO_PRICES = PriceList({})
