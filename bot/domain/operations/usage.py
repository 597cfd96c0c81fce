"""Tokens and what they cost."""

from __future__ import annotations

from dataclasses import dataclass

_MILLION = 1_000_000
# prompts above this many tokens are billed at a multiple of the price by haiku-5-5
_LONG_PROMPT = 100_000


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one or more model calls. ``input`` excludes what came from or went to the prompt cache.

    What went there is kept for five minutes (``cache_write``) or for an hour.
    """

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cache_write_hour: int = 0

    @property
    def prompt(self) -> int:
        """All that went in, wherever it came from."""
        return self.input + self.cache_read + self.cache_write + self.cache_write_hour

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
            self.cache_write_hour + other.cache_write_hour,
        )


NOTHING = Usage()


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens."""

    input: float
    output: float
    long_prompt_factor: float = 1.0


# Anthropic's price list as of November 2026; a model that is missing here costs "unknown", never zero
PRICES = {
    "claude-haiku-5-5": Price(0.10, 0.50, long_prompt_factor=5.0),
    "claude-sonnet-5-5": Price(2.0, 10.0),
    "claude-opus-5-5": Price(4.0, 20.0),
}


def cost(model: str, usage: Usage) -> float | None:
    """US dollars of one call, or None where the model's price is not known.

    Cache reads cost 0.1 of the input price, cache writes 1.25 for five minutes and 2 for an hour.
    """
    price = PRICES.get(model)
    if price is None:
        return None
    factor = price.long_prompt_factor if usage.prompt > _LONG_PROMPT else 1.0
    billed = usage.input + 0.1 * usage.cache_read + 1.25 * usage.cache_write + 2 * usage.cache_write_hour
    return factor * (billed * price.input + usage.output * price.output) / _MILLION


def cautious_cost(model: str, usage: Usage) -> float:
    """The same for a budget: a model whose price is not known counts as the dearest that is."""
    return max(cost(name, usage) or 0.0 for name in ((model,) if model in PRICES else PRICES))
