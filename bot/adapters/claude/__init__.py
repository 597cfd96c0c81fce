"""Claude: answers of a schema, and talks with tools. The SDK is imported when a model is really asked.

The doctor asks through :mod:`bot.adapters.claude.probe`, which does without the SDK.
"""

from __future__ import annotations

from bot.adapters.claude.late_client import LateClaude

__all__ = [
    "LateClaude",
]
