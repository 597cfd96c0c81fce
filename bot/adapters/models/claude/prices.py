"""What Claude's models cost: Anthropic's price list as of November 2026."""

from __future__ import annotations

from bot.domain.operations.usage import ModelPrice, PriceList

# tokens; longer prompts are billed at a multiple of the price by haiku-5-5
_LONG_PROMPT_TOKENS = 100_000


def _make_price(
    dollars_in: float, dollars_out: float, long_prompt_factor: float = 1.0, cache_read: float = 0.1
) -> ModelPrice:
    """Return a price; cache writes cost 1.25 of the input price for five minutes and 2 for an hour."""
    return ModelPrice(dollars_in, dollars_out, cache_read, 1.25, 2.0, _LONG_PROMPT_TOKENS, long_prompt_factor)


CLAUDE_PRICES = PriceList(
    {
        "claude-haiku-5-5": _make_price(0.10, 0.50, long_prompt_factor=5.0),
        "claude-sonnet-5-5": _make_price(2.0, 10.0),
        # half of the usual share for what is read from the cache: 0.20 dollars per million tokens
        "claude-opus-5-5": _make_price(4.0, 20.0, cache_read=0.05),
    }
)

# a model has two names at Bedrock. Clouds have price lists of their own, which may differ by region; budgets count
# the prices of Claude's API
BEDROCK_PRICES = PriceList(
    {f"{prefix}{name}": price for prefix in ("", "anthropic.") for name, price in CLAUDE_PRICES.prices.items()}
)
