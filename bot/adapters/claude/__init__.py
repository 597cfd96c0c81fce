"""Adapter for Claude: answers in a schema, and conversations with tools.

The SDK takes one to three seconds of processor time to import, more than everything else together. It is imported
when a model is really called. The doctor works without it.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from bot.adapters.claude.prices import CLAUDE_PRICES
from bot.ports import ModelAccess, ModelBatches, ModelConnection, ModelProvider
from bot.ports.probes import ModelProbe


def _open_connection(access: ModelAccess) -> ModelConnection:
    """Open a connection. This imports the SDK."""
    with _keep_objects():
        from bot.adapters.claude.connection import ClaudeConnection  # noqa: PLC0415

        return ClaudeConnection(access)


def _open_batches(access: ModelAccess) -> ModelBatches:
    """Open a connection for message batches. This imports the SDK."""
    with _keep_objects():
        from bot.adapters.claude.batches import ClaudeBatches  # noqa: PLC0415

        return ClaudeBatches(access)


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
    from bot.adapters.claude.probe import ClaudeProbe  # noqa: PLC0415

    return ClaudeProbe(access.key, access.address, timeout)


CLAUDE = ModelProvider(
    name="Claude",
    key_variable="ANTHROPIC_API_KEY",
    address_variable="ANTHROPIC_BASE_URL",
    prices=CLAUDE_PRICES,
    connect=_open_connection,
    probe=_make_probe,
    connect_batches=_open_batches,
)

__all__ = ["CLAUDE"]
