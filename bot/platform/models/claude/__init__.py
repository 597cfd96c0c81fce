"""Claude through its own API, Bedrock and Vertex AI: what the bot knows of them without their SDK.

The SDK takes one to three seconds of processor time to import, more than everything else together. It is imported
when a model is really called. The doctor works without it, but for clouds.
"""

from __future__ import annotations

import gc
from collections.abc import Mapping, Sequence
from functools import partial

from bot.platform.models import ModelAccess, ModelConnection, ModelProvider
from bot.usage import ModelPrice, PriceList

REGION, PROJECT = "PRDIGEST_MODEL_REGION", "PRDIGEST_MODEL_PROJECT"  # the settings of clouds
KEY_REFUSED = "the model's API key or credentials were rejected"

# Anthropic's price list as of November 2026, in dollars. Haiku bills a multiple for prompts of more than 100,000
# tokens, and opus half of the usual share for what is read from the cache (0.20 dollars per million tokens)
_WRITES = {"cache_write": 1.25, "cache_write_hour": 2.0, "long_prompt": 100_000}
CLAUDE_PRICES = PriceList(
    {
        "claude-haiku-5-5": ModelPrice(0.10, 0.50, cache_read=0.1, long_prompt_factor=5.0, **_WRITES),
        "claude-sonnet-5-5": ModelPrice(2.0, 10.0, cache_read=0.1, **_WRITES),
        "claude-opus-5-5": ModelPrice(4.0, 20.0, cache_read=0.05, **_WRITES),
    }
)
BEDROCK_PREFIX = "anthropic."  # of its names of Claude's models; people may set the others, too
# clouds have price lists of their own, which may differ by region; budgets count the prices of Claude's API
BEDROCK_PRICES = PriceList(
    {f"{prefix}{name}": price for prefix in ("", BEDROCK_PREFIX) for name, price in CLAUDE_PRICES.prices.items()}
)


def _connect(cloud: str, access: ModelAccess) -> ModelConnection:
    """Import the SDK and connect. Raises ConfigurationError if the library of ``cloud`` is not installed.

    The SDK makes 140,000 objects that all stay. To look through them again and again for garbage takes a third of
    the import, and half a second at the end of the process.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        from bot.platform.models.claude import connection  # noqa: PLC0415

        if cloud:
            return connection.connect_cloud(cloud, access)
        return connection.ClaudeConnection(connection.make_claude_client(access.key, access.address))
    finally:
        gc.freeze()
        if was_enabled:
            gc.enable()


def _find_models(access: ModelAccess, models: Sequence[str], seconds: float) -> Mapping[str, bool | None]:
    from bot.platform.models.claude.check import find_models  # noqa: PLC0415

    return find_models(access, models, seconds)


def _find_cloud_models(
    cloud: str, access: ModelAccess, models: Sequence[str], seconds: float
) -> Mapping[str, bool | None]:
    from bot.platform.models.claude.connection import find_cloud_models  # noqa: PLC0415

    return find_cloud_models(cloud, access, models, seconds)


CLAUDE = ModelProvider(
    choice="anthropic",
    name="Claude",
    place="Claude's API",
    key_variable="ANTHROPIC_API_KEY",
    address_variable="ANTHROPIC_BASE_URL",
    prices=CLAUDE_PRICES,
    connect=partial(_connect, ""),
    find_models=_find_models,
)

BEDROCK = ModelProvider(
    choice="bedrock",
    name="Claude on Bedrock",
    place="Amazon Bedrock",
    key_variable="",
    address_variable=REGION,
    prices=BEDROCK_PRICES,
    connect=partial(_connect, "bedrock"),
    find_models=partial(_find_cloud_models, "bedrock"),
    required_variables={REGION: "us-east-1"},
    option_variables=(REGION,),
)

VERTEX = ModelProvider(
    choice="vertex",
    name="Claude on Vertex AI",
    place="Google Vertex AI",
    key_variable="",
    address_variable=REGION,
    prices=CLAUDE_PRICES,
    connect=partial(_connect, "vertex"),
    find_models=partial(_find_cloud_models, "vertex"),
    required_variables={REGION: "global", PROJECT: "my-project-123"},
    option_variables=(REGION, PROJECT),
)
