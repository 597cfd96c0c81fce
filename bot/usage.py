"""Tokens of model calls, what they cost, and why a budget allows no call."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from enum import IntEnum, StrEnum
from typing import Self

_MILLION = 1_000_000
# changed lines up to which a pull request is small: its title and its files describe most of it
MAX_SMALL_LINES = 50


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of model calls. ``input`` is without the cache, where they stay five minutes or an hour."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cache_write_hour: int = 0

    @property
    def prompt_tokens(self) -> int:
        """All tokens of the prompts, cached or not."""
        return self.input + self.cache_read + self.cache_write + self.cache_write_hour

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.output

    def __add__(self, other: Usage) -> Usage:
        return Usage(*(one + more for one, more in zip(astuple(self), astuple(other), strict=True)))


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
    """A provider's prices by model, never zero for unknown ones; without any, no dollar budget counts."""

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


class CallPurpose(IntEnum):
    """The purpose of a model call. The least important comes first and is dropped first."""

    SECOND_READING = 0
    OVERVIEW = 1
    SMALL = 2
    USUAL = 3

    @property
    def share(self) -> float:
        return (0.8, 0.9, 0.95, 1.0)[self]


def classify_purpose(changed_lines: int) -> CallPurpose:
    return CallPurpose.SMALL if changed_lines <= MAX_SMALL_LINES else CallPurpose.USUAL


class BudgetRefusal(StrEnum):
    """Why the budget allows no call, with a clause for readers. Values may be in the store: never changed."""

    clause: str

    def __new__(cls, value: str, clause: str) -> Self:
        refusal = str.__new__(cls, value)
        refusal._value_, refusal.clause = value, clause
        return refusal

    DAY_NEARLY_USED = "day_nearly_used", "today's model budget is nearly used up"
    DAY_USED = "day_used", "today's model budget is used up"
    MONTH_NEARLY_USED = "month_nearly_used", "this month's model budget is nearly used up"
    MONTH_USED = "month_used", "this month's model budget is used up"
    PERSON_USED = "person_used", "the person who asked has used up their budget for today"
    TOO_MANY_CALLS = "too_many_calls", "the person who asked sent too many requests in a minute"
    REVIEWS_USED = "reviews_used", "today's budget for the AI bug review is used up"
