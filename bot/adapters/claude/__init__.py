"""Adapter for Claude: answers in a schema, and conversations with tools.

The SDK takes one to three seconds of processor time to import, more than everything else together. It is imported
when a model is really called. The doctor works without it.
"""

from __future__ import annotations

from bot.adapters.claude.prices import CLAUDE_PRICES
from bot.ports import ModelAccess, ModelConnection, ModelProvider
from bot.ports.probes import ModelProbe


def _open_connection(access: ModelAccess) -> ModelConnection:
    """Open a connection. This imports the SDK."""
    from bot.adapters.claude.connection import ClaudeConnection  # noqa: PLC0415

    return ClaudeConnection(access)


def _make_probe(access: ModelAccess, timeout: float) -> ModelProbe:
    """Create the doctor's probe, without the SDK."""
    from bot.adapters.claude.probe import ClaudeProbe  # noqa: PLC0415

    return ClaudeProbe(access.key, access.address, timeout)


CLAUDE = ModelProvider(
    name="Claude",
    key_variable="ANTHROPIC_API_KEY",
    address_variable="ANTHROPIC_BASE_URL",
    prices=CLAUDE_PRICES,
    connect=_open_connection,
    probe=_make_probe,
)

__all__ = ["CLAUDE"]
