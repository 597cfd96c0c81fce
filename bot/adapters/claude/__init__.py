"""Claude: answers of a schema, and talks with tools.

The SDK takes one to three seconds of processor time to import, more than all the rest together: it is imported
when a model is really asked. The doctor does without it.
"""

from __future__ import annotations

from bot.adapters.claude.prices import CLAUDE_PRICES
from bot.ports import ModelAccess, ModelConnection, ModelProvider
from bot.ports.probes import ModelProbe


def _open_connection(access: ModelAccess) -> ModelConnection:
    from bot.adapters.claude.connection import ClaudeConnection  # noqa: PLC0415

    return ClaudeConnection(access)


def _make_probe(access: ModelAccess, timeout: float) -> ModelProbe:
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
