"""The composition root: turns settings into services. The only place that knows every adapter."""

from __future__ import annotations

from bot.wiring.credentials import required
from bot.wiring.root import Wiring

__all__ = ["Wiring", "required"]
