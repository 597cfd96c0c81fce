"""What forgets people and channels."""

from __future__ import annotations

from bot.adapters.redis import StoreEraser
from bot.adapters.slack import SlackThreads
from bot.container.foundation import Foundation
from bot.services.operations.forgetting import Forgetting


def build_forgetting(base: Foundation) -> Forgetting:
    """Build it; without a token of Slack, Slack is not asked. Raises StoreUnavailable."""
    eraser = StoreEraser(base.store, base.keyspace)
    if base.settings.slack_bot_token is None:
        return Forgetting(eraser, None, None)
    return Forgetting(eraser, base.messenger, SlackThreads(base.messenger))
