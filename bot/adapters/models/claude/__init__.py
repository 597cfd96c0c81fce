"""Adapter for Claude: answers in a schema, and conversations with tools.

The SDK takes one to three seconds of processor time to import, more than everything else together. It is imported
when a model is really called. The doctor works without it.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from bot.adapters.models.claude.prices import BEDROCK_PRICES, CLAUDE_PRICES
from bot.ports import ModelAccess, ModelConnection, ModelProvider
from bot.ports.probes import ModelProbe

# the settings of clouds
REGION, PROJECT = "PRDIGEST_MODEL_REGION", "PRDIGEST_MODEL_PROJECT"


def _open_connection(access: ModelAccess) -> ModelConnection:
    """Open a connection. This imports the SDK."""
    with _keep_objects():
        from bot.adapters.models.claude.completion import make_claude_client  # noqa: PLC0415
        from bot.adapters.models.claude.connection import ClaudeConnection  # noqa: PLC0415

        return ClaudeConnection(make_claude_client(access.key, access.address))


def _open_cloud(cloud: str, access: ModelAccess) -> ModelConnection:
    """Open a connection through a cloud. Raises ConfigurationError if its library is not installed."""
    with _keep_objects():
        from bot.adapters.models.claude.clouds import CLOUDS  # noqa: PLC0415
        from bot.adapters.models.claude.completion import SILENCE_SECONDS  # noqa: PLC0415
        from bot.adapters.models.claude.connection import ClaudeConnection  # noqa: PLC0415
        from bot.adapters.models.claude.errors import CLOUD_ADVICE  # noqa: PLC0415

        make_client, naming = CLOUDS[cloud]
        return ClaudeConnection(make_client(access, SILENCE_SECONDS), CLOUD_ADVICE, naming.name_model)


@contextmanager
def _keep_objects() -> Iterator[None]:
    """Collect no garbage during the block, and keep its objects until the end of the process.

    The SDK makes 140,000 objects that all stay. To look through them again and again takes a third of the import,
    and half a second at the end of the process.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was_enabled:
            gc.enable()


def _make_probe(access: ModelAccess, timeout: float) -> ModelProbe:
    """Create the doctor's probe, without the SDK."""
    from bot.adapters.models.claude.probe import ClaudeProbe  # noqa: PLC0415

    return ClaudeProbe(access.key, access.address, timeout)


def _make_cloud_probe(cloud: str, access: ModelAccess, timeout: float) -> ModelProbe:
    """Create the doctor's probe of a cloud, which needs the SDK for signatures and credentials."""
    from bot.adapters.models.claude.cloud_probe import CloudProbe  # noqa: PLC0415
    from bot.adapters.models.claude.clouds import CLOUDS  # noqa: PLC0415

    make_client, naming = CLOUDS[cloud]
    return CloudProbe(make_client(access, timeout), naming, timeout)


CLAUDE = ModelProvider(
    choice="anthropic",
    name="Claude",
    place="Claude's API",
    key_variable="ANTHROPIC_API_KEY",
    address_variable="ANTHROPIC_BASE_URL",
    prices=CLAUDE_PRICES,
    connect=_open_connection,
    probe=_make_probe,
)

BEDROCK = ModelProvider(
    choice="bedrock",
    name="Claude on Bedrock",
    place="Amazon Bedrock",
    key_variable="",
    address_variable=REGION,
    prices=BEDROCK_PRICES,
    connect=partial(_open_cloud, "bedrock"),
    probe=partial(_make_cloud_probe, "bedrock"),
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
    connect=partial(_open_cloud, "vertex"),
    probe=partial(_make_cloud_probe, "vertex"),
    required_variables={REGION: "global", PROJECT: "my-project-123"},
    option_variables=(REGION, PROJECT),
)

__all__ = ["BEDROCK", "CLAUDE", "PROJECT", "REGION", "VERTEX"]
