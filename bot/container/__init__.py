"""The composition root: turns settings into services. The only place that knows every adapter."""

from __future__ import annotations

from bot.container.credentials import require_secret
from bot.container.root import Wiring

__all__ = ["Wiring", "require_secret"]
